#!/usr/bin/env python3
"""One rclpy node that opens String endpoints when told to, by lines on stdin.

  pub TOPIC        publishes numbers on it from now on, ten a second
  sub TOPIC        prints what it hears on it: {"event": "msg", "topic": TOPIC, "data": ...}
"""
import os
import selectors
import sys
import time

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import peerlib
import rclpy
from std_msgs.msg import String


def run():
    rclpy.init()
    node = rclpy.create_node("later", start_parameter_services=False)
    keys = selectors.DefaultSelector()
    keys.register(sys.stdin, selectors.EVENT_READ)
    publishers, subscriptions, number, due, rest = [], [], 0, 0.0, b""
    peerlib.emit("ready")
    while True:
        if keys.select(0):
            chunk = os.read(sys.stdin.fileno(), 4096)
            if not chunk:
                return 0
            *lines, rest = (rest + chunk).split(b"\n")
            for kind, topic in (line.decode().split() for line in lines):
                if kind == "pub":
                    publishers.append(node.create_publisher(String, topic, 10))
                else:
                    heard = lambda msg, topic=topic: peerlib.emit("msg", topic=topic, data=msg.data)
                    subscriptions.append(node.create_subscription(String, topic, heard, 10))
        if time.monotonic() >= due:
            due, number = time.monotonic() + 0.1, number + 1
            for publisher in publishers:
                publisher.publish(String(data=str(number)))
        rclpy.spin_once(node, timeout_sec=0.02)


if __name__ == "__main__":
    peerlib.main(run)
