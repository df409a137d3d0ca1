"""config/fastdds_wsl2.xml: Fast DDS takes it, and nodes with it talk to us where there is no multicast."""
import tempfile
import unittest
from pathlib import Path

from netns import NetworkTest
from peers import BINARIES, JAZZY, KILTED, PROGRAMS, REPO

PROFILE = REPO / "config" / "fastdds_wsl2.xml"
LOOPBACK = "<address>127.0.0.1</address>"


class Profile(NetworkTest):
    def exchange(self, ours, theirs, python, profile, peers):
        """A String each way between our relay and rclpy with the profile."""
        for host in {ours, theirs}:
            for interface in ["lo", *["eth0"] * (ours is not theirs)]:
                host.run("ip", "link", "set", interface, "multicast", "off")
        relay = self.on(ours, BINARIES / "dds_probe", "--relay", "std_msgs/msg/String", "/in", "/out", "reliable",
                        env={"ROS_STATIC_PEERS": peers})
        relay.wait("ready")
        env = {"FASTDDS_DEFAULT_PROFILES_FILE": str(profile), "FASTRTPS_DEFAULT_PROFILES_FILE": str(profile),
               "ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT"}
        peer = PROGRAMS / "ros2_peer.py"
        sub = self.on(theirs, python, peer, "sub", "std_msgs/msg/String", "/out", "--count", "3", "--timeout", "40", env=env)
        sub.wait("ready")
        pub = self.on(theirs, python, peer, "pub", "std_msgs/msg/String", "/in", "--count", "3", "--timeout", "40",
                      "--json", '{"data": "over {i}"}', env=env)
        self.assertEqual(sub.finish(45), 0, f"{sub}\n{pub}\n{relay}")
        self.assertEqual([e["msg"]["data"] for e in sub.all("msg")], ["over 0", "over 1", "over 2"])
        pub.finish()
        complaints = [line for program in (sub, pub) for line in program.noise if "XML" in line or "[Error" in line]
        self.assertEqual(complaints, [])
        # With any transport but those of the profile, shared memory would be in use.
        self.assertNotIn("fast", theirs.run("ls", "/dev/shm"))

    def test_two_hosts_without_multicast(self):
        for python in (JAZZY, KILTED):
            with self.subTest(str(python)):
                network = self.network("ours", "theirs", v6=False)
                text = PROFILE.read_text()
                self.assertEqual(text.count(LOOPBACK), 1)
                folder = tempfile.TemporaryDirectory()
                self.addCleanup(folder.cleanup)
                profile = Path(folder.name) / "profile.xml"
                profile.write_text(text.replace(LOOPBACK, "<address>10.77.0.1</address>"))
                self.exchange(network["ours"], network["theirs"], python, profile, "10.77.0.2")

    def test_as_it_is_on_one_machine(self):
        for python in (JAZZY, KILTED):
            with self.subTest(str(python)):
                host = self.network("both", v6=False)["both"]
                self.exchange(host, host, python, PROFILE, "")


if __name__ == "__main__":
    unittest.main()
