#!/usr/bin/env python3
"""Traffic between two participants while broken datagrams rain on their ports.

As a program it prints a table for one engine; the tests are the short form of it.

  PYTHONPATH=test/python:test/peers .peers/tools/bin/python test/python/test_ros2_storm.py --engine cyclone
"""
import argparse
import subprocess
import time
import unittest

from peers import PROGRAMS, TOOLS
from traffic import OneHostTest, endpoint, pair, table

HZ = 50
RATE = 12_000
# Numbers of the conversation that is watched; those of the recorded one are smaller.
FIRST = 1_000_000
KINDS = ("string", "imu", "cloud")


class Storm(OneHostTest):
    """On a host of its own, whose domain nobody else uses."""

    def endpoints(self, names):
        """Everyone publishes on the topics of the storm and subscribes to them, with all kinds."""
        return [endpoint(name, side, f"/{kind}/{topic}", kind, "parameters") for name in names for kind in KINDS
                for topic in "ab" for side in ("pub", "sub")]

    def record(self):
        """Genuine datagrams of all implementations, of participants that are gone; returns the file."""
        names = ("ours", "jazzy", "cyclone")
        self.plan(self.endpoints(names))
        capture, payloads = self.folder() / "capture.pcapng", self.folder() / "payloads.txt"
        recorder = self.start("tshark", "-i", "lo", "-w", capture, "-q", "-f", "udp")
        recorder.wait_text("Capturing on")
        peers = [getattr(self, name)(name) for name in names]
        self.ready(*peers)
        self.until_matched(*peers, count=len(names))
        for peer in peers:
            peer.publish(count=10, hz=50)
        for peer in peers:
            peer.program.process.stdin.close()
            peer.program.finish()
        recorder.stop()
        done = subprocess.run(["tshark", "-r", capture, "-Y", "rtps", "-T", "fields", "-e", "udp.payload"],
                              capture_output=True, text=True, check=True)
        payloads.write_text(done.stdout)
        return payloads

    def storm(self, engine, datagrams, seed=1):
        """Runs the storm against two participants of the engine; returns what became of traffic and memory."""
        payloads = self.record()
        program = self.start(TOOLS, PROGRAMS / "storm.py", payloads, "--domain", self.domain, "--datagrams", datagrams,
                             "--rate", RATE, "--seed", seed)
        program.wait("ready", 60)
        names = ("left", "right")
        endpoints = [e for kind in KINDS for e in (*pair("left", "right", f"/{kind}/a", kind, "parameters"),
                                                   *pair("right", "left", f"/{kind}/b", kind, "parameters"),
                                                   endpoint("late", "sub", f"/{kind}/a", kind, "parameters"))]
        self.plan(endpoints, least=FIRST)
        peers = [getattr(self, engine)(name) for name in names]
        self.ready(*peers)
        self.until_matched(*peers)
        number, before = self.warm_up(*peers, start=FIRST)
        memory, cpu = [[p.usage()[0]] for p in peers], [p.usage()[1] for p in peers]
        samples = int(HZ * (datagrams / RATE + 2))
        for peer in peers:
            peer.start_publishing(first=number, count=samples, hz=HZ)
        program.say("go")
        while not program.all("summary"):
            for peer, seen in zip(peers, memory):
                self.assertIsNone(peer.program.process.poll(), str(peer))
                seen.append(peer.usage()[0])
            time.sleep(0.1)
        for peer in peers:
            peer.program.wait("published", 60)
        last = number + samples - 1
        rows = self.rows(*peers)
        end = time.monotonic() + 10
        while any(r["side"] == "sub" and r["last"] != last for r in rows.values()) and time.monotonic() < end:
            time.sleep(0.1)
            rows = self.rows(*peers)
        subs = [(row, before[key]) for key, row in rows.items() if row["side"] == "sub"]
        late = getattr(self, engine)("late")
        self.ready(late)
        start = time.monotonic()
        # The publisher counts its subscriber from before and, on top, the newcomer.
        self.until([peers[0]], lambda r: r["topic"] != "/string/a" or r["matched"] == 2, what="match with a newcomer")
        newcomer = time.monotonic() - start
        return {
            "engine": engine, "broken datagrams": datagrams, "in seconds": program.all("summary")[0]["elapsed_s"],
            "samples sent": samples * len(subs), "received": sum(r["count"] - b["count"] for r, b in subs),
            "foreign or altered": sum(r["bad"] for r, _ in subs),
            "memory before, MiB": " / ".join(f"{m[0]:.1f}" for m in memory),
            "highest, MiB": " / ".join(f"{max(m):.1f}" for m in memory),
            "growth, MiB": max(max(m) - m[0] for m in memory),
            "CPU seconds": " / ".join(f"{p.usage()[1] - c:.1f}" for p, c in zip(peers, cpu)),
            "newcomer found after it in": f"{newcomer:.1f} s",
        }

    def test_traffic_goes_on_and_memory_stays_flat(self):
        result = self.storm("ours", 25_000)
        show(result)
        self.assertEqual(result["received"], result["samples sent"])
        self.assertLess(result["growth, MiB"], 30, "MiB")


def show(result):
    table("storm", [(name, f"{value:.1f}" if isinstance(value, float) else value) for name, value in result.items()])


def main():
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--engine", choices=("ours", "cyclone"), default="ours")
    top.add_argument("--datagrams", type=int, default=100_000)
    top.add_argument("--seed", type=int, default=1)
    args = top.parse_args()

    class Run(Storm):
        test_traffic_goes_on_and_memory_stays_flat = None

        def test(self):
            show(self.storm(args.engine, args.datagrams, args.seed))

    result = unittest.TextTestRunner(verbosity=0).run(unittest.TestSuite([Run("test")]))
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    raise SystemExit(main())
