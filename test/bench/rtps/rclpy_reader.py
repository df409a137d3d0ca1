#!/usr/bin/env python3
"""A Fast DDS reader with its default socket buffers, for rtps-bench: takes serialized images and notes their latency.

Same pipes as the reader in src/child.rs: prints `ready`, begins at `go`, prints `result k=v ...` at `stop`, ends with
its input. Run with bin/ros-python of a venv that test/peers/install.sh made.
"""
import argparse
import os
import struct
import sys
import threading
import time

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image


def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--topics", type=int, default=1)
    parser.add_argument("--reliable", action="store_true")
    parser.add_argument("--domain", type=int, default=1)
    options = parser.parse_args()
    os.environ["ROS_DOMAIN_ID"] = str(options.domain)

    rclpy.init()
    node = rclpy.create_node("bench_reader")
    kind = ReliabilityPolicy.RELIABLE if options.reliable else ReliabilityPolicy.BEST_EFFORT
    latencies, times = [], []

    def take(data):
        if len(data) < 12:  # Fast DDS also hands over places of samples that were given up
            return
        now = time.time_ns()
        seconds, nanos = struct.unpack_from("<II", data, 4)
        latencies.append(now - (seconds * 1_000_000_000 + nanos))
        times.append(now)

    readers = [node.create_subscription(Image, f"bench{n}", take, QoSProfile(depth=10, reliability=kind), raw=True)
               for n in range(options.topics)]

    def control():
        cpu = 0
        for line in sys.stdin:
            if line.strip() == "go":
                cpu = time.process_time_ns()
            elif line.strip() == "stop":
                used = (time.process_time_ns() - cpu) // 1000
                ordered = sorted(latencies)
                at = lambda percent: ordered[(len(ordered) - 1) * percent // 100] // 1000 if ordered else 0
                span = (times[-1] - times[0]) // 1000 if times else 0
                print(f"result received={len(ordered)} disorder=0 span_us={span} p50_us={at(50)} p99_us={at(99)} "
                      f"cpu_us={used} rss_kib={status('VmRSS')} peak_kib={status('VmHWM')}", flush=True)
        os._exit(0)

    threading.Thread(target=control, daemon=True).start()
    print("ready", flush=True)
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    del readers


if __name__ == "__main__":
    main()
