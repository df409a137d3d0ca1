"""Topics between the DDS adapter and foreign ROS 2 programs.

The probe relays bytes from one topic to another, so each test proves reading and writing at once: what a foreign
subscriber gets is what a foreign publisher sent.
"""
import json
import unittest
import zlib

import peerlib
from peers import BINARIES, JAZZY, KILTED, PROGRAMS, PeerTest, eventually

PROBE = BINARIES / "dds_probe"
STRING = "std_msgs/msg/String"
IMU = "sensor_msgs/msg/Imu"
POSE = "geometry_msgs/msg/PoseStamped"
IMAGE = "sensor_msgs/msg/Image"
IMAGE_LEN = 1280 * 720 * 3
IMAGE_CRC = zlib.crc32(peerlib.pattern(IMAGE_LEN))
# Fast DDS 3.2 offers Cyclone type objects it rejects; without them they match by name.
PLAIN_KILTED = {"FASTDDS_DEFAULT_PROFILES_FILE": str(PROGRAMS / "fastdds_no_type_propagation.xml")}


def cdr_string(text):
    """A std_msgs/msg/String as CDR, in hex."""
    data = text.encode() + b"\0"
    return (b"\0\1\0\0" + len(data).to_bytes(4, "little") + data).hex()


class Topics(PeerTest):
    def probe(self, *args):
        program = self.start(PROBE, *args)
        program.wait("ready")
        return program

    def subscriber(self, *args, peer=None, **kwargs):
        sub = (peer or self.ros2)("sub", *args, "--timeout", "40", **kwargs)
        sub.wait("matched", 30)
        return sub

    def exchange(self, kind, values, publisher, subscriber, qos="reliable", count=5, extra=()):
        """Sends count messages through the relay; returns what the subscriber got."""
        reliability = ("--reliability", "best_effort" if qos == "sensor" else "reliable")
        probe = self.probe("--relay", kind, "/in", "/out", qos)
        sub = subscriber(kind, "/out", "--count", str(count), *reliability)
        # More than wanted: the first may come before the subscriber is matched on both sides.
        pub = publisher("pub", kind, "/in", "--json", json.dumps(values), "--count", str(count + 5), "--rate", "8",
                        "--timeout", "40", *reliability, *extra)
        self.assertEqual(sub.finish(45), 0, f"{sub}\n{pub}\n{probe}")
        self.assertEqual([e for e in probe.all("relayed") if e["error"]], [])
        return [e["msg"] for e in sub.all("msg")]

    def check_small(self, python, publisher=None, subscriber=None):
        publisher = publisher or (lambda *a: self.ros2(*a, python=python))
        subscriber = subscriber or (lambda *a: self.subscriber(*a, python=python))
        with self.subTest("String"):
            got = self.exchange(STRING, {"data": "grüß {i}"}, publisher, subscriber)
            numbers = [int(m["data"].split()[1]) for m in got]
            self.assertEqual([m["data"] for m in got], [f"grüß {i}" for i in range(numbers[0], numbers[0] + 5)])
        with self.subTest("Imu"):
            values = {"header": {"frame_id": "base_link"}, "linear_acceleration": {"x": 0.5, "y": -1.25, "z": 9.81},
                      "orientation": {"w": 1.0}}
            for msg in self.exchange(IMU, values, publisher, subscriber, qos="sensor"):
                self.assertEqual(msg["linear_acceleration"], values["linear_acceleration"])
                self.assertEqual(msg["header"]["frame_id"], "base_link")
                self.assertEqual(len(msg["angular_velocity_covariance"]), 9)
        with self.subTest("PoseStamped"):
            values = {"header": {"frame_id": "map"}, "pose": {"position": {"x": 1.5, "y": 2.0, "z": -3.0}}}
            for msg in self.exchange(POSE, values, publisher, subscriber, extra=("--stamp",)):
                self.assertEqual(msg["pose"]["position"], values["pose"]["position"])
                self.assertGreater(msg["header"]["stamp"]["sec"], 0)

    def check_image(self, publisher, subscriber):
        values = {"width": 1280, "height": 720, "encoding": "bgr8", "step": 3840, "header": {"frame_id": "cam"}}
        got = self.exchange(IMAGE, values, publisher, subscriber, extra=("--fill", f"data={IMAGE_LEN}"))
        for msg in got:
            self.assertEqual(msg["data"], {"len": IMAGE_LEN, "crc32": IMAGE_CRC})
            self.assertEqual((msg["step"], msg["encoding"]), (3840, "bgr8"))

    def test_jazzy_small_messages(self):
        self.check_small(JAZZY)

    def test_kilted_small_messages(self):
        self.check_small(KILTED)

    def test_cyclone_small_messages(self):
        self.check_small(None, self.cyclone, lambda *a: self.subscriber(*a, peer=self.cyclone))

    def test_image_jazzy_to_kilted(self):
        self.check_image(self.ros2, lambda *a: self.subscriber(*a, python=KILTED))

    def test_image_kilted_to_jazzy(self):
        self.check_image(lambda *a: self.ros2(*a, python=KILTED), self.subscriber)

    def test_image_cyclone_to_jazzy(self):
        self.check_image(self.cyclone, self.subscriber)

    def test_image_jazzy_to_cyclone(self):
        self.check_image(self.ros2, lambda *a: self.subscriber(*a, peer=self.cyclone))

    def test_all_subscribers_of_one_topic_get_the_same(self):
        self.probe("--relay", STRING, "/in", "/out", "reliable")
        want = (STRING, "/out", "--count", "5")
        subs = [self.subscriber(*want), self.subscriber(*want, python=KILTED, env=PLAIN_KILTED),
                self.subscriber(*want, peer=self.cyclone)]
        self.ros2("pub", STRING, "/in", "--json", '{"data":"same {i}"}', "--count", "5")
        for sub in subs:
            self.assertEqual(sub.finish(20), 0, str(sub))
            self.assertEqual([e["msg"]["data"] for e in sub.all("msg")], [f"same {i}" for i in range(5)])

    def test_late_subscriber_gets_latched_samples(self):
        samples = ",".join(cdr_string(f"old {i}") for i in range(3))
        self.probe("--latch", STRING, "/latched", "2", samples)
        latched = ("--durability", "transient_local", "--count", "2")
        for peer, python in ((self.ros2, JAZZY), (self.ros2, KILTED), (self.cyclone, None)):
            extra = {"python": python} if python else {}
            sub = peer("sub", STRING, "/latched", *latched, "--timeout", "20", **extra)
            self.assertEqual(sub.finish(25), 0, str(sub))
            self.assertEqual([e["msg"]["data"] for e in sub.all("msg")], ["old 1", "old 2"])

    def test_latched_samples_of_others_reach_us_late(self):
        pub = self.ros2("pub", STRING, "/in", "--json", '{"data":"early {i}"}', "--count", "3", "--rate", "0",
                        "--wait", "0", "--linger", "20", "--durability", "transient_local", "--timeout", "30")
        pub.wait("matched")
        sub = self.ros2("sub", STRING, "/out", "--count", "3", "--durability", "transient_local", "--timeout", "20")
        sub.wait("ready")
        self.probe("--relay", STRING, "/in", "/out", "latched")
        self.assertEqual(sub.finish(25), 0, str(sub))
        self.assertEqual([e["msg"]["data"] for e in sub.all("msg")], [f"early {i}" for i in range(3)])

    def test_restarted_peers_are_found_again(self):
        probe = self.probe("--relay", STRING, "/in", "/out", "reliable")
        pub = self.ros2("pub", STRING, "/in", "--json", '{"data":"{i}"}', "--count", "1000", "--timeout", "50")
        for _ in range(2):
            sub = self.subscriber(STRING, "/out")
            sub.wait("msg")
            sub.kill()
        pub.kill()
        again = self.subscriber(STRING, "/out")
        self.ros2("pub", STRING, "/in", "--json", '{"data":"again"}', "--count", "20")
        again.wait("msg", where=lambda e: e["msg"]["data"] == "again")
        self.assertEqual([e for e in probe.all("relayed") if e["error"]], [])

    def test_incompatible_qos_is_named_in_the_log(self):
        probe = self.probe("--relay", STRING, "/in", "/out", "sensor")
        self.ros2("sub", STRING, "/out", "--reliability", "reliable", "--node", "strict", "--timeout", "20")
        line = probe.wait_text("cannot be exchanged")
        for part in ("'/out'", "/strict", "reliability", "subscribe best effort"):
            self.assertIn(part, line)

    def test_probe_leaves_the_graph_when_it_ends(self):
        probe = self.probe("--relay", STRING, "/in", "/out", "reliable")

        def nodes():
            graph = self.ros2("graph", "-", "-")
            graph.finish()
            return graph.all("nodes")[0]["nodes"]

        eventually(lambda: "/dds_probe" in nodes())
        probe.process.stdin.close()
        self.assertEqual(probe.finish(), 0)
        eventually(lambda: "/dds_probe" not in nodes())


if __name__ == "__main__":
    unittest.main()
