#!/usr/bin/env python3
"""A bad Ethernet cable: forwards frames between two interfaces and loses, delays, doubles and reorders some.

  lossy_link.py eth0 eth1 --loss 0.05 --delay 0.02 --seed 7
  lossy_link.py --no-offload eth0

For kernels without netem. Both directions behave alike; the same seed makes the same choices for the same frames in the
same order. Prints `ready`, and a `summary` with the counters when it is terminated. Needs root in its network namespace.

The hosts on both sides must send frames complete, not leave checksums and segmentation to hardware that is not there:
--no-offload sees to that for an interface of this network namespace, and does nothing else.
"""
import argparse
import collections
import ctypes
import fcntl
import heapq
import random
import select
import signal
import socket
import struct
import time

import peerlib

ETH_P_ALL = 3
SOL_PACKET, PACKET_IGNORE_OUTGOING = 263, 23
SO_RCVBUFFORCE, SO_SNDBUFFORCE = 33, 32
BUFFER = 32 << 20
LARGEST_FRAME = 65536 + 64
# Frames taken from one side before the other and the due frames get their turn.
BATCH = 64

SIOCETHTOOL = 0x8946
ETHTOOL_SETTERS = {"tx checksum": 0x17, "scatter-gather": 0x19, "tso": 0x1f, "gso": 0x24}


def no_offload(interface):
    """Makes the kernel send complete frames on an interface of this network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for command in ETHTOOL_SETTERS.values():
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            request = struct.pack("16sP16x", interface.encode(), ctypes.addressof(value))
            fcntl.ioctl(any_socket, SIOCETHTOOL, request)


def open_port(interface):
    """A raw socket that receives what comes in at an interface, and sends out of it."""
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    port.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    port.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
    port.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER)
    port.bind((interface, ETH_P_ALL))
    port.setblocking(False)
    return port


class Link:
    """Both directions of the cable: frames under way, in the order in which they are due."""

    def __init__(self, ports, args):
        self.ports, self.args, self.random = ports, args, random.Random(args.seed)
        self.due, self.order = [], 0
        self.count = collections.Counter()

    def enter(self, frame, out, now):
        """Takes a frame that shall leave at port `out`."""
        args, draw = self.args, self.random.random
        self.count["frames"] += 1
        if draw() < args.loss:
            self.count["lost"] += 1
            return
        copies = 1
        if args.duplicate and draw() < args.duplicate:
            self.count["doubled"] += 1
            copies = 2
        for _ in range(copies):
            at = now + args.delay
            if args.reorder and draw() < args.reorder:
                self.count["reordered"] += 1
                at += draw() * args.jitter
            self.order += 1
            heapq.heappush(self.due, (at, self.order, frame, out))

    def leave(self, now):
        """Sends the frames that are due."""
        while self.due and self.due[0][0] <= now:
            _, _, frame, out = heapq.heappop(self.due)
            try:
                out.send(frame)
            except OSError:
                self.count["refused"] += 1

    def run(self):
        """Forwards until it is interrupted."""
        poll, by_fd = select.poll(), {}
        for port, other in (self.ports, self.ports[::-1]):
            poll.register(port, select.POLLIN)
            by_fd[port.fileno()] = port, other
        while True:
            left = self.due[0][0] - time.monotonic() if self.due else 1.0
            for fd, _ in poll.poll(max(0.0, left * 1000.0)):
                port, other = by_fd[fd]
                now = time.monotonic()
                for _ in range(BATCH):
                    try:
                        frame = port.recv(LARGEST_FRAME)
                    except BlockingIOError:
                        break
                    except OSError:                    # the interface is down
                        break
                    self.enter(frame, other, now)
            self.leave(time.monotonic())


def run():
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("interfaces", nargs="*", metavar="INTERFACE")
    top.add_argument("--no-offload", metavar="INTERFACE")
    top.add_argument("--loss", type=float, default=0.0, help="share of frames that vanish, 0 to 1")
    top.add_argument("--delay", type=float, default=0.0, help="seconds each frame is under way")
    top.add_argument("--duplicate", type=float, default=0.0, help="share of frames that arrive twice")
    top.add_argument("--reorder", type=float, default=0.0, help="share of frames that others may overtake")
    top.add_argument("--jitter", type=float, default=0.005, help="longest additional delay of those, in seconds")
    top.add_argument("--seed", type=int, default=1)
    args = top.parse_args()
    if args.no_offload:
        no_offload(args.no_offload)
        return 0
    if len(args.interfaces) != 2:
        top.error("name two interfaces")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    link = Link([open_port(interface) for interface in args.interfaces], args)
    peerlib.emit("ready")
    try:
        link.run()
    except KeyboardInterrupt:
        peerlib.emit("summary", **link.count)
    return 0


if __name__ == "__main__":
    peerlib.main(run)
