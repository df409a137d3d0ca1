#!/usr/bin/env python3
"""A ROS 2 program that is told what to do on stdin, one JSON object a line, so that one process makes many calls.

  {"do": "call", "service": "/mavros/mission/pull", "type": "mavros_msgs/srv/WaypointPull", "request": {}}
        -> response (service, msg, ms), when it comes; "fill": {"data": 1000} gives a byte array a pattern
  {"do": "watch", "topic": "/mavros/state", "type": "mavros_msgs/msg/State", "qos": "sensor_data", "print": true}
        qos: default, sensor_data, latched; with print each message comes as msg (topic, msg); with full, long
        arrays are not cut
  {"do": "publish", "topic": "/mavros/play_tune", "type": "mavros_msgs/msg/PlayTuneV2", "msg": {"tune": "a"}}
        once, as soon as somebody subscribes -> published (topic, subscribers)
  {"do": "seen"}                     -> seen: for each topic how many came, and the last
  {"do": "parameters", "node": "/mavros/param", "call": "get", "names": ["A", "B"]}
        rclpy's AsyncParameterClient: get, types, describe, list, set (with "values"), atomically
        -> parameters (call, result, ms)
"""
import argparse
import array
import json
import os
import queue
import sys
import threading
import time

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import peerlib
import rclpy
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from ros2_peer import fill, load, to_dict

QOS = {"default": 10, "sensor_data": qos_profile_sensor_data,
       "latched": QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)}


class Client:
    def __init__(self, node):
        self.node, self.clients, self.parameter_clients, self.seen = node, {}, {}, {}
        self.publishers = {}

    def call(self, service, type, request=None, fill_=None, wait=20.0):
        cls = load(type)
        if service not in self.clients:
            self.clients[service] = self.node.create_client(cls, service)
        client = self.clients[service]
        message = fill(cls.Request(), request or {})
        for field, n in (fill_ or {}).items():
            setattr(message, field, array.array("B", peerlib.pattern(n)))
        if not client.wait_for_service(timeout_sec=wait):
            peerlib.emit("response", service=service, msg=None, error="no such service")
            return
        start = time.monotonic()

        def answered(future):
            peerlib.emit("response", service=service, ms=round((time.monotonic() - start) * 1e3),
                         msg=peerlib.shorten(to_dict(future.result())))

        client.call_async(message).add_done_callback(answered)

    def watch(self, topic, type, qos="default", print=False, full=False):
        self.seen[topic] = {"count": 0, "last": None, "full": full}

        def on_message(msg):
            row = self.seen[topic]
            row["count"] += 1
            row["last"] = msg
            if print:
                peerlib.emit("msg", topic=topic, msg=peerlib.shorten(to_dict(msg)))

        self.node.create_subscription(load(type), topic, on_message, QOS[qos])

    def publish(self, topic, type, msg, wait=20.0):
        if topic not in self.publishers:
            self.publishers[topic] = self.node.create_publisher(load(type), topic, 10)
        publisher, deadline = self.publishers[topic], time.monotonic() + wait
        while not publisher.get_subscription_count() and time.monotonic() < deadline:
            rclpy.spin_once(self.node, timeout_sec=0.01)
        message = load(type)()
        fill(message, msg)
        publisher.publish(message)
        peerlib.emit("published", topic=topic, subscribers=publisher.get_subscription_count())

    def report(self):
        peerlib.emit("seen", topics={topic: {"count": row["count"], "last": peerlib.shorten(to_dict(row["last"]), row["full"])}
                                     for topic, row in self.seen.items()})

    def parameters(self, node, call, names=None, values=None, wait=20.0):
        if node not in self.parameter_clients:
            self.parameter_clients[node] = AsyncParameterClient(self.node, node)
        client = self.parameter_clients[node]
        if not client.wait_for_services(timeout_sec=wait):
            peerlib.emit("parameters", call=call, result=None, error="no such services")
            return
        calls = {"get": client.get_parameters, "types": client.get_parameter_types,
                 "describe": client.describe_parameters, "list": client.list_parameters}
        start = time.monotonic()
        if call in calls:
            future = calls[call](names or [])
        else:
            params = [Parameter(name, value=value) for name, value in values.items()]
            future = (client.set_parameters if call == "set" else client.set_parameters_atomically)(params)

        def answered(future):
            peerlib.emit("parameters", call=call, ms=round((time.monotonic() - start) * 1e3),
                         result=peerlib.shorten(to_dict(future.result()), full=True))

        future.add_done_callback(answered)


def run():
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--node", default="client")
    top.add_argument("--timeout", type=float, default=55.0)
    args = top.parse_args()
    deadline = time.monotonic() + args.timeout
    rclpy.init()
    node = rclpy.create_node(args.node, start_parameter_services=False)
    client, commands = Client(node), queue.Queue()
    threading.Thread(target=lambda: [commands.put(line) for line in sys.stdin], daemon=True).start()
    actions = {"call": client.call, "watch": client.watch, "seen": client.report, "parameters": client.parameters,
               "publish": client.publish}
    peerlib.emit("ready")
    while time.monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.01)
        while not commands.empty():
            command = json.loads(commands.get())
            if "fill" in command:
                command["fill_"] = command.pop("fill")
            actions[command.pop("do")](**command)
    rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    peerlib.main(run)
