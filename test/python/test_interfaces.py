"""`rostrans interfaces`: what it writes is built by the generators of ROS 2 and ROS 1."""
import os
import subprocess
import unittest

from peers import BINARIES, PROGRAMS, ROOT, PeerTest

PREFIX = ROOT / "ros2-jazzy"


def run(*command, env=None):
    done = subprocess.run([str(c) for c in command], env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=240)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


class Interfaces(PeerTest):
    def setUp(self):
        self.out = self.folder()
        text = run(BINARIES / "rostrans", "interfaces", "--out", self.out)
        self.assertIn("colcon build", text)

    def test_ros2_package_is_configured_and_generated(self):
        libraries = [PREFIX / "lib", *sorted(PREFIX.glob("lib/python3.*/site-packages/ros_*.libs"))]
        env = {"AMENT_PREFIX_PATH": str(PREFIX), "CMAKE_PREFIX_PATH": str(PREFIX), "PATH": f"{PREFIX}/bin:{os.environ['PATH']}",
               "LD_LIBRARY_PATH": ":".join(map(str, libraries)), "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1"}
        build = self.out / "build"
        run("cmake", "-S", self.out / "ros2/rflysim_msgs", "-B", build, f"-DPython3_EXECUTABLE={PREFIX}/bin/python", env=env)
        # Compiling all type supports takes a minute; the C structs show that every definition was understood.
        run("cmake", "--build", build, "-j2", "--target", "rflysim_msgs__rosidl_generator_c", env=env)
        self.assertTrue(list(build.glob("**/rflysim_msgs/msg/ue_pose.h")))

    def test_ros1_package_is_generated_and_imported(self):
        into = self.out / "python"
        run(PROGRAMS / "build_ros1_msgs.sh", into, self.out / "ros1/rflysim_msgs")
        # The sum is the one that rostrans sends and expects.
        script = "import rflysim_msgs.msg as m; print(m.UePose._md5sum, m.CrashData.CRASH_GROUND)"
        printed = run("/usr/bin/python3", "-c", script, env={"PYTHONPATH": str(into)}).split()
        table = (PROGRAMS.parent.parent / "config/interfaces/hashes.tsv").read_text()
        self.assertIn(f"rflysim_msgs/UePose\t{printed[0]}", table)
        self.assertEqual(printed[1], "-2")


if __name__ == "__main__":
    unittest.main()
