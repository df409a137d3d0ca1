#!/usr/bin/env python3
"""Flies a square with a vehicle behind MAVROS, the way the manuals of PX4 and MAVROS teach it.

  ros2_flight.py                              OFFBOARD on PX4: stream setpoints, set_mode, arming, climb, square, AUTO.LAND
  ros2_flight.py --guided                     ArduPilot: streams, GUIDED, arming, cmd/takeoff, square, cmd/land
  ros2_flight.py --prefix /mavros2 --side 2

Subscriptions ask for the default QoS where MAVROS offers reliable topics, and for sensor data where it does not. Prints
`connected`, `mode`, `armed`, `reached` for each corner, `landed`, and a `summary` with the messages received by topic.
"""
import argparse
import math
import os
import time

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import peerlib
import rclpy
from geometry_msgs.msg import PoseStamped
from mavros_msgs.msg import ExtendedState, HomePosition, State, StatusText, VfrHud
from mavros_msgs.srv import CommandBool, CommandTOL, SetMode, StreamRate
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import BatteryState, Imu, NavSatFix

RATE_HZ = 20
# PX4 wants a stream before OFFBOARD; the manual sends some setpoints first.
SETPOINTS_BEFORE = 40
# Requests are repeated after this, as in PX4's example (seconds).
AGAIN_S = 5.0
NEAR_M = 0.25


class Flight(Node):
    def __init__(self, args):
        super().__init__(args.node)
        self.args, self.state, self.pose = args, State(), None
        self.counts, self.errors = {}, []
        self.asked, self.sent, self.step = -math.inf, 0, self.wait_connected
        side, up = args.side, args.altitude
        self.corners = [(0.0, 0.0, up), (side, 0.0, up), (side, side, up), (0.0, side, up), (0.0, 0.0, up)]
        self.goal, self.done = (0.0, 0.0, up), False
        for kind, name in ((State, "state"), (ExtendedState, "extended_state"), (HomePosition, "home_position/home"),
                           (VfrHud, "vfr_hud")):
            self.watch(kind, name, 10)
        for kind, name in ((PoseStamped, "local_position/pose"), (BatteryState, "battery"), (Imu, "imu/data"),
                           (NavSatFix, "global_position/global"), (StatusText, "statustext/recv")):
            self.watch(kind, name, qos_profile_sensor_data)
        self.setpoints = self.create_publisher(PoseStamped, f"{args.prefix}/setpoint_position/local", 10)
        client = lambda kind, name: self.create_client(kind, f"{args.prefix}/{name}")
        self.set_mode, self.arming = client(SetMode, "set_mode"), client(CommandBool, "cmd/arming")
        self.takeoff, self.land = client(CommandTOL, "cmd/takeoff"), client(CommandTOL, "cmd/land")
        self.stream_rate = client(StreamRate, "set_stream_rate")
        self.create_timer(1 / RATE_HZ, self.tick)

    def watch(self, kind, name, qos):
        self.counts[name] = 0

        def on_message(msg):
            self.counts[name] += 1
            if name == "state":
                self.state = msg
            elif name == "local_position/pose":
                self.pose = msg.pose.position

        self.create_subscription(kind, f"{self.args.prefix}/{name}", on_message, qos)

    def call(self, client, **fields):
        """Calls a service unless the last call is too recent; logs what it answers."""
        now = time.monotonic()
        if now - self.asked < AGAIN_S:
            return
        self.asked = now
        answer = client.call_async(client.srv_type.Request(**fields))
        answer.add_done_callback(lambda f: peerlib.emit("answer", service=client.srv_name, result=str(f.result())))

    def next(self, step, event, **fields):
        peerlib.emit(event, **fields)
        self.step, self.asked = step, -math.inf

    def tick(self):
        # ArduPilot's GUIDED keeps the last position it was told; OFFBOARD wants the stream before, and all the time.
        if self.step in ((self.fly,) if self.args.guided else (self.request_mode, self.request_arming, self.fly)):
            message = PoseStamped()
            message.header.stamp = self.get_clock().now().to_msg()
            message.header.frame_id = "map"
            message.pose.position.x, message.pose.position.y, message.pose.position.z = self.goal
            message.pose.orientation.w = 1.0
            self.setpoints.publish(message)
            self.sent += 1
        self.step()

    # The steps, each run at every tick until it hands over to the next.
    def wait_connected(self):
        services = [self.set_mode, self.arming, self.land]
        if self.state.connected and all(s.service_is_ready() for s in services):
            self.next(self.request_streams if self.args.guided else self.request_mode, "connected", mode=self.state.mode)

    def request_streams(self):
        if self.pose is not None:
            self.next(self.request_mode, "streams")
        else:
            self.call(self.stream_rate, stream_id=0, message_rate=20, on_off=True)

    def request_mode(self):
        mode = "GUIDED" if self.args.guided else "OFFBOARD"
        if self.state.mode == mode:
            self.next(self.request_arming, "mode", mode=mode)
        elif self.args.guided or self.sent > SETPOINTS_BEFORE:
            self.call(self.set_mode, custom_mode=mode)

    def request_arming(self):
        if self.state.armed:
            self.next(self.climb if self.args.guided else self.fly, "armed")
        else:
            self.call(self.arming, value=True)

    def climb(self):
        if self.pose and self.pose.z > self.args.altitude - NEAR_M:
            self.next(self.fly, "climbed", z=round(self.pose.z, 2))
        else:
            self.call(self.takeoff, altitude=self.args.altitude)

    def fly(self):
        p = self.pose
        if p and math.dist((p.x, p.y, p.z), self.goal) < NEAR_M:
            peerlib.emit("reached", corner=self.goal, position=[round(v, 2) for v in (p.x, p.y, p.z)])
            self.corners.pop(0)
            if self.corners:
                self.goal = self.corners[0]
            else:
                self.next(self.wait_landed, "square")

    def wait_landed(self):
        if not self.state.armed:
            self.next(self.wait_for_rare_topics, "landed", z=round(self.pose.z, 2))
        elif self.args.guided:
            self.call(self.land)
        else:
            self.call(self.set_mode, custom_mode="AUTO.LAND")

    def wait_for_rare_topics(self):
        self.done = all(self.counts.values())


def run():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--prefix", default="/mavros")
    p.add_argument("--node", default="flight")
    p.add_argument("--guided", action="store_true", help="for ArduPilot")
    p.add_argument("--side", type=float, default=2.0, help="metres")
    p.add_argument("--altitude", type=float, default=2.5, help="metres")
    p.add_argument("--timeout", type=float, default=50.0)
    args = p.parse_args()
    deadline = time.monotonic() + args.timeout
    rclpy.init()
    flight = Flight(args)
    peerlib.emit("ready")
    while not flight.done and time.monotonic() < deadline:
        rclpy.spin_once(flight, timeout_sec=0.1)
    peerlib.emit("summary", ok=flight.done, step=flight.step.__name__, sent=flight.sent, counts=flight.counts,
                 state=[flight.state.connected, flight.state.armed, flight.state.mode])
    rclpy.try_shutdown()
    return 0 if flight.done else 1


if __name__ == "__main__":
    peerlib.main(run)
