"""One rostrans in every graph at once: rospy, rclpy, Cyclone DDS and Zenoh see one vehicle, each value alike."""
import json
import unittest

from daemon import free_port
from peers import PROGRAMS, REPO, TOOLS
from ros1 import Ros1Test
from zenohs import ZenohTest

# Package, message, topic, samples that each waits for.
TOPICS = [("mavros_msgs", "State", "/mavros/state", 8), ("sensor_msgs", "Imu", "/mavros/imu/data", 400),
          ("nav_msgs", "Odometry", "/mavros/local_position/odom", 150)]


class AnyRos(Ros1Test, ZenohTest):
    def test_telemetry_of_one_vehicle_is_the_same_in_all_graphs(self):
        port = free_port()
        daemon = self.rostrans("--ros2_transport=dds,zenoh", "--zenoh_mode=router", f"--zenoh_listen={self.address}",
                               f"--fcu_url=udp://127.0.0.1:{port}@", version="all", limit=90)
        self.start(TOOLS, PROGRAMS / "fake_autopilot.py", "--link", f"udpout:127.0.0.1:{port}", "--duration", "85", limit=90)
        seen = {}
        for package, name, topic, count in TOPICS:
            want = ("--count", str(count), "--timeout", "70", "--depth", "100")
            ros2 = (f"{package}/msg/{name}", topic, *want, "--reliability", "best_effort")
            seen[topic] = {
                "rospy": self.rospy("sub", f"{package}/{name}", topic, *want, limit=90),
                "rclpy": self.ros2("sub", *ros2, limit=90),
                "Cyclone": self.cyclone("sub", *ros2, "--msg-dir", REPO / "config/interfaces/ros2", limit=90),
                "Zenoh": self.start(TOOLS, PROGRAMS / "zenoh_peer.py", "sub", *ros2, "--port", str(self.port), limit=90),
            }
        for _, _, topic, count in TOPICS:
            by_stamp = {}
            for graph, program in seen[topic].items():
                self.assertEqual(program.finish(85), 0, f"{graph}: {program}\n{daemon}")
                by_stamp[graph] = {stamp: text for stamp, text in map(plain, program.all("msg"))}
            common = set.intersection(*map(set, by_stamp.values()))
            # They did not begin together, but all listened for a while.
            self.assertGreater(len(common), count // 4, f"{topic}: { {g: len(s) for g, s in by_stamp.items()} }")
            for stamp in common:
                self.assertEqual({samples[stamp] for samples in by_stamp.values()}, {by_stamp["rclpy"][stamp]}, topic)


def plain(event):
    """A message's stamp, and its values as one text. Only ROS 1 numbers its messages, and one peer shows constants."""
    message = fields(event["msg"])
    message["header"].pop("seq", None)
    return json.dumps(message["header"]["stamp"], sort_keys=True), json.dumps(message, sort_keys=True)


def fields(value):
    return {key: fields(v) for key, v in value.items() if not key.isupper()} if isinstance(value, dict) else value


if __name__ == "__main__":
    unittest.main()
