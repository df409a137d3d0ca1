"""Forward rules of the daemon between UDP or serial and stock ROS 2 nodes."""
import json
import unittest

from daemon import DaemonTest, free_port
from peers import JAZZY, KILTED, eventually

STRING = "std_msgs/msg/String"


class Rules(DaemonTest):
    def publish(self, topic, text, count=20, **kwargs):
        return self.ros2("pub", STRING, topic, "--json", json.dumps({"data": text}), "--count", str(count),
                         "--timeout", "40", **kwargs)

    def test_topic_goes_to_udp_and_serial(self):
        udp, pty = self.udp(), self.pty()
        self.rostrans(rules=f"""
- rule_id: to_udp
  direction: rostopic_to_udp
  links:
    - {{codec: string, topic: /say, msg_type: std_msgs/msg/String, udp_dst_ip: 127.0.0.1, udp_dst_port: {udp.port}}}
- rule_id: to_serial
  direction: ros_to_serial
  links:
    - {{codec: string, topic: /say, msg_type: std_msgs/msg/String, serial_port: "{pty.device}:921600"}}
""")
        self.publish("/say", "line {i};")
        self.assertRegex(udp.receive()[0].decode(), r"^line \d+;$")
        line = bytearray()

        def whole_lines():
            line.extend(pty.read())
            return line.count(b";") >= 3

        eventually(whole_lines)
        numbers = [int(part.split()[1]) for part in line.decode().split(";")[:-1]]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))

    def test_udp_and_serial_go_to_topics_of_every_implementation(self):
        port, pty, sender = free_port(), self.pty(), self.udp()
        self.rostrans(rules=f"""
- rule_id: from_udp
  direction: udp_to_rostopic
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {port}
  links:
    - {{codec: string, topic: /heard, msg_type: std_msgs/msg/String, qos: reliable}}
- rule_id: from_serial
  direction: serial_to_ros
  serial_port: "{pty.device}:57600"
  links:
    - {{codec: string, topic: /wire, msg_type: std_msgs/msg/String, qos: reliable}}
""")
        want = ("--count", "3", "--timeout", "40")
        subs = [self.ros2("sub", STRING, "/heard", *want, python=JAZZY),
                self.ros2("sub", STRING, "/heard", *want, python=KILTED),
                self.cyclone("sub", STRING, "/heard", *want)]
        wire = self.ros2("sub", STRING, "/wire", *want)
        for sub in [*subs, wire]:
            sub.wait("matched", 30)

        def all_ended():
            sender.send("größe".encode(), port)
            pty.write(b"serial")
            return all(p.process.poll() is not None for p in [*subs, wire])

        eventually(all_ended, timeout=30)
        for sub in subs:
            self.assertEqual([e["msg"]["data"] for e in sub.all("msg")], ["größe"] * 3, str(sub))
        self.assertIn("serial", wire.all("msg")[0]["msg"]["data"])


if __name__ == "__main__":
    unittest.main()
