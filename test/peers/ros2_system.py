#!/usr/bin/env python3
"""A small ROS 2 system on rclpy, and what rclpy itself says about the whole graph.

  ros2_system.py /robot            two nodes in that namespace, with topics of every QoS policy and services

Prints `ready`; for each line on stdin it then prints `graph` with all that the graph calls of rclpy report: nodes, topics
with their endpoints (GID as dotted hexadecimal, QoS with durations in nanoseconds, null where infinite or unknown),
services and actions. Ends with stdin or after --timeout.
"""
import argparse
import os
import select
import sys
import time

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import peerlib
import rclpy
from rclpy.action import get_action_names_and_types
from rclpy.duration import Duration
from rclpy.qos import (DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy,
                       qos_profile_sensor_data)
from sensor_msgs.msg import Imu, LaserScan
from std_msgs.msg import Int32, String
from std_srvs.srv import SetBool, Trigger

INFINITE = 2**63 - 1


def build(namespace, kind):
    """The nodes; what they own lives as long as they do."""
    first = rclpy.create_node("first", namespace=namespace)
    second = rclpy.create_node("second", namespace=namespace, start_parameter_services=False)
    timed = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT, deadline=Duration(seconds=0.25),
                       lifespan=Duration(seconds=2), liveliness=LivelinessPolicy.MANUAL_BY_TOPIC,
                       liveliness_lease_duration=Duration(seconds=1.5))
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    everything = QoSProfile(history=HistoryPolicy.KEEP_ALL)
    first.create_publisher(LaserScan, "scan", timed)
    first.create_publisher(String, "map", latched)
    first.create_publisher(String, "all", everything)
    first.create_publisher(String, "_hidden/inner", 10)
    first.create_publisher(Imu, "imu", qos_profile_sensor_data)
    second.create_subscription(String, "map", lambda _: None, latched)
    second.create_subscription(Imu, "imu", lambda _: None, 10)            # asks for more than is offered
    # One topic, and a type for each system.
    first.create_publisher(kind, "/shared/kind", 10)
    second.create_subscription(kind, "/shared/kind", lambda _: None, 10)
    second.create_subscription(LaserScan, "/shared/scan", lambda _: None, timed)
    first.create_publisher(LaserScan, "/shared/scan", timed)
    first.create_service(SetBool, "set", lambda _, response: response)
    second.create_client(Trigger, "get")
    return first, second


def nanoseconds(duration):
    return None if duration.nanoseconds >= INFINITE else duration.nanoseconds


def endpoint(info):
    qos = info.qos_profile
    history = qos.history.name.lower()
    return {"namespace": info.node_namespace, "node": info.node_name, "type": info.topic_type,
            "hash": str(info.topic_type_hash), "gid": ".".join(f"{b:02x}" for b in info.endpoint_gid[:16]),
            "reliability": qos.reliability.name.lower(), "durability": qos.durability.name.lower(),
            "history": None if history == "unknown" else history, "depth": qos.depth,
            "deadline_ns": nanoseconds(qos.deadline), "lifespan_ns": nanoseconds(qos.lifespan),
            "liveliness": qos.liveliness.name.lower(),
            "liveliness_lease_ns": nanoseconds(qos.liveliness_lease_duration)}


def report(node):
    topics = {name: {"types": sorted(types),
                     "publishers": [endpoint(i) for i in node.get_publishers_info_by_topic(name)],
                     "subscribers": [endpoint(i) for i in node.get_subscriptions_info_by_topic(name)]}
              for name, types in node.get_topic_names_and_types()}
    nodes = []
    for name, namespace, enclave in node.get_node_names_and_namespaces_with_enclaves():
        calls = {"publishers": node.get_publisher_names_and_types_by_node,
                 "subscribers": node.get_subscriber_names_and_types_by_node,
                 "service_servers": node.get_service_names_and_types_by_node,
                 "service_clients": node.get_client_names_and_types_by_node}
        lists = {key: {n: sorted(t) for n, t in call(name, namespace)} for key, call in calls.items()}
        nodes.append({"node_name": name, "namespace": namespace, "enclave": enclave, **lists})
    peerlib.emit("graph", topics=topics, nodes=nodes,
                 services={name: sorted(types) for name, types in node.get_service_names_and_types()},
                 actions={name: sorted(types) for name, types in get_action_names_and_types(node)})


def run():
    top = argparse.ArgumentParser(description=__doc__)
    top.add_argument("namespace")
    top.add_argument("--kind", choices=("String", "Int32"), default="String", help="type of the topic /shared/kind")
    top.add_argument("--timeout", type=float, default=60.0)
    args = top.parse_args()
    deadline = time.monotonic() + args.timeout
    rclpy.init()
    nodes = build(args.namespace, {"String": String, "Int32": Int32}[args.kind])
    peerlib.emit("ready")
    while time.monotonic() < deadline:
        for node in nodes:
            rclpy.spin_once(node, timeout_sec=0.02)
        if select.select([sys.stdin], [], [], 0.02)[0]:
            if not sys.stdin.readline():
                break
            report(nodes[0])
    rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    peerlib.main(run)
