#!/usr/bin/env python3
"""A ROS 2 node on rclpy that is the clock of a simulation, and says which stamps topics get.

  ros2_clock.py geometry_msgs/msg/PointStamped:/point sensor_msgs/msg/Imu:/mavros/imu/data@best_effort ...

Commands on standard input, one a line:

  run SECONDS     the clock jumps there and goes on, 100 times a second, at the speed of time
  pause           the clock repeats its time
  gone            the clock says nothing
  graph           prints who publishes the topics: {"event": "graph", "publishers": {topic: n}, "node": true}
  mark NAME       prints {"event": "mark", "name": NAME, "now": ns}

Each message prints {"event": "stamp", "topic": ..., "ns": stamp, "now": clock, "epoch": n}; ns is that of the first
transform of a TFMessage. The epoch counts steps back of the clock, now and epoch are those when the message came.

With --follow the node has no clock of its own but follows /clock, as any node with use_sim_time: now is what its
clock says.
"""
import argparse
import os
import sys
import threading

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import peerlib
import rclpy
from builtin_interfaces.msg import Time
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros2_peer import load
from rosgraph_msgs.msg import Clock

PERIOD_NS = 10_000_000


def nanoseconds(stamp):
    return stamp.sec * 1_000_000_000 + stamp.nanosec


class Simulation:
    """The clock's state; the timer thread and the command thread take turns."""

    def __init__(self, node):
        qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.publisher = node.create_publisher(Clock, "/clock", qos)
        self.lock = threading.Lock()
        self.ns, self.mode, self.epoch = 0, "silent", 0

    def tick(self):
        with self.lock:
            if self.mode in ("silent", "gone"):
                return
            if self.mode == "run":
                self.ns += PERIOD_NS
            self.publish()

    def publish(self):
        self.publisher.publish(Clock(clock=Time(sec=self.ns // 10**9, nanosec=self.ns % 10**9)))

    def command(self, words):
        with self.lock:
            if words[0] == "run":
                to = int(float(words[1]) * 1e9)
                self.epoch += to < self.ns
                self.ns = to
                self.mode = "run"
                self.publish()
            else:
                self.mode = words[0]


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("topics", nargs="+", help="TYPE:TOPIC, with @best_effort or @latched behind it")
    args.add_argument("--follow", action="store_true")
    args.add_argument("--timeout", type=float, default=60.0)
    args = args.parse_args()
    rclpy.init()
    node = rclpy.create_node("gz")
    simulation = None if args.follow else Simulation(node)
    if args.follow:
        node.set_parameters([Parameter("use_sim_time", Parameter.Type.BOOL, True)])

    def heard(topic, msg):
        stamp = msg.transforms[0].header.stamp if hasattr(msg, "transforms") else msg.header.stamp
        if args.follow:
            now, epoch = node.get_clock().now().nanoseconds, 0
        else:
            with simulation.lock:
                now, epoch = simulation.ns, simulation.epoch
        peerlib.emit("stamp", topic=topic, ns=nanoseconds(stamp), now=now, epoch=epoch)

    names = []
    for spec in args.topics:
        kind, name = spec.split(":", 1)
        name, _, how = name.partition("@")
        names.append(name)
        qos = QoSProfile(
            depth=100,
            reliability=ReliabilityPolicy.BEST_EFFORT if how == "best_effort" else ReliabilityPolicy.RELIABLE,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if how == "latched" else DurabilityPolicy.VOLATILE)
        node.create_subscription(load(kind), name, lambda msg, name=name: heard(name, msg), qos)
    if simulation:
        node.create_timer(PERIOD_NS / 1e9, simulation.tick)

    def obey():
        for line in sys.stdin:
            words = line.split()
            if not words:
                continue
            if words[0] == "graph":
                publishers = {name: node.count_publishers(name) for name in names}
                peerlib.emit("graph", publishers=publishers, node="rostrans" in node.get_node_names())
            elif words[0] == "mark":
                now = node.get_clock().now().nanoseconds if args.follow else simulation.ns
                peerlib.emit("mark", name=words[1], now=now)
            else:
                simulation.command(words)

    threading.Thread(target=obey, daemon=True).start()
    threading.Timer(args.timeout, lambda: os._exit(1)).start()
    peerlib.emit("ready")
    rclpy.spin(node)


if __name__ == "__main__":
    main()
