#!/usr/bin/env python3
"""Subscribes to many ROS 2 topics at once and prints every message.

  ros2_watch.py std_msgs/msg/String:/chatter sensor_msgs/msg/Imu:/mavros/imu/data@best_effort --timeout 20

Each topic may end in @best_effort; the default is reliable, as a plain rclpy subscription asks for. Prints `ready` when
all subscriptions exist, `matched` once for each topic that has a publisher, and `msg` with topic and fields.
"""
import argparse
import os
import time

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import peerlib
import rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy
from ros2_peer import load, to_dict


def run():
    top = argparse.ArgumentParser(description=__doc__)
    top.add_argument("topics", nargs="+", metavar="TYPE:TOPIC[@best_effort]")
    top.add_argument("--node", default="watch")
    top.add_argument("--timeout", type=float, default=10.0)
    args = top.parse_args()
    deadline = time.monotonic() + args.timeout
    rclpy.init()
    node = rclpy.create_node(args.node, start_parameter_services=False)
    unmatched = []
    for item in args.topics:
        kind, topic = item.split(":", 1)
        topic, _, reliability = topic.partition("@")
        qos = QoSProfile(depth=50, reliability=ReliabilityPolicy[(reliability or "reliable").upper()])

        def on_message(msg, topic=topic):
            peerlib.emit("msg", topic=topic, t=round(time.time(), 6), msg=peerlib.shorten(to_dict(msg)))

        node.create_subscription(load(kind), topic, on_message, qos)
        unmatched.append(topic)
    peerlib.emit("ready", topics=len(unmatched))
    while time.monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.05)
        for topic in [t for t in unmatched if node.count_publishers(t)]:
            unmatched.remove(topic)
            peerlib.emit("matched", topic=topic)
    rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    peerlib.main(run)
