#!/usr/bin/env python3
"""Five subscriptions to MAVROS topics with rclpy, for scripts/bench-mavros: counts and latencies.

Prints JSON lines and obeys lines on its input: `ready` waits until all are matched and messages come, `reset` forgets,
`count FILE` tells what came since; FILE has the time at which each number was sent. Run with bin/ros-python of a venv
that test/peers/install.sh made.
"""
import array
import json
import os
import sys
import threading
import time

import rclpy
from geometry_msgs.msg import PoseStamped
from mavros_msgs.msg import VfrHud
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64

# Topic, type, and the number of the MAVLink message behind a message.
TOPICS = [
    ("imu/data", Imu, lambda m: m.angular_velocity.x),
    ("imu/data_raw", Imu, lambda m: m.angular_velocity.x),
    ("local_position/pose", PoseStamped, lambda m: m.pose.position.y),
    ("global_position/rel_alt", Float64, lambda m: m.data * 1000),
    ("vfr_hud", VfrHud, lambda m: m.airspeed),
]


def say(**event):
    print(json.dumps(event), flush=True)


def main():
    rclpy.init()
    node = rclpy.create_node("bench_reader")
    got = {topic: [] for topic, _, _ in TOPICS}

    def taker(topic, read):
        def take(message):
            got[topic].append((round(read(message)), time.time_ns()))
        return take

    qos = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
    subscriptions = [node.create_subscription(kind, f"/mavros/{topic}", taker(topic, read), qos)
                     for topic, kind, read in TOPICS]

    def count(path):
        sent = array.array("Q")
        with open(path, "rb") as times:
            sent.frombytes(times.read())
        late = sorted(at - sent[number] for pairs in got.values() for number, at in pairs if 0 <= number < len(sent))
        at = lambda percent: round(late[(len(late) - 1) * percent // 100] / 1000) if late else None
        say(event="count", p50_us=at(50), p99_us=at(99), topics={topic: len(pairs) for topic, pairs in got.items()})

    def obey():
        for line in sys.stdin:
            order, *rest = line.split()
            if order == "ready":
                while not all(got.values()):
                    time.sleep(0.1)
                say(event="ready")
            elif order == "reset":
                for pairs in got.values():
                    pairs.clear()
                say(event="reset")
            elif order == "count":
                count(rest[0])
        os._exit(0)

    threading.Thread(target=obey, daemon=True).start()
    rclpy.spin(node)
    del subscriptions


if __name__ == "__main__":
    main()
