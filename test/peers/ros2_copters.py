#!/usr/bin/env python3
"""Flies a square with vehicles of CopterSim through MAVROS's topics and services, on rclpy; see copter_flight.py.

  ros2_copters.py                              /mavros
  ros2_copters.py --vehicles 10 --few          /mavros, /mavros2, ... at once, reading only pose and state

Prints `connected`, `mode`, `armed`, `climbed`, `reached` for each corner, `square`, `landed` and a `summary` of each vehicle.
"""
import math
import os
import time

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import copter_flight
import peerlib
import rclpy
from geometry_msgs.msg import PoseStamped, TwistStamped
from mavros_msgs.msg import State
from mavros_msgs.srv import CommandBool, CommandTOL, SetMode
from nav_msgs.msg import Odometry
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Imu, NavSatFix

KINDS = dict(zip(copter_flight.TOPICS, [PoseStamped, State, TwistStamped, TwistStamped, Odometry, NavSatFix, Imu]))
SERVICES = {"set_mode": SetMode, "cmd/arming": CommandBool, "cmd/land": CommandTOL}


class Link:
    def __init__(self, node, flight, topics):
        self.node, self.flight = node, flight
        flight.link = self
        base = copter_flight.prefix(flight.vehicle)
        for topic in topics:
            qos = 10 if topic == "state" else qos_profile_sensor_data
            node.create_subscription(KINDS[topic], f"{base}/{topic}", self.reader(topic), qos)
        self.positions = node.create_publisher(PoseStamped, f"{base}/setpoint_position/local", 10)
        self.velocities = node.create_publisher(TwistStamped, f"{base}/setpoint_velocity/cmd_vel", 10)
        self.services = {name: node.create_client(kind, f"{base}/{name}") for name, kind in SERVICES.items()}

    def reader(self, topic):
        def on_message(msg):
            stamp = msg.header.stamp
            self.flight.seen(topic, msg, stamp.sec + stamp.nanosec * 1e-9)
        return on_message

    def ready(self):
        publishers = (self.positions, self.velocities)
        return all(p.get_subscription_count() for p in publishers) and all(
            s.service_is_ready() for s in self.services.values())

    def call(self, name, **fields):
        service = self.services[name]
        answer = service.call_async(service.srv_type.Request(**fields))
        answer.add_done_callback(lambda f: self.flight.emit("answer", service=name, result=str(f.result())))

    def velocity(self, x, y, z, yaw_rate):
        message = TwistStamped()
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.twist.linear.x, message.twist.linear.y, message.twist.linear.z = x, y, z
        message.twist.angular.z = yaw_rate
        self.velocities.publish(message)

    def position(self, x, y, z, yaw):
        message = PoseStamped()
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.header.frame_id = "map"
        message.pose.position.x, message.pose.position.y, message.pose.position.z = x, y, z
        message.pose.orientation.w, message.pose.orientation.z = math.cos(yaw / 2), math.sin(yaw / 2)
        self.positions.publish(message)


def run():
    p = copter_flight.arguments(__doc__)
    p.add_argument("--few", action="store_true", help="read only what it takes to fly")
    args = p.parse_args()
    rclpy.init()
    node = rclpy.create_node("copters", start_parameter_services=False)
    flights = [copter_flight.Flight(n, args) for n in range(args.first, args.first + args.vehicles)]
    for flight in flights:
        Link(node, flight, copter_flight.TOPICS[:2] if args.few else copter_flight.TOPICS)
    executor = rclpy.executors.SingleThreadedExecutor()
    executor.add_node(node)

    def spin(seconds):
        end = time.monotonic() + seconds
        while True:
            executor.spin_once(timeout_sec=max(0.0, end - time.monotonic()))
            if time.monotonic() >= end:
                return

    status = copter_flight.fly(flights, spin, args.timeout)
    rclpy.try_shutdown()
    return status


if __name__ == "__main__":
    peerlib.main(run)
