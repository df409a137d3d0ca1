"""End to end: MAVLink frames from pymavlink go into the daemon, a stock rclpy node reads MAVROS topics.

The numbers are those that MAVROS itself gives for the same frames: attitude (0.1, 0.2, 0.3) rad, rates
(0.01, 0.02, 0.03) rad/s, position (10, 20, -5) m and velocity (1, 2, -0.5) m/s, NED and FRD on the wire.
"""
import os
import threading
import unittest

os.environ["MAVLINK20"] = "1"
from pymavlink.dialects.v20 import common as mavlink

from daemon import DaemonTest, free_port
from peers import JAZZY, PROGRAMS

ATTITUDE = {"w": 0.796853, "x": 0.099201, "y": -0.050735, "z": 0.593811}
RATES = {"x": 0.01, "y": -0.02, "z": -0.03}
# Standard deviations of 0.0003 m/s^2, 0.02 degree/s and 1 rad, squared, on the diagonal.
ACCEL_VARIANCE, RATE_VARIANCE = 9e-8, 1.2184696e-7
TOPICS = {
    "sensor_msgs/msg/Imu": ("imu/data", "imu/data_raw"),
    "geometry_msgs/msg/PoseStamped": ("local_position/pose",),
    "geometry_msgs/msg/TwistStamped": ("local_position/velocity_local", "local_position/velocity_body"),
    "nav_msgs/msg/Odometry": ("local_position/odom",),
    "sensor_msgs/msg/MagneticField": ("imu/mag",),
    "sensor_msgs/msg/FluidPressure": ("imu/static_pressure",),
    "sensor_msgs/msg/Temperature": ("imu/temperature_imu",),
    "sensor_msgs/msg/NavSatFix": ("global_position/global", "global_position/raw/fix"),
    "std_msgs/msg/Float64": ("global_position/rel_alt", "global_position/compass_hdg"),
    "sensor_msgs/msg/BatteryState": ("battery",),
    "mavros_msgs/msg/State": ("state",),
    "mavros_msgs/msg/ExtendedState": ("extended_state",),
    "mavros_msgs/msg/SysStatus": ("sys_status",),
    "mavros_msgs/msg/StatusText": ("statustext/recv",),
    "mavros_msgs/msg/RCIn": ("rc/in",),
    "mavros_msgs/msg/Altitude": ("altitude",),
    "mavros_msgs/msg/VfrHud": ("vfr_hud",),
    "mavros_msgs/msg/HomePosition": ("home_position/home",),
}


