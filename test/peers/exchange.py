"""What the exchange peers share: the plan, the bookkeeping of received samples, the command loop.

    ros2_exchange.py PLAN NAME...        rclpy, one node and DDS participant for each NAME
    cyclone_exchange.py PLAN NAME        Cyclone DDS, one participant
    dds_exchange PLAN NAME...            the DDS adapter of rostrans, one node for each NAME

An exchange peer holds many publishers and subscriptions of serialized samples. PLAN is a JSON file that all peers of a
test read; each takes the endpoints of its NAME:

    {"kinds": {"imu": {"type": "sensor_msgs/msg/Imu", "file": "/tmp/imu.cdr", "at": 4, "text": false}},
     "endpoints": [{"peer": "jazzy", "side": "pub", "topic": "/imu", "kind": "imu",
                    "reliable": true, "latched": false, "depth": 10}]}

A sample of a kind is the bytes of its file with the sample's number at offset `at`: eight decimal digits if `text`,
else a little-endian u32. A receiver compares everything else byte for byte. A kind may have `"from": N`: samples with
smaller numbers or with numbers from twice N are not of this test and count as bad.

Commands come on stdin, one JSON object a line; the end of stdin ends the program:

    {"do": "publish", "topics": "/a", "from": 0, "count": 5, "hz": 0}
                              publishes on every topic that starts with `topics`, round by round -> "published"
    {"do": "report", "topics": "/a"}     what every endpoint of these topics has seen -> "report"
    {"do": "nodes"}                      names of all nodes in the graph (rclpy only) -> "nodes"
"""
import json
import queue
import sys
import threading
import time

import peerlib

DIGITS = 8


class Kind:
    """A message type and how its samples are numbered."""

    def __init__(self, spec):
        self.type, self.at, self.text = spec["type"], spec["at"], spec["text"]
        self.least = spec.get("from", 0)
        with open(spec["file"], "rb") as file:
            self.sample = file.read()
        self.after = self.at + (DIGITS if self.text else 4)

    def build(self, number):
        """Sample `number`."""
        digits = b"%0*d" % (DIGITS, number) if self.text else number.to_bytes(4, "little")
        return self.sample[:self.at] + digits + self.sample[self.after:]

    def read(self, data):
        """The number of a sample; None when it is not what was sent."""
        same = (data[:2] == self.sample[:2] and data[4:self.at] == self.sample[4:self.at]
                and data[self.after:len(self.sample)] == self.sample[self.after:]
                and len(self.sample) <= len(data) < len(self.sample) + 4)
        if not same:
            return None
        digits = data[self.at:self.after]
        if self.text and not digits.isdigit():
            return None
        number = int(digits) if self.text else int.from_bytes(digits, "little")
        return number if not self.least or self.least <= number < 2 * self.least else None


class Tally:
    """Counts the samples of one subscription."""

    def __init__(self, kind):
        self.kind = kind
        self.count = self.bad = self.repeated = self.missing = 0
        self.first = self.last = None

    def add(self, data):
        """Takes one sample into account."""
        number = self.kind.read(data)
        if number is None:
            self.bad += 1
        elif self.last is not None and number <= self.last:
            self.repeated += 1
        else:
            if self.last is None:
                self.first = number
            else:
                self.missing += number - self.last - 1
            self.last = number
            self.count += 1

    def report(self):
        """The counters, as `report` prints them."""
        return {"count": self.count, "first": self.first, "last": self.last, "missing": self.missing,
                "repeated": self.repeated, "bad": self.bad}


class Plan:
    """The kinds and the endpoints of one program."""

    def __init__(self, path, names):
        with open(path, encoding="utf-8") as file:
            plan = json.load(file)
        self.kinds = {name: Kind(spec) for name, spec in plan["kinds"].items()}
        self.endpoints = [e for e in plan["endpoints"] if e["peer"] in names]


class Exchange:
    """Runs the commands of a test on the endpoints of a program.

    `publishers` and `subscriptions` are lists of (endpoint spec, handle). A subclass says how to `write` bytes, `take`
    the samples that are there, and count the `matched` of a handle.
    """

    def __init__(self):
        self.publishers, self.subscriptions, self.tallies = [], [], {}
        self.commands, self.pending = queue.SimpleQueue(), []

    def write(self, handle, data):
        """Publishes serialized bytes."""
        raise NotImplementedError

    def take(self, handle):
        """Serialized samples that have arrived."""
        raise NotImplementedError

    def matched(self, handle):
        """Endpoints of others matched with this one."""
        raise NotImplementedError

    def nodes(self):
        """Names of all nodes in the graph."""
        raise NotImplementedError

    def subscribe(self, spec, handle, kind):
        """Adds a subscription."""
        self.tallies[id(handle)] = Tally(kind)
        self.subscriptions.append((spec, handle))

    def poll(self):
        """Takes everything that is there; whether there was anything."""
        busy = False
        for _, handle in self.subscriptions:
            for data in self.take(handle):
                self.tallies[id(handle)].add(data)
                busy = True
        return busy

    def do_publish(self, plan, command):
        chosen = [(s, h) for s, h in self.publishers if s["topic"].startswith(command["topics"])]
        pace = peerlib.Pacer(command.get("hz", 0))
        for number in range(command["from"], command["from"] + command["count"]):
            samples = {}
            for spec, handle in chosen:
                if spec["kind"] not in samples:
                    samples[spec["kind"]] = plan.kinds[spec["kind"]].build(number)
                self.write(handle, samples[spec["kind"]])
            pace.tick()
            while pace.period and (left := pace.remaining()) > 0:
                if not self.poll():
                    time.sleep(min(left, 0.002))
        peerlib.emit("published", topics=len(chosen), next=command["from"] + command["count"])

    def do_report(self, command):
        rows = []
        for side, endpoints in (("pub", self.publishers), ("sub", self.subscriptions)):
            for spec, handle in endpoints:
                if spec["topic"].startswith(command["topics"]):
                    more = self.tallies[id(handle)].report() if side == "sub" else {}
                    rows.append({"peer": spec["peer"], "side": side, "topic": spec["topic"],
                                 "matched": self.matched(handle), **more})
        peerlib.emit("report", endpoints=rows)

    def run(self, plan):
        """Takes commands until stdin ends."""
        def read():
            for line in sys.stdin:
                self.commands.put(json.loads(line))
            self.commands.put(None)

        threading.Thread(target=read, daemon=True).start()
        peerlib.emit("ready", publishers=len(self.publishers), subscriptions=len(self.subscriptions))
        while True:
            busy = self.poll()
            try:
                command = self.commands.get(timeout=0.0 if busy else 0.002)
            except queue.Empty:
                continue
            if command is None:
                return 0
            match command["do"]:
                case "publish":
                    self.do_publish(plan, command)
                case "report":
                    self.do_report(command)
                case "nodes":
                    peerlib.emit("nodes", nodes=self.nodes())
                case other:
                    raise SystemExit(f"unknown command {other}")
