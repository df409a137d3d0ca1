"""Numbered samples between many publishers and subscriptions of rostrans, rclpy and Cyclone DDS.

A test makes a plan of endpoints, starts an exchange peer (test/peers/exchange.py) for each side, publishes in rounds and
reads back what every subscription has seen: how many samples, which are missing, repeated or altered.
"""
import functools
import json
import sys
import time
from pathlib import Path

import numpy
import peerlib
import rostypes
from netns import Network
from peers import BINARIES, JAZZY, KILTED, PROGRAMS, TOOLS, PeerTest

OURS = BINARIES / "dds_exchange"
# Fast DDS 3.2 offers Cyclone type objects it rejects; without them they match by name.
PLAIN_KILTED = {"FASTDDS_DEFAULT_PROFILES_FILE": str(PROGRAMS / "fastdds_no_type_propagation.xml")}

# The QoS profiles ROS 2 programs use: reliable, latched (transient local), depth.
PROFILES = {
    "default": (True, False, 10),
    "sensor_data": (False, False, 5),
    "parameters": (True, False, 1000),
    "tf_static": (True, True, 4),
    "rosout": (True, True, 1000),
    "discovery_info": (True, True, 1),
}

# Where a sample carries its number: in the digits a String starts with, else in header.stamp.sec.
KINDS = {"string": ("std_msgs/msg/String", 8, True), "imu": ("sensor_msgs/msg/Imu", 4, False),
         "pose": ("geometry_msgs/msg/PoseStamped", 4, False), "cloud": ("sensor_msgs/msg/PointCloud2", 4, False),
         "image": ("sensor_msgs/msg/Image", 4, False)}


def message(store, kind):
    """A message of that kind with content worth checking."""
    make = {name.split("/")[-1]: cls for name, cls in store.types.items()}
    header = make["Header"](make["Time"](0, 123456789), "frame_1")
    nine = numpy.arange(9, dtype=numpy.float64) * 1.25
    if kind == "string":
        return make["String"]("00000000 grüß")
    if kind == "imu":
        xyz = make["Vector3"]
        return make["Imu"](header, make["Quaternion"](0.5, -0.5, 0.5, 0.5), nine, xyz(0.1, -0.2, 0.3), nine + 1,
                           xyz(0.5, -1.25, 9.81), nine + 2)
    if kind == "pose":
        return make["PoseStamped"](header, make["Pose"](make["Point"](1.5, 2.0, -3.0), make["Quaternion"](0.0, 0.0, 0.0, 1.0)))
    if kind == "cloud":
        points, field = 8000, make["PointField"]
        fields = [field(name, 4 * i, field.FLOAT32, 1) for i, name in enumerate("xyz")]
        data = numpy.frombuffer(peerlib.pattern(points * 12), dtype=numpy.uint8)
        return make["PointCloud2"](header, 1, points, fields, False, 12, 12 * points, data, True)
    data = numpy.frombuffer(peerlib.pattern(1280 * 720 * 3), dtype=numpy.uint8)
    return make["Image"](header, 720, 1280, "bgr8", 0, 3840, data)


@functools.cache
def sample(kind):
    """The serialized message of that kind, numbered 0."""
    store = rostypes.store()
    return bytes(store.serialize_cdr(message(store, kind), KINDS[kind][0]))


def endpoint(peer, side, topic, kind, profile="default"):
    """One publisher or subscription of a plan."""
    reliable, latched, depth = PROFILES[profile]
    return {"peer": peer, "side": side, "topic": topic, "kind": kind, "reliable": reliable, "latched": latched,
            "depth": depth}


def pair(publisher, subscriber, topic, kind, profile="default"):
    """A publisher and a subscription of the same topic."""
    return [endpoint(publisher, "pub", topic, kind, profile), endpoint(subscriber, "sub", topic, kind, profile)]


class Peer:
    """A running exchange peer."""

    def __init__(self, program):
        self.program = program

    def ask(self, answer, timeout=30.0, **command):
        """Gives a command and returns its answer."""
        self.program.say(json.dumps(command))
        return self.program.wait(answer, timeout)

    def start_publishing(self, topics="", first=0, count=1, hz=0):
        """Publishes on all its topics that start so; other commands wait until the last is written."""
        self.program.say(json.dumps({"do": "publish", "topics": topics, "from": first, "count": count, "hz": hz}))

    def publish(self, topics="", first=0, count=1, hz=0, timeout=60.0):
        """Publishes on all its topics that start so; returns when the last is written."""
        self.start_publishing(topics, first, count, hz)
        return self.program.wait("published", timeout)

    def report(self, topics=""):
        """What each endpoint has seen, by (node, side, topic)."""
        rows = self.ask("report", do="report", topics=topics)["endpoints"]
        return {(r["peer"], r["side"], r["topic"]): r for r in rows}

    def nodes(self):
        """Names of all nodes in the graph, sorted."""
        return sorted(self.ask("nodes", do="nodes")["nodes"])

    def usage(self):
        """Resident memory in MiB and CPU seconds of the process so far."""
        proc = Path(f"/proc/{self.program.process.pid}")
        pages = int((proc / "statm").read_text().split()[1])
        fields = (proc / "stat").read_text().rsplit(")", 1)[1].split()
        return pages * 4096 / 2**20, (int(fields[11]) + int(fields[12])) / 100

    def __str__(self):
        return "\n    ".join([" ".join(self.program.command[1:]), *self.program.noise[-5:]])