class Vehicle:
    """A flight controller that sends the same frames over and over, 20 times a second."""

    def __init__(self, send):
        self.mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
        self.send, self.stopped = send, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.stopped.is_set():
            for message in self.messages():
                self.send(message.pack(self.mav))
            self.stopped.wait(0.05)

    def close(self):
        self.stopped.set()
        self.thread.join()

    def messages(self):
        m = self.mav
        base = (mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | mavlink.MAV_MODE_FLAG_SAFETY_ARMED
                | mavlink.MAV_MODE_FLAG_GUIDED_ENABLED)
        yield m.heartbeat_encode(mavlink.MAV_TYPE_QUADROTOR, mavlink.MAV_AUTOPILOT_PX4, base, 6 << 16,
                                 mavlink.MAV_STATE_ACTIVE)
        yield m.highres_imu_encode(1000000, 1.0, 2.0, -9.5, 0.01, 0.02, 0.03, 0.2, 0.1, 0.4, 950.0, 0.0, 500.0, 36.5,
                                   0x1FFF)
        yield m.attitude_encode(1000, 0.1, 0.2, 0.3, 0.01, 0.02, 0.03)
        yield m.local_position_ned_encode(1000, 10.0, 20.0, -5.0, 1.0, 2.0, -0.5)
        yield m.gps_raw_int_encode(1000000, mavlink.GPS_FIX_TYPE_3D_FIX, 473977420, 85455940, 488000, 80, 120, 0, 0, 12)
        yield m.global_position_int_encode(1000, 473977420, 85455940, 488000, 5000, 100, 200, -50, 9000)
        yield m.sys_status_encode(7, 7, 7, 200, 16200, 100, 87, 1, 2, 3, 4, 5, 6)
        yield m.battery_status_encode(0, 0, mavlink.MAV_BATTERY_TYPE_LIPO, 2500, [4050] * 4 + [65535] * 6, 100, 10, -1,
                                      87)
        yield m.extended_sys_state_encode(mavlink.MAV_VTOL_STATE_UNDEFINED, mavlink.MAV_LANDED_STATE_IN_AIR)
        yield m.statustext_encode(mavlink.MAV_SEVERITY_NOTICE, b"takeoff detected")
        yield m.rc_channels_encode(1000, 4, 1100, 1200, 1300, 1400, *([0] * 14), 77)
        yield m.altitude_encode(1000000, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
        yield m.vfr_hud_encode(12.0, 13.0, 90, 50, 14.0, 1.5)
        yield m.home_position_encode(473977420, 85455940, 488000, 1.0, 2.0, 3.0, [1.0, 0.0, 0.0, 0.0], 0.0, 0.0, 0.0)


class MavrosTelemetry(DaemonTest):
    def watch(self):
        topics = [f"{kind}:/mavros/{topic}@best_effort" for kind, names in TOPICS.items() for topic in names]
        watch = self.start(JAZZY, PROGRAMS / "ros2_watch.py", *topics, "--timeout", "50")
        watch.wait("ready")
        return watch

    def close_to(self, got, want, places=5):
        """Compares the fields that want names, with rounding."""
        for key, value in want.items():
            if isinstance(value, dict):
                self.close_to(got[key], value, places)
            elif isinstance(value, float):
                self.assertAlmostEqual(got[key], value, places, key)
            else:
                self.assertEqual(got[key], value, key)

    def orientation(self, got):
        sign = 1 if got["w"] > 0 else -1
        self.close_to({k: sign * v for k, v in got.items()}, ATTITUDE)

    def covariance(self, got, variance):
        for i, value in enumerate(got):
            self.assertAlmostEqual(value, variance if i % 4 == 0 else 0.0, 12)

    def check(self, send, params):
        rostrans = self.rostrans(params=params)
        watch = self.watch()
        vehicle = Vehicle(send)
        self.addCleanup(vehicle.close)
        seen = {}
        wanted = {f"/mavros/{topic}" for names in TOPICS.values() for topic in names}
        while set(seen) < wanted:
            try:
                event = watch.wait("msg", 25)
            except AssertionError as error:
                self.fail(f"never came: {sorted(wanted - set(seen))}\n{rostrans}\n{error}")
            topic, msg = event["topic"], event["msg"]
            # The first samples may precede the vehicle's first attitude, fix or battery report.
            complete = {"/mavros/state": lambda m: m["connected"], "/mavros/battery": lambda m: m["cell_voltage"],
                        "/mavros/imu/data": lambda m: m["linear_acceleration"]["z"],
                        "/mavros/global_position/global": lambda m: m["status"]["status"] == 0}
            if complete.get(topic, lambda m: "local_position" not in topic or "/mavros/imu/data" in seen)(msg):
                seen[topic] = msg
        self.numbers({topic.removeprefix("/mavros/"): msg for topic, msg in seen.items()})
        self.graph()

    def numbers(self, seen):
        imu = seen["imu/data"]
        self.orientation(imu["orientation"])
        self.close_to(imu, {"header": {"frame_id": "base_link"}, "angular_velocity": RATES,
                            "linear_acceleration": {"x": 1.0, "y": -2.0, "z": 9.5}})
        self.covariance(imu["orientation_covariance"], 1.0)
        self.covariance(imu["angular_velocity_covariance"], RATE_VARIANCE)
        self.covariance(imu["linear_acceleration_covariance"], ACCEL_VARIANCE)
        raw = seen["imu/data_raw"]
        self.assertEqual(raw["orientation_covariance"][0], -1.0)
        self.close_to(raw, {"angular_velocity": RATES, "linear_acceleration": {"x": 1.0, "y": -2.0, "z": 9.5}})

        pose = seen["local_position/pose"]
        self.close_to(pose, {"header": {"frame_id": "map"}, "pose": {"position": {"x": 20.0, "y": 10.0, "z": 5.0}}})
        self.orientation(pose["pose"]["orientation"])
        self.close_to(seen["local_position/velocity_local"]["twist"], {
            "linear": {"x": 2.0, "y": 1.0, "z": 0.5}, "angular": {"x": 0.020916, "y": 0.010412, "z": -0.029225}})
        body = {"linear": {"x": 1.614887, "y": -1.588833, "z": 0.343149}, "angular": RATES}
        self.close_to(seen["local_position/velocity_body"]["twist"], body)
        self.close_to(seen["local_position/odom"], {
            "child_frame_id": "base_link", "pose": {"pose": {"position": {"x": 20.0, "y": 10.0, "z": 5.0}}},
            "twist": {"twist": body}})

        self.close_to(seen["state"], {"connected": True, "armed": True, "guided": True, "manual_input": False,
                                      "mode": "OFFBOARD", "system_status": 4})
        self.close_to(seen["extended_state"], {"vtol_state": 0, "landed_state": 2})
        self.close_to(seen["sys_status"], {"load": 200, "voltage_battery": 16200, "battery_remaining": 87,
                                           "errors_count4": 6})
        self.close_to(seen["battery"], {"voltage": 16.2, "current": -1.0, "percentage": 0.87, "location": "id0",
                                        "power_supply_technology": 3})
        self.assertEqual(len(seen["battery"]["cell_voltage"]), 4)
        self.close_to(seen["statustext/recv"], {"severity": 5, "text": "takeoff detected"})
        self.close_to(seen["rc/in"], {"rssi": 77, "channels": [1100, 1200, 1300, 1400]})
        self.close_to(seen["imu/mag"]["magnetic_field"], {"x": 0.2e-4, "y": -0.1e-4, "z": -0.4e-4}, 9)
        self.close_to(seen["imu/static_pressure"], {"fluid_pressure": 95000.0}, 2)
        self.close_to(seen["imu/temperature_imu"], {"temperature": 36.5})
        for topic in ("global_position/global", "global_position/raw/fix"):
            self.close_to(seen[topic], {"latitude": 47.397742, "longitude": 8.545594}, 7)
        self.close_to(seen["global_position/rel_alt"], {"data": 5.0})
        self.close_to(seen["global_position/compass_hdg"], {"data": 90.0})
        self.close_to(seen["altitude"], {"monotonic": 1.0, "amsl": 2.0, "local": 3.0, "relative": 4.0})
        self.close_to(seen["vfr_hud"], {"airspeed": 12.0, "groundspeed": 13.0, "heading": 90, "throttle": 0.5,
                                        "altitude": 14.0, "climb": 1.5})
        self.close_to(seen["home_position/home"], {"geo": {"latitude": 47.397742, "longitude": 8.545594},
                                                   "position": {"x": 2.0, "y": 1.0, "z": -3.0}})

    def graph(self):
        graph = self.ros2("graph", "-", "/rostrans", "--timeout", "25")
        self.assertEqual(graph.finish(), 0, str(graph))
        self.assertIn("/rostrans", graph.all("nodes")[0]["nodes"])
        topics = {e["topic"]: e for e in graph.all("topic")}
        for kind, names in TOPICS.items():
            for name in names:
                [publisher] = topics[f"/mavros/{name}"]["publishers"]
                self.assertEqual((publisher["node"], publisher["type"]), ("/rostrans", kind))
                self.assertRegex(publisher["hash"], "^RIHS01_[0-9a-f]{64}$")

    def test_udp(self):
        port, vehicle = free_port(), self.udp()
        self.check(lambda frame: vehicle.send(frame, port), f"enable_mavros=true\nmavros_listen_port={port}\n")

    def test_serial(self):
        pty = self.pty()

        def send(frame):
            try:
                pty.write(frame)
            except BlockingIOError:          # nobody reads yet; a UART would lose the bytes as well
                pass

        self.check(send, f"enable_mavros=true\nmavros_transport_mode=serial\nmavros_linux_serial={pty.device}\n")


if __name__ == "__main__":
    unittest.main()
