#!/usr/bin/env python3
"""A Cyclone DDS participant whose endpoints have any QoS, driven by a test; see qos_peer.py."""
import ctypes
import os
import queue
import time

import cyclone_peer
import peerlib
import rostypes
from cyclonedds.core import Listener, Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.internal import c_call, dds_c_t
from cyclonedds.pub import DataWriter, Publisher
from cyclonedds.sub import DataReader, Subscriber
from cyclonedds.topic import Topic
from cyclonedds.util import duration
from qos_peer import QosPeer, seconds

STRING = "std_msgs/msg/String"
# DDS_<NAME>_QOS_POLICY_ID of the Cyclone C interface.
POLICIES = {2: "durability", 4: "deadline", 6: "ownership", 8: "liveliness", 10: "partition", 11: "reliability"}
LIVELINESS = {"automatic": Policy.Liveliness.Automatic, "manual_by_topic": Policy.Liveliness.ManualByTopic,
              "manual_by_participant": Policy.Liveliness.ManualByParticipant}


def nanoseconds(qos, key):
    value = seconds(qos, key)
    return duration(infinite=True) if value is None else round(value * 1e9)


def policies(qos, is_writer):
    history = Policy.History.KeepAll if qos.get("keep_all") else Policy.History.KeepLast(qos.get("depth", 10))
    reliable = qos.get("reliable", True)
    chosen = [Policy.Reliability.Reliable(duration(milliseconds=100)) if reliable else Policy.Reliability.BestEffort,
              Policy.Durability.TransientLocal if qos.get("latched") else Policy.Durability.Volatile,
              history,
              Policy.Deadline(nanoseconds(qos, "deadline_ms")),
              LIVELINESS[qos.get("liveliness", "automatic")](nanoseconds(qos, "lease_ms")),
              Policy.Ownership.Exclusive if "strength" in qos else Policy.Ownership.Shared,
              Policy.DataRepresentation(use_cdrv0_representation=True)]
    if is_writer:
        # What late readers get is another history than the one for repairs.
        chosen.append(Policy.DurabilityService(0, history, -1, -1, -1))
        chosen += [Policy.Lifespan(nanoseconds(qos, "lifespan_ms")), Policy.OwnershipStrength(qos.get("strength", 0))]
    return Qos(*chosen)


class Asserting(DataWriter):
    """A writer that can say it is alive, which the Python binding leaves out."""

    def alive(self):
        self._assert(self._ref)

    @c_call("dds_assert_liveliness")
    def _assert(self, entity: dds_c_t.entity) -> dds_c_t.returnv:
        pass


class CycloneQos(QosPeer):
    def __init__(self):
        super().__init__()
        self.idl = cyclone_peer.IdlTypes(rostypes.store("jazzy", []))
        self.participant = DomainParticipant(int(os.environ.get("ROS_DOMAIN_ID", "0")))
        self.made, self.parents, self.listeners, self.topics = {}, {}, {}, {}
        # Listeners run on threads of Cyclone; one thread prints.
        self.heard = queue.SimpleQueue()

    def topic(self, topic):
        # A topic's own QoS is that of its first user otherwise.
        if topic not in self.topics:
            self.topics[topic] = Topic(self.participant, "rt" + topic, self.idl.struct(STRING))
        return self.topics[topic]

    def listener(self, name):
        tell = lambda event, **fields: self.heard.put((event, fields | {"id": name}))
        bad = lambda _, s: tell("incompatible", policy=POLICIES.get(s.last_policy_id, str(s.last_policy_id)))
        missed = lambda _, s: tell("deadline", total=s.total_count)
        listener = Listener(
            on_offered_deadline_missed=missed, on_requested_deadline_missed=missed,
            on_offered_incompatible_qos=bad, on_requested_incompatible_qos=bad,
            on_liveliness_changed=lambda _, s: tell("liveliness", alive=s.alive_count, not_alive=s.not_alive_count),
            on_liveliness_lost=lambda _, s: tell("lost", total=s.total_count))
        self.listeners[name] = listener
        return listener

    def parent(self, kind, name, qos):
        partitions = Qos(Policy.Partition(qos["partitions"])) if "partitions" in qos else None
        self.parents[name] = kind(self.participant, qos=partitions)
        return self.parents[name]

    def pub(self, name, topic, qos):
        self.made[name] = Asserting(self.parent(Publisher, name, qos), self.topic(topic), qos=policies(qos, True),
                                    listener=self.listener(name))

    def sub(self, name, topic, qos):
        self.made[name] = DataReader(self.parent(Subscriber, name, qos), self.topic(topic), qos=policies(qos, False),
                                     listener=self.listener(name))

    def write(self, name, text):
        self.made[name].write(self.idl.make(STRING, {"data": text}))

    def alive(self, name):
        self.made[name].alive()

    def change(self, name, qos):
        self.made[name].set_qos(policies(qos, True))

    def matched(self, name):
        return cyclone_peer.matched(self.made[name])

    def drop(self, name):
        for table in (self.made, self.parents, self.listeners):
            table.pop(name)

    def poll(self, wait):
        found = False
        while not self.heard.empty():
            event, fields = self.heard.get()
            peerlib.emit(event, **fields)
            found = True
        for name, endpoint in self.made.items():
            if isinstance(endpoint, DataReader):
                for sample in endpoint.take(N=64):
                    if sample.sample_info.valid_data:
                        found = True
                        peerlib.emit("sample", id=name, text=sample.data)
        if not found:
            time.sleep(wait)


if __name__ == "__main__":
    peerlib.main(CycloneQos().run)