class TrafficTest(PeerTest):
    """A test case with exchange peers."""

    def plan(self, endpoints, least=0):
        """Writes the plan all exchange peers started afterwards read; `least` as `from` in exchange.py."""
        folder = self.folder()
        used = {e["kind"] for e in endpoints}
        kinds = {}
        for name in used:
            (folder / f"{name}.cdr").write_bytes(sample(name))
            kind, at, text = KINDS[name]
            kinds[name] = {"type": kind, "file": str(folder / f"{name}.cdr"), "at": at, "text": text,
                           "from": least}
        self.plan_file = folder / "plan.json"
        self.plan_file.write_text(json.dumps({"kinds": kinds, "endpoints": endpoints}))

    def ours(self, *names, **kwargs):
        return Peer(self.start(OURS, self.plan_file, *names, **kwargs))

    def jazzy(self, *names, **kwargs):
        return Peer(self.start(JAZZY, PROGRAMS / "ros2_exchange.py", self.plan_file, *names, **kwargs))

    def kilted(self, *names, **kwargs):
        kwargs["env"] = {**PLAIN_KILTED, **kwargs.get("env", {})}
        return Peer(self.start(KILTED, PROGRAMS / "ros2_exchange.py", self.plan_file, *names, **kwargs))

    def cyclone(self, name, **kwargs):
        return Peer(self.start(TOOLS, PROGRAMS / "cyclone_exchange.py", self.plan_file, name, **kwargs))

    def ready(self, *peers):
        for peer in peers:
            peer.program.wait("ready", 90)

    def rows(self, *peers, topics=""):
        """The reports of all peers together."""
        rows = {}
        for peer in peers:
            rows.update(peer.report(topics))
        return rows

    def until(self, peers, done, topics="", timeout=30.0, what="expected state"):
        """Polls the reports of all peers until done(row) holds for every row; returns the rows."""
        end = time.monotonic() + timeout
        while True:
            rows = self.rows(*peers, topics=topics)
            wrong = [row for row in rows.values() if not done(row)]
            if not wrong:
                return rows
            if time.monotonic() > end:
                self.give_up(f"no {what} within {timeout} s", wrong, peers)
            time.sleep(0.05)

    def until_matched(self, *peers, topics="", count=1, timeout=30.0):
        """Waits until every endpoint that can tell has found its counterpart."""
        return self.until(peers, lambda r: r["matched"] is None or r["matched"] >= count, topics, timeout, "match")

    def until_received(self, *peers, last, topics="", timeout=30.0, where=lambda r: True):
        """Waits until every subscription has seen sample `last`."""
        seen = lambda r: r["side"] == "pub" or not where(r) or (r["last"] is not None and r["last"] >= last)
        return self.until(peers, seen, topics, timeout, f"sample {last}")

    def warm_up(self, *peers, topics="", start=0, timeout=30.0, where=lambda r: True, pause=0.1):
        """Publishes until every subscription gets something; returns the next number and the rows so far.

        Two DDS sides see a match at different times, and what a volatile publisher sends in between is lost by right.
        `pause` is how long a sample has to arrive before the next one follows. On subscriptions chosen by `where`
        everything that is still on its way arrives before this returns.
        """
        end, number = time.monotonic() + timeout, start
        silent = lambda rows: [r for r in rows.values() if r["side"] == "sub" and r["last"] is None]
        while True:
            for peer in peers:
                peer.publish(topics, number)
            number += 1
            pause_end = time.monotonic() + pause
            while silent(rows := self.rows(*peers, topics=topics)) and time.monotonic() < pause_end:
                time.sleep(0.02)
            if not silent(rows):
                return number, self.until_received(*peers, last=number - 1, topics=topics, timeout=timeout, where=where)
            if time.monotonic() > end:
                self.give_up(f"nothing received within {timeout} s", silent(rows), peers)

    def give_up(self, why, rows, peers):
        """Fails with the endpoints that are at fault and what the programs logged."""
        some = "\n  ".join(json.dumps(row) for row in rows[:20])
        self.fail(f"{why}: {len(rows)} endpoints, such as\n  {some}\n" + "\n".join(map(str, peers)))


def table(title, rows):
    """Prints rows of a measurement where a person who runs the tests looks."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    print("\n".join([f"\n{title}", *lines]), file=sys.stderr, flush=True)


class OneHostTest(TrafficTest):
    """A test case whose programs share a host of their own: its ports and participant ids are free."""

    def setUp(self):
        network = Network("host")
        self.addCleanup(network.close)
        self.host = network["host"]

    def start(self, *command, **kwargs):
        return super().start(*self.host.command(*command), **{"limit": 150, **kwargs})
