"""The command line tools of ROS 1 on rostrans' node: rostopic, rosservice, rosnode."""
import re
import unittest

from daemon import free_port
from peers import PROGRAMS, TOOLS, eventually
from ros1 import Ros1Test


class Tools(Ros1Test):
    def setUp(self):
        super().setUp()
        port = free_port()
        self.program = self.rostrans(f"--fcu_url=udp://127.0.0.1:{port}@")
        self.vehicle = self.start(TOOLS, PROGRAMS / "fake_autopilot.py", "--link", f"udpout:127.0.0.1:{port}",
                                  "--duration", "55")
        self.registered("Publications", "/mavros/state")
        self.program.wait_text("connected. FCU")

    def test_rostopic(self):
        topics = self.tool("rostopic", "list").split()
        self.assertTrue({"/mavros/state", "/mavros/imu/data", "/mavros/setpoint_position/local", "/tf"} <= set(topics), topics)
        self.assertEqual(self.tool("rostopic", "type", "/mavros/vfr_hud").strip(), "mavros_msgs/VFR_HUD")
        info = self.tool("rostopic", "info", "/mavros/imu/data")
        self.assertRegex(info, r"Type: sensor_msgs/Imu\s+Publishers:\s+\* /rostrans \(http://127\.0\.0\.1:\d+/\)")
        info = self.tool("rostopic", "info", "/mavros/setpoint_position/local")
        self.assertRegex(info, r"Type: geometry_msgs/PoseStamped\s+Publishers: None\s+Subscribers:\s+\* /rostrans ")
        echo = self.tool("rostopic", "echo", "-n", "3", "/mavros/state", limit=30)
        self.assertEqual(len(re.findall(r"^mode: \"AUTO\.LOITER\"$", echo, re.M)), 3, echo)
        numbers = [int(n) for n in re.findall(r"^  seq: (\d+)$", echo, re.M)]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + 3)))
        hz = self.start("rostopic", "hz", "/mavros/imu/data", env=self.ros1_env())
        rate = re.search(r"average rate: ([\d.]+)", hz.wait_text("average rate"))
        # The vehicle sends 100 a second.
        self.assertAlmostEqual(float(rate[1]), 100, delta=40)
        bandwidth = self.start("rostopic", "bw", "/mavros/imu/data", env=self.ros1_env())
        bandwidth.wait_text("mean:")

    def test_rostopic_pub(self):
        self.start("rostopic", "pub", "-r", "20", "/mavros/setpoint_position/local", "geometry_msgs/PoseStamped",
                   "{pose: {position: {x: 1, y: 2, z: 3}, orientation: {w: 1}}}", env=self.ros1_env())

        def setpoints():
            self.vehicle.say("report")
            report = self.vehicle.wait("report")
            return sum(kind["count"] for kind in report["setpoints"].values())

        eventually(lambda: setpoints() >= 20)

    def test_rosservice(self):
        services = self.tool("rosservice", "list").split()
        self.assertIn("/mavros/cmd/arming", services)
        self.assertEqual(self.tool("rosservice", "type", "/mavros/set_mode").strip(), "mavros_msgs/SetMode")
        info = self.tool("rosservice", "info", "/mavros/cmd/arming")
        self.assertRegex(info, r"Node: /rostrans\s+URI: rosrpc://127\.0\.0\.1:\d+\s+Type: mavros_msgs/CommandBool\s+Args: value")
        self.assertEqual(self.tool("rosservice", "find", "mavros_msgs/CommandBool").strip(), "/mavros/cmd/arming")

        def armed():
            return "success: True" in self.tool("rosservice", "call", "/mavros/cmd/arming", "value: true", good=False)

        eventually(armed)
        state = self.start("rostopic", "echo", "/mavros/state/armed", env=self.ros1_env())
        state.wait_text("True")

    def test_rosnode(self):
        self.assertIn("/rostrans", self.tool("rosnode", "list").split())
        ping = self.tool("rosnode", "ping", "-c", "3", "/rostrans")
        self.assertEqual(len(re.findall(r"xmlrpc reply from http://127\.0\.0\.1:\d+/", ping)), 3, ping)
        echo = self.start("rostopic", "echo", "/mavros/state", env=self.ros1_env())
        echo.wait_text("mode:")
        info = self.tool("rosnode", "info", "/rostrans")
        self.assertIn(f"Pid: {self.program.process.pid}", info)
        self.assertRegex(info, r"\* topic: /mavros/state\s+\* to: /rostopic_\w+\s+\* direction: outbound")
        self.tool("rosnode", "kill", "/rostrans")
        self.program.wait_text("was shut down by")
        eventually(lambda: "/rostrans" not in self.tool("rosnode", "list").split())

    def test_daemon_that_ends_leaves_the_graph(self):
        self.assertEqual(self.program.stop(), 0, str(self.program))
        self.assertNotIn("/rostrans", self.tool("rosnode", "list").split())
        self.assertEqual([t for t in self.tool("rostopic", "list").split() if "mavros" in t], [])


if __name__ == "__main__":
    unittest.main()
