#!/usr/bin/env python3
"""Many rclpy publishers and subscriptions of serialized samples, driven by a test; see exchange.py.

  ros2_exchange.py PLAN NAME...

Every NAME is a node and a DDS participant of its own.
"""
import argparse
import os

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import peerlib
import rclpy
from exchange import Exchange, Plan
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros2_peer import load


class Ros2Exchange(Exchange):
    """Nodes of one process. Samples are taken without an executor: that is what lets one process hold hundreds."""

    def __init__(self, plan, names):
        super().__init__()
        self.by_name = {}
        for name in names:
            context = rclpy.Context()
            context.init()
            self.by_name[name] = rclpy.create_node(name, context=context, start_parameter_services=False,
                                                   enable_rosout=False)
        for spec in plan.endpoints:
            node, kind = self.by_name[spec["peer"]], plan.kinds[spec["kind"]]
            qos = QoSProfile(depth=spec["depth"],
                             reliability=ReliabilityPolicy.RELIABLE if spec["reliable"] else ReliabilityPolicy.BEST_EFFORT,
                             durability=DurabilityPolicy.TRANSIENT_LOCAL if spec["latched"] else DurabilityPolicy.VOLATILE)
            cls = load(kind.type)
            if spec["side"] == "pub":
                self.publishers.append((spec, node.create_publisher(cls, spec["topic"], qos)))
            else:
                # The callback is never called: `take` goes to the handle.
                handle = node.create_subscription(cls, spec["topic"], lambda _: None, qos, raw=True)
                self.subscribe(spec, handle, kind)

    def write(self, handle, data):
        handle.publish(data)

    def take(self, handle):
        while True:
            with handle.handle:
                taken = handle.handle.take_message(handle.msg_type, True)
            # Fast DDS hands out an empty sample while fragments of the oldest one are missing.
            if taken is None or not taken[0]:
                return
            yield bytes(taken[0])

    def matched(self, handle):
        return handle.get_subscription_count() if hasattr(handle, "get_subscription_count") else handle.get_publisher_count()

    def nodes(self):
        node = next(iter(self.by_name.values()))
        return [f"{namespace.rstrip('/')}/{name}" for name, namespace in node.get_node_names_and_namespaces()]


def run():
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("plan")
    top.add_argument("names", nargs="+")
    args = top.parse_args()
    plan = Plan(args.plan, args.names)
    return Ros2Exchange(plan, args.names).run(plan)


if __name__ == "__main__":
    peerlib.main(run)
