#!/usr/bin/env python3
"""A Zenoh session that does what it is told on stdin, one JSON object a line; keys, payloads and attachments are its own.

  {"do": "put", "key": K, "payload": HEX, "attachment": HEX}        attachment may be left out, here and below
  {"do": "sub", "key": K}                                           prints `sample` with key, payload, attachment
  {"do": "late", "key": K, "depth": N}                              the same with the history of advanced publishers
  {"do": "latch", "key": K, "payloads": [HEX..], "attachment": HEX, "depth": N}   an advanced publisher with a cache
  {"do": "token", "key": K}                                         declares a liveliness token; "untoken" withdraws it
  {"do": "tokens", "key": K}                                        prints `tokens` with the keys that are alive
  {"do": "get", "key": K, "payload": HEX, "attachment": HEX}        prints `reply` for each reply, then `end`

  zenoh_wire.py --mode client --port 7447

Everything is on 127.0.0.1, with multicast scouting off. Ends with its stdin.
"""
import argparse
import json
import sys
import threading

import zenoh

import peerlib


def text(bytes_or_none):
    return bytes_or_none.to_bytes().hex() if bytes_or_none is not None else None


def on_sample(sample):
    peerlib.emit("sample", key=str(sample.key_expr), payload=text(sample.payload), attachment=text(sample.attachment))


class Wire:
    def __init__(self, session):
        self.session, self.held, self.tokens = session, [], {}

    def extras(self, command):
        return {"attachment": bytes.fromhex(command["attachment"])} if "attachment" in command else {}

    def put(self, command):
        self.session.put(command["key"], bytes.fromhex(command["payload"]), **self.extras(command))

    def sub(self, command):
        self.held.append(self.session.declare_subscriber(command["key"], on_sample))

    def late(self, command):
        history = zenoh.ext.HistoryConfig(detect_late_publishers=True, max_samples=command["depth"])
        self.held.append(zenoh.ext.declare_advanced_subscriber(self.session, command["key"], on_sample, history=history))

    def latch(self, command):
        publisher = zenoh.ext.declare_advanced_publisher(
            self.session, command["key"], cache=zenoh.ext.CacheConfig(max_samples=command["depth"]),
            sample_miss_detection=zenoh.ext.MissDetectionConfig(), publisher_detection=True)
        for payload in command["payloads"]:
            publisher.put(bytes.fromhex(payload), **self.extras(command))
        self.held.append(publisher)

    def token(self, command):
        self.tokens[command["key"]] = self.session.liveliness().declare_token(command["key"])

    def untoken(self, command):
        self.tokens.pop(command["key"]).undeclare()

    def list_tokens(self, command):
        replies = self.session.liveliness().get(command["key"], timeout=5.0)
        peerlib.emit("tokens", keys=sorted(str(reply.ok.key_expr) for reply in replies if reply.ok))

    def get(self, command):
        payload = bytes.fromhex(command["payload"]) if "payload" in command else None
        for reply in self.session.get(command["key"], payload=payload, timeout=5.0, **self.extras(command)):
            if reply.ok:
                peerlib.emit("reply", key=str(reply.ok.key_expr), payload=text(reply.ok.payload),
                             attachment=text(reply.ok.attachment))
        peerlib.emit("end")


def run():
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--mode", default="client", choices=("client", "peer"))
    top.add_argument("--port", type=int, required=True)
    args = top.parse_args()
    conf = zenoh.Config()
    for key, value in (("mode", args.mode), ("scouting/multicast/enabled", False), ("timestamping/enabled", True),
                       ("connect/endpoints", [f"tcp/127.0.0.1:{args.port}"]), ("connect/timeout_ms", 20000),
                       ("listen/endpoints", ["tcp/127.0.0.1:0"] if args.mode == "peer" else [])):
        conf.insert_json5(key, json.dumps(value))
    with zenoh.open(conf) as session:
        wire = Wire(session)
        peerlib.emit("ready", zid=str(session.info.zid()))
        for line in sys.stdin:
            command = json.loads(line)
            what = {"tokens": wire.list_tokens}.get(command["do"]) or getattr(wire, command["do"])
            # A get waits for its replies; what comes next must not.
            threading.Thread(target=what, args=(command,)).start() if command["do"] == "get" else what(command)
            peerlib.emit("did", what=command["do"])
    return 0


if __name__ == "__main__":
    peerlib.main(run)
