#!/usr/bin/env python3
"""An rclpy node whose endpoints have any QoS, driven by a test; see qos_peer.py."""
import os

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import peerlib
import rclpy
from qos_peer import QosPeer, seconds
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.qos import DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String


def profile(qos):
    periods = {}
    for ours, theirs in (("deadline_ms", "deadline"), ("lifespan_ms", "lifespan"),
                         ("lease_ms", "liveliness_lease_duration")):
        if ours in qos:
            periods[theirs] = Duration(nanoseconds=round(seconds(qos, ours) * 1e9))
    return QoSProfile(
        history=HistoryPolicy.KEEP_ALL if qos.get("keep_all") else HistoryPolicy.KEEP_LAST,
        depth=qos.get("depth", 10),
        reliability=ReliabilityPolicy.RELIABLE if qos.get("reliable", True) else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if qos.get("latched") else DurabilityPolicy.VOLATILE,
        liveliness=LivelinessPolicy[qos.get("liveliness", "automatic").upper()], **periods)


class Ros2Qos(QosPeer):
    def __init__(self):
        super().__init__()
        rclpy.init()
        self.node = rclpy.create_node(f"qos_{os.getpid()}", start_parameter_services=False, enable_rosout=False)
        self.made = {}

    def pub(self, name, topic, qos):
        events = PublisherEventCallbacks(
            deadline=lambda e: peerlib.emit("deadline", id=name, total=e.total_count),
            liveliness=lambda e: peerlib.emit("lost", id=name, total=e.total_count),
            incompatible_qos=lambda e: self.incompatible(name, e))
        self.made[name] = self.node.create_publisher(String, topic, profile(qos), event_callbacks=events)

    def sub(self, name, topic, qos):
        events = SubscriptionEventCallbacks(
            deadline=lambda e: peerlib.emit("deadline", id=name, total=e.total_count),
            liveliness=lambda e: peerlib.emit("liveliness", id=name, alive=e.alive_count,
                                              not_alive=e.not_alive_count),
            incompatible_qos=lambda e: self.incompatible(name, e))
        self.made[name] = self.node.create_subscription(
            String, topic, lambda msg: peerlib.emit("sample", id=name, text=msg.data), profile(qos),
            event_callbacks=events)

    def incompatible(self, name, event):
        policy = rclpy.qos.qos_policy_name_from_kind(event.last_policy_kind)
        peerlib.emit("incompatible", id=name, policy=policy.removesuffix("_QOS_POLICY").lower())

    def write(self, name, text):
        self.made[name].publish(String(data=text))

    def alive(self, name):
        self.made[name].assert_liveliness()

    def matched(self, name):
        endpoint = self.made[name]
        return endpoint.get_subscription_count() if hasattr(endpoint, "publish") else endpoint.get_publisher_count()

    def history(self, topic):
        lists = self.node.get_publishers_info_by_topic(topic), self.node.get_subscriptions_info_by_topic(topic)
        return [[info.qos_profile.history.name.lower() for info in infos] for infos in lists]

    def drop(self, name):
        endpoint = self.made.pop(name)
        destroy = self.node.destroy_publisher if hasattr(endpoint, "publish") else self.node.destroy_subscription
        destroy(endpoint)

    def poll(self, wait):
        rclpy.spin_once(self.node, timeout_sec=wait)


if __name__ == "__main__":
    peerlib.main(Ros2Qos().run)
