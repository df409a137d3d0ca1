"""Topics between rostrans and rospy, with a real roscore: both ways, small and big, latched, stalled, mistaken."""
import json
import os
import re
import shutil
import signal
import subprocess
import unittest
import zlib

from daemon import free_port
from peers import PROGRAMS, REPO, TOOLS, eventually
from ros1 import IMAGE, IMAGE_BYTES, IMAGE_FIELDS, STRING, Ros1Test, text_to_topic, topic_to_udp

# Of the pattern that peers fill an image with.
IMAGE_CRC = zlib.crc32((bytes(range(251)) * (IMAGE_BYTES // 251 + 1))[:IMAGE_BYTES])


class Topics(Ros1Test):
    def test_strings_go_both_ways(self):
        port, sender, receiver = free_port(), self.udp(), self.udp()
        self.rostrans(rules=text_to_topic(port, "/heard") + topic_to_udp(receiver.port, "/say"))
        subs = [self.rospy("sub", STRING, "/heard", "--count", "3", "--timeout", "30") for _ in range(2)]
        for sub in subs:
            sub.wait("matched")
        self.until_ended(subs, lambda: sender.send("größe".encode(), port))
        for sub in subs:
            self.assertEqual([e["msg"]["data"] for e in sub.all("msg")], ["größe"] * 3, str(sub))
        pub = self.rospy("pub", STRING, "/say", "--json", '{"data": "line {i}"}', "--count", "20", "--rate", "100",
                         "--timeout", "30")
        self.assertEqual([receiver.receive()[0].decode() for _ in range(20)], [f"line {i}" for i in range(20)])
        self.assertEqual(pub.finish(), 0, str(pub))

    def test_states_go_both_ways(self):
        port, vehicle = free_port(), self.udp()
        self.rostrans(f"--fcu_url=udp://127.0.0.1:{port}@", rules=topic_to_udp(
            vehicle.port, "/told", "mavros_msgs/msg/State", "json"))
        self.start(TOOLS, PROGRAMS / "fake_autopilot.py", "--link", f"udpout:127.0.0.1:{port}", "--duration", "50")
        sub = self.rospy("sub", "mavros_msgs/State", "/mavros/state", "--timeout", "30")
        state = sub.wait("msg", 30, lambda e: e["msg"]["connected"])["msg"]
        self.assertEqual((state["armed"], state["mode"], state["system_status"]), (False, "AUTO.LOITER", 3))
        self.rospy("pub", "mavros_msgs/State", "/told", "--json",
                   '{"connected": true, "mode": "GUIDED", "system_status": 4, "header": {"frame_id": "f{i}"}}',
                   "--stamp", "--timeout", "30")
        told = json.loads(vehicle.receive()[0])
        self.assertEqual((told["connected"], told["armed"], told["mode"], told["system_status"]),
                         (True, False, "GUIDED", 4))
        self.assertEqual(told["header"]["frame_id"], "f0")
        self.assertGreater(told["header"]["stamp"]["sec"], 1_600_000_000)

    def test_images_go_both_ways_between_rospy_and_rclpy(self):
        bridge = """
- rule_id: images
  direction: rostopic_to_rostopic
  links:
    - {topic: /there, msg_type: sensor_msgs/msg/Image}
    - {topic: /back, msg_type: sensor_msgs/msg/Image}
"""
        self.rostrans(version="all", rules=bridge)
        content = ["--json", IMAGE_FIELDS, "--fill", f"data={IMAGE_BYTES}", "--stamp", "--rate", "5", "--timeout", "45"]
        want = ["--count", "5", "--timeout", "45"]
        subs = [self.rospy("sub", IMAGE, "/there", *want), self.ros2("sub", "sensor_msgs/msg/Image", "/back", *want)]
        self.ros2("pub", "sensor_msgs/msg/Image", "/there", *content, "--count", "40")
        self.rospy("pub", IMAGE, "/back", *content, "--count", "40")
        for sub in subs:
            self.assertEqual(sub.finish(45), 0, str(sub))
            for event in sub.all("msg"):
                image = event["msg"]
                self.assertEqual((image["width"], image["height"], image["encoding"]), (1280, 720, "bgr8"))
                self.assertEqual(image["data"], {"len": IMAGE_BYTES, "crc32": IMAGE_CRC})

    def test_latched_topics_reach_late_joiners_both_ways(self):
        port, sender, receiver = free_port(), self.udp(), self.udp()
        pub = self.rospy("pub", STRING, "/map", "--json", '{"data": "the map"}', "--durability", "transient_local",
                         "--wait", "0", "--linger", "40", "--timeout", "50")
        eventually(lambda: "/map" in self.tool("rostopic", "list"))
        self.rostrans(rules=text_to_topic(port, "/plan", "latched") + topic_to_udp(receiver.port, "/map"))
        self.assertEqual(receiver.receive()[0], b"the map", str(pub))
        self.registered("Publications", "/plan")
        for text in (b"old", b"the plan"):
            sender.send(text, port)
        # The first may come before the second datagram has; from then on the latest is there at once.
        def latest():
            sub = self.rospy("sub", STRING, "/plan", "--count", "1", "--timeout", "20")
            self.assertEqual(sub.finish(), 0, str(sub))
            return sub.all("msg")[0]["msg"]["data"] == "the plan"

        eventually(latest)
        self.assertTrue(latest())
        self.assertIn("the plan", self.tool("rostopic", "echo", "-n", "1", "/plan"))

    def test_sequence_numbers_count_up(self):
        port, sender = free_port(), self.udp()
        rules = text_to_topic(port, "/odd").replace("codec: string", "codec: json").replace(
            "std_msgs/msg/String", "sensor_msgs/msg/Temperature")
        self.rostrans(rules=rules)
        sub = self.rospy("sub", "sensor_msgs/Temperature", "/odd", "--count", "5", "--timeout", "30")
        sub.wait("matched")
        self.until_ended([sub], lambda: sender.send(b'{"temperature": 21.5}', port))
        numbers = [e["msg"]["header"]["seq"] for e in sub.all("msg")]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + 5)))
        self.assertEqual(sub.all("msg")[0]["msg"]["temperature"], 21.5)

    def test_subscriber_that_stalls_does_not_disturb_others(self):
        bridge = """
- rule_id: images
  direction: rostopic_to_rostopic
  from: ros2
  to: ros1
  links:
    - {topic: /camera, msg_type: sensor_msgs/msg/Image, qos: reliable}
"""
        rostrans = self.rostrans(version="all", rules=bridge)
        stalled = self.rospy("sub", IMAGE, "/camera", "--quiet", "--timeout", "50")
        good = self.rospy("sub", IMAGE, "/camera", "--quiet", "--count", "60", "--timeout", "50")
        for sub in (stalled, good):
            sub.wait("matched")
        os.kill(stalled.process.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, stalled.process.pid, signal.SIGCONT)
        pub = self.ros2("pub", "sensor_msgs/msg/Image", "/camera", "--json", IMAGE_FIELDS, "--fill",
                        f"data={IMAGE_BYTES}", "--rate", "10", "--count", "61", "--timeout", "45")
        self.assertEqual(good.finish(50), 0, f"{good}\n{pub}")
        line = rostrans.wait_text("subscriber reads too slowly; messages dropped")
        self.assertRegex(line, r'topic="/camera" subscriber="/peer_sub_\d+_\d+" count=1\b')

    def test_other_types_and_definitions_are_refused_with_one_line_and_others_go_on(self):
        port, sender, receiver = free_port(), self.udp(), self.udp()
        rostrans = self.rostrans(rules=text_to_topic(port, "/heard") + topic_to_udp(receiver.port, "/say")
                                 + topic_to_udp(receiver.port, "/told", "mavros_msgs/msg/State", "json"))
        good = self.rospy("sub", STRING, "/heard", "--timeout", "45")
        good.wait("matched")
        other = self.rospy("sub", "std_msgs/Int32", "/heard", "--timeout", "40")
        line = rostrans.wait_text("connection refused")
        self.assertRegex(line, r"WARN.*/heard is std_msgs/String with md5sum \w{32} here, and std_msgs/Int32 with md5sum "
                               r"\w{32} for the subscriber; have both use the same message definition")
        self.rospy("pub", "std_msgs/Int32", "/say", "--wait", "0", "--linger", "40", "--timeout", "45")
        line = rostrans.wait_text('cannot subscribe')
        self.assertIn('topic="/say"', line)
        # The same name with another definition: a field more.
        changed = self.folder()
        shutil.copytree(REPO / "config/interfaces/ros1/mavros_msgs/msg", changed / "mavros_msgs/msg")
        with open(changed / "mavros_msgs/msg/State.msg", "a", encoding="utf-8") as text:
            text.write("\nuint8 another\n")
        for name in os.listdir(changed / "mavros_msgs/msg"):
            if name != "State.msg":
                os.remove(changed / "mavros_msgs/msg" / name)
        subprocess.run([PROGRAMS / "build_ros1_msgs.sh", changed / "out", changed / "mavros_msgs"], check=True,
                       stdout=subprocess.DEVNULL)
        self.rospy("pub", "mavros_msgs/State", "/told", "--wait", "0", "--linger", "40", "--timeout", "45",
                   packages=changed / "out")
        eventually(lambda: len(self.lines(rostrans, "cannot subscribe")) == 2)
        self.assertRegex(self.lines(rostrans, "cannot subscribe")[1],
                         r'\[mavros_msgs/State/[0-9a-f]{32}\].*\[mavros_msgs/State/[0-9a-f]{32}\].*topic="/told"')
        # All the while the others hear us, and we hear those that fit.
        self.rospy("pub", STRING, "/say", "--json", '{"data": "fits"}', "--count", "10", "--timeout", "40")
        self.assertEqual(receiver.receive()[0], b"fits")
        before = len(good.all("msg"))
        eventually(lambda: sender.send(b"still", port) or len(good.all("msg")) > before + 3)
        self.assertEqual(other.all("msg"), [])
        refused = [re.sub(r"^\S+ ", "", line) for line in self.lines(rostrans, "connection refused")]
        self.assertLessEqual(len(refused), 3, refused)
        self.assertEqual(len(self.lines(rostrans, "cannot subscribe")), 2)

    def test_one_vehicle_is_seen_by_rospy_and_rclpy_with_equal_values(self):
        port = free_port()
        self.rostrans(f"--fcu_url=udp://127.0.0.1:{port}@", version="all")
        self.start(TOOLS, PROGRAMS / "fake_autopilot.py", "--link", f"udpout:127.0.0.1:{port}", "--duration", "55")
        topics = [("mavros_msgs", "State", "/mavros/state", 8), ("sensor_msgs", "Imu", "/mavros/imu/data", 300),
                  ("mavros_msgs", "VfrHud", "/mavros/vfr_hud", 20), ("nav_msgs", "Odometry", "/mavros/local_position/odom", 100)]
        ros1, ros2 = [], []
        for package, name, topic, count in topics:
            old = {"VfrHud": "VFR_HUD"}.get(name, name)
            want = ("--count", str(count), "--timeout", "50", "--depth", "100")
            ros1.append(self.rospy("sub", f"{package}/{old}", topic, *want))
            ros2.append(self.ros2("sub", f"{package}/msg/{name}", topic, *want, "--reliability", "best_effort"))
        for one, two, (_, _, topic, count) in zip(ros1, ros2, topics):
            seen = []
            for sub in (one, two):
                self.assertEqual(sub.finish(50), 0, str(sub))
                messages = [e["msg"] for e in sub.all("msg")]
                for message in messages:
                    message["header"].pop("seq", None)
                seen.append({json.dumps(m["header"]["stamp"], sort_keys=True): m for m in messages})
            both = seen[0].keys() & seen[1].keys()
            self.assertGreater(len(both), count // 3, f"{topic}: {len(both)} of {count}")
            for stamp in both:
                self.assertEqual(seen[0][stamp], seen[1][stamp], topic)


if __name__ == "__main__":
    unittest.main()
