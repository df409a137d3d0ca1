#!/usr/bin/env python3
"""Fires broken RTPS datagrams at the well-known ports of a domain on this host.

  storm.py PAYLOADS --domain 7 --datagrams 100000 --rate 12000 --seed 1

PAYLOADS holds genuine RTPS messages, one in hexadecimal per line. Each datagram is one of them with bits changed, bytes
overwritten, its end cut off, submessages taken from another one, or submessages of random content added. The same seed
and file give the same storm. It goes to the discovery and data ports of the participants 0 and 1. Prints `ready` when
the datagrams are made; a line on stdin starts the storm; then `summary`.
"""
import argparse
import random
import socket
import sys
import time

import peerlib

HEADER = 20
KNOWN = (0x01, 0x06, 0x07, 0x08, 0x09, 0x0c, 0x0d, 0x0e, 0x0f, 0x12, 0x13, 0x15, 0x16)
# Datagrams between two looks at the clock.
BATCH = 32


def split(message):
    """The submessages of a genuine message."""
    parts, at = [], HEADER
    while at + 4 <= len(message):
        little = message[at + 1] & 1
        length = int.from_bytes(message[at + 2:at + 4], "little" if little else "big")
        end = at + 4 + length if length else len(message)
        parts.append(message[at:end])
        at = end
    return parts


class Breaker:
    """Makes broken datagrams of genuine ones."""

    def __init__(self, genuine, seed):
        self.genuine, self.random = genuine, random.Random(seed)
        self.parts = [part for message in genuine for part in split(message)]

    def bits(self, message):
        data = bytearray(message)
        for _ in range(self.random.randint(1, 8)):
            data[self.random.randrange(4, len(data))] ^= 1 << self.random.randrange(8)
        return bytes(data)

    def overwrite(self, message):
        data = bytearray(message)
        at = self.random.randrange(4, len(data))
        size = self.random.choice((1, 2, 4, 8))
        data[at:at + size] = self.random.choice((b"\xff" * size, bytes(size), self.random.randbytes(size)))
        return bytes(data)

    def cut(self, message):
        return message[:self.random.randrange(len(message))]

    def shuffle(self, message):
        return message[:HEADER] + b"".join(self.random.choices(self.parts, k=self.random.randint(1, 6)))

    def invent(self, message):
        pick, parts = self.random, []
        for _ in range(pick.randint(1, 4)):
            kind = pick.choice(KNOWN) if pick.random() < 0.8 else pick.randrange(256)
            body = pick.randbytes(pick.randrange(80))
            length = len(body) if pick.random() < 0.7 else pick.randrange(65536)
            parts.append(bytes([kind, pick.randrange(256)]) + length.to_bytes(2, "little") + body)
        return message[:HEADER] + b"".join(parts)

    def make(self):
        """The next datagram."""
        how = self.random.choice((self.bits, self.bits, self.overwrite, self.cut, self.shuffle, self.invent))
        return how(self.random.choice(self.genuine))


def run():
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("payloads")
    top.add_argument("--domain", type=int, required=True)
    top.add_argument("--datagrams", type=int, default=100_000)
    top.add_argument("--rate", type=float, default=12_000, help="datagrams per second")
    top.add_argument("--seed", type=int, default=1)
    args = top.parse_args()
    with open(args.payloads, encoding="ascii") as file:
        genuine = [data for line in file if len(data := bytes.fromhex(line)) > HEADER + 4]
    breaker = Breaker(genuine, args.seed)
    storm = [breaker.make() for _ in range(args.datagrams)]
    base = 7400 + 250 * args.domain
    targets = [("127.0.0.1", base + port) for port in range(10, 14)]
    peerlib.emit("ready", genuine=len(genuine))
    sys.stdin.readline()
    start, refused = time.monotonic(), 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for number, data in enumerate(storm):
            try:
                out.sendto(data, breaker.random.choice(targets))
            except OSError:                            # the echo of a closed port
                refused += 1
            if number % BATCH == 0:
                time.sleep(max(0.0, start + number / args.rate - time.monotonic()))
    peerlib.emit("summary", datagrams=len(storm), refused=refused, elapsed_s=round(time.monotonic() - start, 2))
    return 0


if __name__ == "__main__":
    peerlib.main(run)
