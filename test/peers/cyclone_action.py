#!/usr/bin/env python3
"""The five endpoint pairs of an action server, and a plain DDS writer, on Cyclone DDS without ROS or node list.

  cyclone_action.py /fib example/action/Fib

Nothing is ever sent: it is there to be seen. Prints `ready` and stays until stdin ends or --timeout.
"""
import argparse
import os
import select
import sys

import cyclone_peer                                   # noqa: F401; sets CYCLONEDDS_URI before the library is loaded
import peerlib
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import annotations, make_idl_struct, types
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic


def run():
    top = argparse.ArgumentParser(description=__doc__)
    top.add_argument("name")
    top.add_argument("type", help="pkg/action/Name")
    top.add_argument("--timeout", type=float, default=60.0)
    args = top.parse_args()
    package, _, action = args.type.split("/")
    participant = DomainParticipant(int(os.environ.get("ROS_DOMAIN_ID", "0")))
    kept = []

    def topic(name, type_name):
        made = annotations.final(make_idl_struct("T" + str(len(kept)), type_name, {"dummy": types.uint8}))
        return Topic(participant, name, made)

    def write(name, type_name):
        kept.append(DataWriter(participant, topic(name, type_name)))

    def read(name, type_name):
        kept.append(DataReader(participant, topic(name, type_name)))

    base = f"{args.name}/_action"
    services = {"send_goal": f"{package}::action::dds_::{action}_SendGoal",
                "get_result": f"{package}::action::dds_::{action}_GetResult",
                "cancel_goal": "action_msgs::srv::dds_::CancelGoal"}
    for service, type_name in services.items():
        read(f"rq{base}/{service}Request", f"{type_name}_Request_")
        write(f"rr{base}/{service}Reply", f"{type_name}_Response_")
    write(f"rt{base}/feedback", f"{package}::action::dds_::{action}_FeedbackMessage_")
    write(f"rt{base}/status", "action_msgs::msg::dds_::GoalStatusArray_")
    write("Square", "ShapeType")
    peerlib.emit("ready", endpoints=len(kept))
    while select.select([sys.stdin], [], [], args.timeout)[0] and sys.stdin.readline():
        pass
    return 0


if __name__ == "__main__":
    peerlib.main(run)
