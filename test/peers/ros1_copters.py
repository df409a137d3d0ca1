#!/usr/bin/python3
"""Flies a square with vehicles of CopterSim through MAVROS's topics and services, on rospy; see copter_flight.py.

  ros1_copters.py                              /mavros
  ros1_copters.py --vehicles 10 --few          /mavros, /mavros2, ... at once, reading only pose and state

Needs mavros_msgs (build_ros1_msgs.sh) on PYTHONPATH and a ROS master. Prints what ros2_copters.py prints.
"""
import math
import os
import threading
import time

os.environ.setdefault("ROS_MASTER_URI", "http://127.0.0.1:11311")
os.environ.setdefault("ROS_IP", "127.0.0.1")

import copter_flight
import peerlib
import rospy
from geometry_msgs.msg import PoseStamped, TwistStamped
from mavros_msgs.msg import State
from mavros_msgs.srv import CommandBool, CommandTOL, SetMode
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, NavSatFix

KINDS = dict(zip(copter_flight.TOPICS, [PoseStamped, State, TwistStamped, TwistStamped, Odometry, NavSatFix, Imu]))
SERVICES = {"set_mode": SetMode, "cmd/arming": CommandBool, "cmd/land": CommandTOL}


class Link:
    def __init__(self, flight, topics, lock):
        self.flight, self.lock = flight, lock
        flight.link = self
        base = copter_flight.prefix(flight.vehicle)
        self.subscribers = [rospy.Subscriber(f"{base}/{topic}", KINDS[topic], self.seen, topic, queue_size=50) for topic in topics]
        self.positions = rospy.Publisher(f"{base}/setpoint_position/local", PoseStamped, queue_size=10)
        self.velocities = rospy.Publisher(f"{base}/setpoint_velocity/cmd_vel", TwistStamped, queue_size=10)
        self.names = {name: f"{base}/{name}" for name in SERVICES}
        self.there = False

    def seen(self, msg, topic):
        with self.lock:
            self.flight.seen(topic, msg, msg.header.stamp.to_sec())

    def ready(self):
        if not self.there:
            try:
                for name in self.names.values():
                    rospy.wait_for_service(name, timeout=0.01)
                self.there = True
            except rospy.ROSException:
                return False
        return self.positions.get_num_connections() > 0 and self.velocities.get_num_connections() > 0

    def call(self, name, **fields):
        """In a thread: a call of rospy waits for its answer, and setpoints must go on."""
        def ask():
            try:
                answer = rospy.ServiceProxy(self.names[name], SERVICES[name])(**fields)
            except rospy.ServiceException as error:
                answer = error
            with self.lock:
                self.flight.emit("answer", service=name, result=str(answer))
        threading.Thread(target=ask, daemon=True).start()

    def velocity(self, x, y, z, yaw_rate):
        message = TwistStamped()
        message.header.stamp = rospy.Time.now()
        message.twist.linear.x, message.twist.linear.y, message.twist.linear.z = x, y, z
        message.twist.angular.z = yaw_rate
        self.velocities.publish(message)

    def position(self, x, y, z, yaw):
        message = PoseStamped()
        message.header.stamp = rospy.Time.now()
        message.header.frame_id = "map"
        message.pose.position.x, message.pose.position.y, message.pose.position.z = x, y, z
        message.pose.orientation.w, message.pose.orientation.z = math.cos(yaw / 2), math.sin(yaw / 2)
        self.positions.publish(message)


def run():
    p = copter_flight.arguments(__doc__)
    p.add_argument("--few", action="store_true", help="read only what it takes to fly")
    args = p.parse_args()
    rospy.init_node("copters", anonymous=True, disable_signals=True, disable_rosout=True)
    lock = threading.RLock()
    flights = [copter_flight.Flight(n, args) for n in range(args.first, args.first + args.vehicles)]
    for flight in flights:
        Link(flight, copter_flight.TOPICS[:2] if args.few else copter_flight.TOPICS, lock)
        flight.tick = locked(flight.tick, lock)
    try:
        return copter_flight.fly(flights, time.sleep, args.timeout)
    finally:
        rospy.signal_shutdown("done")


def locked(call, lock):
    """Callbacks of rospy have threads of their own."""
    def within():
        with lock:
            call()
    return within


if __name__ == "__main__":
    peerlib.main(run)
