"""`rostrans interfaces`: what it writes is built by the generators of ROS 2 and ROS 1, and read by their programs."""
import json
import os
import re
import subprocess
import unittest

from copters import CopterTest
from peers import BINARIES, PROGRAMS, ROOT, PeerTest

PREFIX = ROOT / "ros2-jazzy"


def run(*command, env=None):
    done = subprocess.run([str(c) for c in command], env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=240)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def sourced(*installed):
    """The environment of a sourced ROS 2 with these install folders on top."""
    bundled = sorted(PREFIX.glob("lib/python3.*/site-packages/ros_*.libs"))
    prefixes = ":".join(map(str, [*installed, PREFIX]))
    packages = [str(path) for folder in installed for path in folder.glob("lib/python3*/site-packages")]
    libraries = [*(folder / "lib" for folder in installed), PREFIX / "lib", *bundled]
    # The wheels' Python must not start itself anew to find their libraries.
    return {"AMENT_PREFIX_PATH": prefixes, "CMAKE_PREFIX_PATH": prefixes, "PATH": f"{PREFIX}/bin:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": ":".join(map(str, libraries)), "PYTHONPATH": ":".join(packages), "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1"}


def written(test):
    """The folder with rflysim_msgs for both."""
    out = test.folder()
    text = run(BINARIES / "rostrans", "interfaces", "--out", out)
    test.assertIn("colcon build", text)
    return out


class Ros1Interfaces(PeerTest):
    def test_package_is_generated_and_imported(self):
        out = written(self)
        run(PROGRAMS / "build_ros1_msgs.sh", out / "python", out / "ros1/rflysim_msgs")
        # The sum is the one that rostrans sends and expects.
        script = "import rflysim_msgs.msg as m; print(m.UePose._md5sum, m.CrashData.CRASH_GROUND)"
        printed = run("/usr/bin/python3", "-c", script, env={"PYTHONPATH": str(out / "python")}).split()
        table = (PROGRAMS.parent.parent / "config/interfaces/hashes.tsv").read_text()
        self.assertIn(f"rflysim_msgs/UePose\t{printed[0]}", table)
        self.assertEqual(printed[1], "-2")


class Ros2Interfaces(CopterTest):
    def cmake(self, package, build, *options):
        run("cmake", "-S", package, "-B", build, f"-DPython3_EXECUTABLE={PREFIX}/bin/python", *options, env=sourced())

    def test_every_definition_is_understood(self):
        out = written(self)
        build = out / "build"
        self.cmake(out / "ros2/rflysim_msgs", build)
        # Compiling all type supports takes a minute; the C structs show that every definition was understood.
        run("cmake", "--build", build, "-j2", "--target", "rflysim_msgs__rosidl_generator_c", env=sourced())
        self.assertTrue(list(build.glob("**/rflysim_msgs/msg/ue_pose.h")))

    def test_package_is_built_installed_and_reads_what_rostrans_publishes(self):
        out = written(self)
        package, build, install = out / "ros2/rflysim_msgs", out / "build", out / "install"
        # One message, as each takes four seconds.
        lists = package / "CMakeLists.txt"
        lists.write_text(re.sub(r"  msg/(?!SOut2Simulator)\w+\.msg\n", "", lists.read_text()))
        fast = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O0", "-DCMAKE_CXX_FLAGS_RELEASE=-O0"]
        self.cmake(package, build, f"-DCMAKE_INSTALL_PREFIX={install}", *fast)
        run("cmake", "--build", build, "-j2", env=sourced())
        run("cmake", "--install", build, env=sourced())

        self.simulator("--rate", "50", "--first", "3")
        daemon = self.copters("--coptersim_startid=3")
        reader = self.start(PREFIX / "bin/python", PROGRAMS / "ros2_peer.py", "sub", "rflysim_msgs/msg/SOut2Simulator",
                            "/mavros3/out2sim", "--reliability", "best_effort", "--count", "5", env=sourced(install))
        state = reader.wait("msg", 40)["msg"]
        self.assertEqual((state["copter_id"], state["header"]["frame_id"]), (3, "base_link"), daemon)
        self.assertEqual(len(state["motor_rpms"]), 8)
        # The generators' hash of the type is the one that rostrans announces.
        hashes = json.loads((install / "share/rflysim_msgs/msg/SOut2Simulator.json").read_text())["type_hashes"]
        [own] = [row["hash_string"] for row in hashes if row["type_name"] == "rflysim_msgs/msg/SOut2Simulator"]
        topics = run(*self.host.command(BINARIES / "rostrans", "graph", "topics", "/mavros3/out2sim", "--json"), env=self.env())
        self.assertIn(own, topics)


if __name__ == "__main__":
    unittest.main()
