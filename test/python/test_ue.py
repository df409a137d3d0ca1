"""RflySim3D commanded from ROS 1 and ROS 2, and its reports. Bytes are packed here, from the vendor's formats."""
import json
import math
import random
import struct
import unittest

from netns import Host, Network
from peers import BINARIES, PROGRAMS, TOOLS
from ros1 import Ros1Test

ROSPY = "rflysim_msgs/"
HALF_TURN = math.pi / 2
# Facing east in ENU is a yaw of a quarter turn in NED.
EAST = {"position": {"x": 20.0, "y": 10.0, "z": 5.0}, "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}}
RPMS = [1000.0] * 4 + [0.0] * 4
POSE = {"copter_id": 2, "vehicle_type": 3, "pose": EAST, "motor_rpms": RPMS}


def padded(layout, *values):
    """Packed, with arrays flattened."""
    flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
    return struct.pack("<" + layout, *flat).hex()


COMMANDS = [
    ("std_msgs/String", "cmd", {"data": "stat fps"}, padded("i52s", 1234567890, b"stat fps")),
    (ROSPY + "UePose", "pose", POSE,
     padded("6i14f4d", 1234567891, 2, 3, [0] * 3, RPMS, [0] * 3, [0, 0, HALF_TURN], [10, 20, -5], -1)),
    (ROSPY + "UePose", "pose", {**POSE, "scale": [2.0, 2.0, 0.5], "fit_ground": True},
     padded("3i10f", 1234567891, 2, 3, 1000, [10, 20, -5], [0, 0, HALF_TURN], [2, 2, 0.5])),
    (ROSPY + "UePoses", "poses", {"poses": [POSE]},
     padded("i40H120f60H160f", 1234567890, [2] + [0] * 19, [3] + [0] * 19, [10, 20, -5] + [0] * 57,
            [0, 0, HALF_TURN] + [0] * 57, [100] * 3 + [0] * 57, RPMS + [0] * 152)),
    (ROSPY + "UeLabel", "label", {"copter_id": 1, "text": "Ziel ✓", "line": -1, "rgb": [255, 128, 0], "duration": 5.0},
     padded("6i2f120s", 1234567899, 1, -1, [255, 128, 0], 5, 30, "Ziel ✓".encode())),
    (ROSPY + "UeAttach", "attach", {"copter_ids": [2], "attach_ids": [1], "types": [3]},
     padded("i25i25i25i", 1234567892, [2] + [0] * 24, [1] + [0] * 24, [3] + [0] * 24)),
    (ROSPY + "UeActuators", "ext_act", {"copter_id": 4, "runned_time": 12.5, "values": [0.5] * 16},
     padded("2i17d", 1234567894, 4, 12.5, [0.5] * 16)),
    (ROSPY + "UeRequest", "request", {"kind": 1, "name": "2"}, padded("i52s", 1234567890, b"RflyReqObjData 1 2")),
]
CRASH = padded("4i1d29f20s", 1234567897, 1, 3, -1, 12.5, [1, 0, 0], [10, 20, -5], [10.5, 20, -5], [11, 20, -5],
               [0, 0, HALF_TURN], RPMS, [1, 2, 3, 4, 5, 6], b"Wall_12")
COLLISION = padded("3i", 1234567890, 1, 2)
COPTER = padded("2i16f1d", 1234567891, 2, [10, 20, -5], [0] * 3, [math.sqrt(0.5), 0, 0, math.sqrt(0.5)], [10, 20, -5.25],
                [1, 2, 3], 33.5)
OBJECT_OLD = padded("2i12f1d32s", 1234567891, 7, [1, 2, -3], [0] * 3, [1, 2, -3], [1] * 3, 1.5, b"Wall_12")
CAMERA = padded("5i11f1d", 1234567891, 3, 1, 480, 640, 90, [1, 2, -3], [0] * 3, [1, 0, 0, 0], 2.5)


class UeTest(Ros1Test):
    """A test case whose ROS programs run on a host with a network of its own: the ports are RflySim3D's, and fixed."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.domain = random.randint(10, 50)

    def setUp(self):
        self.ros = self.hosts()
        super().setUp()

    def hosts(self):
        """The host of ROS."""
        host = Host("ue")
        self.addCleanup(host.close)
        host.run("ip", "link", "set", "lo", "multicast", "on")
        host.run("ip", "route", "add", "224.0.0.0/4", "dev", "lo")
        return host

    def start(self, *command, host=None, **kwargs):
        return super().start(*(host or self.ros).command(*command), **kwargs)

    def ue(self, *options, host=None):
        """test/peers/ue_peer.py, running."""
        program = self.start(TOOLS, PROGRAMS / "ue_peer.py", *options, host=host)
        program.wait("ready")
        return program

    def heard(self, ue, window=0):
        """The next datagram of a window, in hex."""
        return ue.wait("heard", 20, lambda event: event["window"] == window)["hex"]

    def tell(self, ue, *packets):
        for packet in packets:
            ue.say(json.dumps({"hex": packet}))

    def subscribers(self, *topics, count=1):
        subs = [self.rospy("sub", kind, f"/rflysim/{topic}", "--count", str(count), "--timeout", "50") for kind, topic in topics]
        for sub in subs:
            sub.wait("matched", 30)
        return subs


class Commands(UeTest):
    def test_each_topic_makes_the_vendors_bytes(self):
        ue = self.ue()
        self.rostrans("--enable_ue3d=true")
        for kind, topic, message, packet in COMMANDS:
            pub = self.rospy("pub", kind, f"/rflysim/ue/{topic}", "--count", "1", "--json", json.dumps(message), "--timeout", "30")
            self.assertEqual(self.heard(ue), packet, f"{topic}: {pub}")
            pub.close()
        self.rospy("pub", "std_msgs/String", "/rflysim/ue/cmd_net", "--count", "1", "--json", '{"data": "stat fps"}')
        self.assertEqual(self.heard(ue, None), padded("i92s", 1234567897, b"stat fps"))

    def test_windows_are_addressed_separately(self):
        ue = self.ue("--windows", "3")
        rostrans = self.rostrans("--enable_ue3d=true", "--ue3d_count=2", version="all")

        def say(text):
            pub = self.ros2("pub", "std_msgs/msg/String", "/rflysim/ue/cmd", "--count", "1", "--json", json.dumps({"data": text}),
                            "--timeout", "30")
            self.assertEqual(pub.finish(40), 0, str(pub))

        say("@1 second")
        self.assertEqual(self.heard(ue, 1), padded("i52s", 1234567890, b"second"))
        say("both")
        self.assertEqual([self.heard(ue, window) for window in (0, 1)], [padded("i52s", 1234567890, b"both")] * 2)
        say("@2 third")
        rostrans.wait_text("window 2 is not there")
        say("@0 first")
        self.assertEqual(self.heard(ue, 0), padded("i52s", 1234567890, b"first"))
        self.assertEqual([e["window"] for e in ue.all("heard")].count(2), 0)

    def test_demo_obeys_and_reports(self):
        demo = self.start(BINARIES / "rostrans", "demo", "coptersim", "--json", "--windows", "1")
        demo.wait("ready")
        self.rostrans("--enable_ue3d=true")
        data, crash = self.subscribers((ROSPY + "CopterData", "ue/copter_data"), (ROSPY + "CrashData", "uav1/crash"))
        for request in ({"kind": 1, "name": "1"}, {"kind": 3}):
            self.rospy("pub", ROSPY + "UeRequest", "/rflysim/ue/request", "--count", "1", "--json", json.dumps(request))
        for sub in (data, crash):
            self.assertEqual(sub.finish(40), 0, f"{sub}\n{demo}")
            self.assertEqual(sub.all("msg")[0]["msg"]["copter_id"], 1)


class Reports(UeTest):
    def test_each_packet_reaches_its_topic(self):
        ue = self.ue()
        self.rostrans("--enable_ue3d=true")
        crash, collision, copter, thing, camera = self.subscribers(
            (ROSPY + "CrashData", "uav1/crash"), ("std_msgs/Int32", "uav1/collision"), (ROSPY + "CopterData", "ue/copter_data"),
            (ROSPY + "ObjectData", "ue/object_data"), (ROSPY + "CameraData", "ue/camera_data"))
        # Garbage, cut and foreign packets between good ones.
        self.tell(ue, "00", CRASH[:-2], CRASH, "ff" * 160, COLLISION, COPTER, OBJECT_OLD, CAMERA + "00", CAMERA)
        for sub in (crash, collision, copter, thing, camera):
            self.assertEqual(sub.finish(40), 0, f"{sub}\n{ue}")
        message = crash.all("msg")[0]["msg"]
        self.assertEqual((message["copter_id"], message["crash_type"], message["crashed_name"]), (1, -1, "Wall_12"))
        self.assertEqual(message["pose"]["position"], {"x": 20.0, "y": 10.0, "z": 5.0})
        self.assertEqual(message["crash_position"], {"x": 20.0, "y": 10.5, "z": 5.0})
        self.assertEqual(collision.all("msg")[0]["msg"], {"data": 2})
        message = copter.all("msg")[0]["msg"]
        self.assertEqual(message["box_extent"], {"x": 2.0, "y": 1.0, "z": 3.0})
        # A quarter turn in NED faces east.
        self.assertAlmostEqual(message["pose"]["orientation"]["w"], 1.0, 5)
        self.assertEqual(thing.all("msg")[0]["msg"]["name"], "Wall_12")
        self.assertEqual(camera.all("msg")[0]["msg"]["width"], 640)


class TwoNetworks(UeTest):
    def hosts(self):
        network = Network("ros", "near", "far", v6=False)
        self.addCleanup(network.close)
        network.cable("ros", "far", "eth1", "10.78.0.1/24", "10.78.0.2/24")
        self.near, self.far = network["near"], network["far"]
        return network["ros"]

    def test_multicast_goes_and_comes_by_both(self):
        near = self.ue("--interface", "10.77.0.2", host=self.near)
        far = self.ue("--interface", "10.78.0.2", host=self.far)
        self.rostrans("--enable_ue3d=true", "--ue3d_ip=10.78.0.2", "--ue3d_multicast_if=eth0,10.78.0.1")
        self.rospy("pub", "std_msgs/String", "/rflysim/ue/cmd_net", "--count", "1", "--json", '{"data": "stat fps"}')
        for ue in (near, far):
            self.assertEqual(self.heard(ue, None), padded("i92s", 1234567897, b"stat fps"))
        self.rospy("pub", "std_msgs/String", "/rflysim/ue/cmd", "--count", "1", "--json", '{"data": "far alone"}')
        self.assertEqual(self.heard(far), padded("i52s", 1234567890, b"far alone"))
        sub, = self.subscribers(("std_msgs/Int32", "uav1/collision"), count=2)
        self.tell(near, padded("3i", 1234567890, 1, -1))
        self.tell(far, padded("3i", 1234567890, 1, -2))
        self.assertEqual(sub.finish(40), 0, f"{sub}\n{near}\n{far}")
        self.assertEqual({e["msg"]["data"] for e in sub.all("msg")}, {-1, -2})
        self.assertEqual([e for e in near.all("heard") if e["window"] is not None], [])

    def test_interface_that_is_not_there_is_named_with_those_that_are(self):
        program = self.start(BINARIES / "rostrans", "--ros_version=ros2", "--enable_ue3d=true", "--ue3d_multicast_if=wlan7")
        line = program.wait_text("no interface 'wlan7'")
        self.assertIn("eth0 (10.77.0.1)", line)


if __name__ == "__main__":
    unittest.main()
