#!/usr/bin/env python3
"""Stands for RflySim3D: hears its windows and its multicast group, and reports what it is told to.

  ue_peer.py --windows 2 --interface 10.77.0.2

Each datagram is an event {"event": "heard", "window": 0, "hex": "..."}; what came by 224.0.0.10:20009 has the window
null. A line {"hex": "..."} on standard input is sent to 224.0.0.10:20006. It knows no packet: what bytes mean is for the
test to say.
"""
import argparse
import json
import select
import socket
import sys
import threading
import time

import peerlib

GROUP, NET, SCENE, FIRST = "224.0.0.10", 20009, 20006, 20010


def bound(address, port):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    udp.bind((address, port))
    return udp


def speak(out):
    for line in sys.stdin:
        out.sendto(bytes.fromhex(json.loads(line)["hex"]), (GROUP, SCENE))


def run():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, default=1)
    parser.add_argument("--interface", default="127.0.0.1", help="address of the interface for multicast")
    parser.add_argument("--timeout", type=float, default=60)
    args = parser.parse_args()
    interface = socket.inet_aton(args.interface)
    net = bound("0.0.0.0", NET)
    net.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + interface)
    # Of all groups and interfaces that other programs joined, only its own.
    net.setsockopt(socket.IPPROTO_IP, 49, 0)
    net.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, interface)
    windows = {bound("0.0.0.0", FIRST + number): number for number in range(args.windows)}
    threading.Thread(target=speak, args=(net,), daemon=True).start()
    peerlib.emit("ready")
    end = time.monotonic() + args.timeout
    while time.monotonic() < end:
        for udp in select.select([net, *windows], [], [], 0.2)[0]:
            peerlib.emit("heard", window=windows.get(udp), hex=udp.recv(65536).hex())
    return 0


if __name__ == "__main__":
    peerlib.main(run)
