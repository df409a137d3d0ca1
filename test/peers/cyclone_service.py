#!/usr/bin/env python3
"""std_srvs/srv/SetBool over Cyclone DDS as rmw_cyclonedds speaks it: serve or call.

  cyclone_service.py serve /set --count 2
  cyclone_service.py call  /set --count 2

Each message starts with a header of u64 client id and i64 sequence number that the server echoes. The endpoints of a
client share a `clientid` in their USER_DATA, those of a server a `serviceid`. The server answers success = data and
message = "set {data}".
"""
import argparse
import dataclasses
import os
import time

import peerlib
from cyclone_peer import LOOPBACK

os.environ.setdefault("CYCLONEDDS_URI", LOOPBACK)

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct, annotations, types
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration


@dataclasses.dataclass
@annotations.final
class Request(IdlStruct, typename="std_srvs::srv::dds_::SetBool_Request_"):
    client: types.uint64
    seq: types.int64
    data: bool


@dataclasses.dataclass
@annotations.final
class Response(IdlStruct, typename="std_srvs::srv::dds_::SetBool_Response_"):
    client: types.uint64
    seq: types.int64
    success: bool
    message: str


def qos(key):
    ident = ".".join(f"{b:02x}" for b in os.urandom(16))
    return Qos(Policy.Reliability.Reliable(duration(milliseconds=100)), Policy.Durability.Volatile,
               Policy.History.KeepLast(10), Policy.DataRepresentation(use_cdrv0_representation=True),
               Policy.Userdata(data=f"{key}={ident};".encode()))


def take(reader):
    return [s for s in reader.take(N=16) if s.sample_info.valid_data]


def call(requests, replies, args, deadline):
    settings = qos("clientid")
    reader, writer = DataReader(*replies, qos=settings), DataWriter(*requests, qos=settings)
    peerlib.emit("ready", kind="call", service=args.name)
    while time.monotonic() < deadline and not (writer.get_matched_subscriptions() and reader.get_matched_publications()):
        time.sleep(0.01)
    peerlib.emit("matched")
    counter, client, seq = peerlib.Counter(args.count), int.from_bytes(os.urandom(8), "little"), 0
    while not counter.done and time.monotonic() < deadline:
        start, seq = time.time(), seq + 1
        writer.write(Request(client, seq, seq % 2 == 1))
        answer, until = None, min(deadline, time.monotonic() + args.patience)
        while answer is None and time.monotonic() < until:
            mine = [r for r in take(reader) if (r.client, r.seq) == (client, seq)]
            answer = mine[0] if mine else time.sleep(0.002)
        if answer is not None:
            counter.add("response", {"success": answer.success, "message": answer.message}, stamp=start)
    return counter.finish()


def serve(requests, replies, args, deadline):
    settings = qos("serviceid")
    writer, reader = DataWriter(*replies, qos=settings), DataReader(*requests, qos=settings)
    peerlib.emit("ready", kind="serve", service=args.name)
    counter = peerlib.Counter(args.count)
    while not counter.done and time.monotonic() < deadline:
        for request in take(reader):
            counter.add("request", {"data": request.data})
            writer.write(Response(request.client, request.seq, request.data, f"set {request.data}"))
        time.sleep(0.002)
    time.sleep(0.3)                                   # let the last reply out
    return counter.finish()


def run():
    top = argparse.ArgumentParser(description=__doc__)
    top.add_argument("kind", choices=("call", "serve"))
    top.add_argument("name")
    top.add_argument("--count", type=int, default=1)
    top.add_argument("--timeout", type=float, default=10.0)
    top.add_argument("--patience", type=float, default=1e9, help="seconds after which call asks again")
    args = top.parse_args()
    deadline = time.monotonic() + args.timeout
    participant = DomainParticipant(int(os.environ.get("ROS_DOMAIN_ID", "0")))
    name = args.name.lstrip("/")
    requests = participant, Topic(participant, f"rq/{name}Request", Request)
    replies = participant, Topic(participant, f"rr/{name}Reply", Response)
    return (call if args.kind == "call" else serve)(requests, replies, args, deadline)


if __name__ == "__main__":
    peerlib.main(run)
