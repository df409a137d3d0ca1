#!/usr/bin/env python3
"""Reads all CopterSim packets on this machine's loopback interface, beside their receivers, and answers questions on stdin.

  {"do": "truth", "vehicle": 1, "at": <unix time>}   -> truth: the state sent next to that moment (t, position, velocity, euler)
  {"do": "commands", "vehicle": 1}                   -> commands: what was sent to it, equal ones in a row as one (with count)
  {"do": "kinds"}                                    -> kinds: for each vehicle how many packets of which name; unknown

A raw socket, so it takes root or a user namespace.
"""
import bisect
import collections
import json
import select
import socket
import struct
import sys
import time

import peerlib
import rflywire


class Tap:
    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.setblocking(False)
        self.times, self.states = collections.defaultdict(list), collections.defaultdict(list)
        self.said = collections.defaultdict(list)
        self.counts = collections.defaultdict(collections.Counter)

    def read(self):
        for _ in range(1000):
            try:
                packet = self.socket.recv(2048)
            except BlockingIOError:
                return
            header = (packet[0] & 15) * 4
            found = rflywire.place(struct.unpack_from(">H", packet, header + 2)[0])
            if found:
                self.packet(time.time(), *found, packet[header + 8:])

    def packet(self, now, series, vehicle, data):
        decoded = rflywire.decode(series, data)
        self.counts[vehicle][decoded[0] if decoded else f"unknown {series}"] += 1
        if decoded is None:
            return
        if series == rflywire.TRUTH and (state := rflywire.state(*decoded)):
            self.times[vehicle].append(now)
            self.states[vehicle].append(state)
        if command := rflywire.command(*decoded):
            said = self.said[vehicle]
            if said and {k: v for k, v in said[-1].items() if k != "count"} == command:
                said[-1]["count"] += 1
            else:
                said.append({**command, "count": 1})

    def truth(self, vehicle, at):
        times = self.times[vehicle]
        i = bisect.bisect(times, at)
        i = min((j for j in (i - 1, i) if 0 <= j < len(times)), key=lambda j: abs(times[j] - at))
        position, velocity, euler = self.states[vehicle][i]
        peerlib.emit("truth", t=times[i], position=position, velocity=velocity, euler=euler)

    def commands(self, vehicle):
        peerlib.emit("commands", commands=self.said[vehicle])

    def kinds(self):
        peerlib.emit("kinds", vehicles=self.counts)


def run():
    tap = Tap()
    peerlib.emit("ready")
    while True:
        ready, _, _ = select.select([tap.socket, sys.stdin], [], [])
        if tap.socket in ready:
            tap.read()
        if sys.stdin in ready:
            line = sys.stdin.readline()
            if not line:
                return 0
            tap.read()
            order = json.loads(line)
            getattr(tap, order.pop("do"))(**order)


if __name__ == "__main__":
    peerlib.main(run)
