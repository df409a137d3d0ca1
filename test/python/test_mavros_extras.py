"""The plugins of mavros_extras between pymavlink and a stock rclpy node: topics both ways and raw frames."""
import math
import os
import threading
import unittest

os.environ["MAVLINK20"] = "1"
from pymavlink.dialects.v20 import ardupilotmega as mavlink

from daemon import free_port
from vehicles import VehicleTest


class Vehicle:
    """System 1 on UDP: sends the same messages over and over and keeps what it gets."""

    def __init__(self, udp, port):
        self.udp, self.port = udp, port
        self.mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
        self.parser = mavlink.MAVLink(None)
        self.got, self.stopped = [], threading.Event()
        self.changed = threading.Condition()
        udp.socket.settimeout(0.05)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.stopped.is_set():
            for message in self.messages():
                self.udp.send(message.pack(self.mav), self.port)
            try:
                data, _ = self.udp.receive()
            except TimeoutError:
                continue
            for message in self.parser.parse_buffer(data) or []:
                with self.changed:
                    self.got.append(message)
                    self.changed.notify_all()

    def messages(self):
        m = self.mav
        yield m.heartbeat_encode(mavlink.MAV_TYPE_QUADROTOR, mavlink.MAV_AUTOPILOT_PX4, 1, 0, mavlink.MAV_STATE_ACTIVE)
        yield m.wind_cov_encode(1000000, 1.0, 2.0, -3.0, 0.5, 0.25, 0.0, 0.0, 0.0)
        yield m.mount_orientation_encode(1000, 0.0, 0.0, 90.0)
        yield m.mag_cal_progress_encode(0, 1, 0, 0, 40, [0] * 10, 0.0, 0.0, 0.0)
        yield m.nav_controller_output_encode(1.5, -2.5, -10, 20, 30, 4.5, 5.5, 6.5)

    def wait(self, kind, count=1, timeout=20.0):
        """The first messages of a kind."""
        found = lambda: [m for m in self.got if m.get_type() == kind]
        with self.changed:
            if not self.changed.wait_for(lambda: len(found()) >= count, timeout):
                raise AssertionError(f"{len(found())} of {count} {kind} among {[m.get_type() for m in self.got]}")
            return found()[:count]

    def close(self):
        self.stopped.set()
        self.thread.join()


class MavrosExtras(VehicleTest):
    def world(self):
        port = free_port()
        self.rostrans(params=f"enable_mavros=true\nmavros_listen_port={port}\n")
        vehicle = Vehicle(self.udp(), port)
        self.addCleanup(vehicle.close)
        client = self.client()
        self.connected(client)
        return vehicle, client

    def test_messages_become_topics(self):
        _, client = self.world()
        client.watch("wind_estimation", "geometry_msgs/msg/TwistWithCovarianceStamped", "sensor_data")
        client.watch("mount_control/orientation", "geometry_msgs/msg/Quaternion")
        client.watch("mag_calibration/status", "std_msgs/msg/UInt8")
        wind = client.until("wind_estimation", lambda m: True)["twist"]
        self.assertEqual([wind["twist"]["linear"][axis] for axis in "xyz"], [2.0, 1.0, 3.0])
        self.assertEqual((wind["covariance"][0], wind["covariance"][14]), (0.5, 0.25))
        turned = client.until("mount_control/orientation", lambda m: True)
        self.assertAlmostEqual(turned["z"], 0.5 ** 0.5, 5)
        self.assertEqual(client.until("mag_calibration/status", lambda m: True)["data"], 40)

    def test_topics_become_messages(self):
        vehicle, client = self.world()
        pose = {"pose": {"position": {"x": 1.0, "y": 2.0, "z": 3.0}}}
        client.publish("trajectory/path", "nav_msgs/msg/Path", header={"stamp": {"sec": 12}}, poses=[pose, pose])
        [path] = vehicle.wait("TRAJECTORY_REPRESENTATION_WAYPOINTS")
        self.assertEqual((path.time_usec, path.valid_points), (12000000, 2))
        self.assertEqual((path.pos_x[1], path.pos_y[1], path.pos_z[1]), (2.0, 1.0, -3.0))
        self.assertTrue(math.isnan(path.pos_x[2]))
        self.assertEqual((path.get_srcSystem(), path.get_srcComponent()), (1, 191))

    def test_raw_frames_go_both_ways(self):
        vehicle, client = self.world()
        source = type(client)(client.program, "/uas1")
        source.watch("mavlink_source", "Mavlink", "sensor_data")
        nav = mavlink.MAVLINK_MSG_ID_NAV_CONTROLLER_OUTPUT
        raw = source.until("mavlink_source", lambda m: m["msgid"] == nav)
        raw.pop("header")
        client.publish("/uas1/mavlink_sink", "Mavlink", **raw)
        [back] = vehicle.wait("NAV_CONTROLLER_OUTPUT")
        self.assertEqual((back.nav_roll, back.wp_dist, back.get_srcSystem()), (1.5, 30, 1))


if __name__ == "__main__":
    unittest.main()
