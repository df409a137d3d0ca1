#!/usr/bin/env python3
"""Many Cyclone DDS writers and readers of serialized samples, driven by a test; see exchange.py.

  cyclone_exchange.py PLAN NAME
"""
import argparse
import os

import peerlib
import rostypes
from cyclone_peer import IdlTypes, matched
from cyclonedds._clayer import ddspy_take, ddspy_write
from cyclonedds.core import InstanceState, Policy, Qos, SampleState, ViewState
from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration
from exchange import Exchange, Plan

ANY = SampleState.Any | ViewState.Any | InstanceState.Any


class CycloneExchange(Exchange):
    """One participant. Bytes go past the Python type support, which takes 0.2 s for an image."""

    def __init__(self, plan):
        super().__init__()
        idl = IdlTypes(rostypes.store())
        self.participant = DomainParticipant(int(os.environ.get("ROS_DOMAIN_ID", "0")))
        for spec in plan.endpoints:
            kind = plan.kinds[spec["kind"]]
            qos = Qos(Policy.Reliability.Reliable(duration(seconds=2)) if spec["reliable"] else Policy.Reliability.BestEffort,
                      Policy.Durability.TransientLocal if spec["latched"] else Policy.Durability.Volatile,
                      Policy.History.KeepLast(spec["depth"]),
                      Policy.DurabilityService(cleanup_delay=0, history=Policy.History.KeepLast(spec["depth"]),
                                               max_samples=-1, max_instances=-1, max_samples_per_instance=-1),
                      Policy.DataRepresentation(use_cdrv0_representation=True))
            topic = Topic(self.participant, "rt" + spec["topic"], idl.struct(kind.type))
            if spec["side"] == "pub":
                self.publishers.append((spec, DataWriter(self.participant, topic, qos=qos)))
            else:
                self.subscribe(spec, DataReader(self.participant, topic, qos=qos), kind)

    def write(self, handle, data):
        status = ddspy_write(handle._ref, data.ljust(-(-len(data) // 4) * 4, b"\0"))
        if status < 0:
            peerlib.emit("refused", status=status)

    def take(self, handle):
        taken = ddspy_take(handle._ref, ANY, 64)
        return [data for data, info in taken if info.valid_data] if isinstance(taken, list) else []

    def matched(self, handle):
        return matched(handle)


def run():
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("plan")
    top.add_argument("name")
    args = top.parse_args()
    plan = Plan(args.plan, [args.name])
    return CycloneExchange(plan).run(plan)


if __name__ == "__main__":
    peerlib.main(run)
