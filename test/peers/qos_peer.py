"""What the QoS peers share: commands that make endpoints with any policies, and the events they print.

    ros2_qos.py            rclpy
    cyclone_qos.py         Cyclone DDS
    qos_probe              the RTPS engine of rostrans

Commands come on stdin, one JSON object a line; the end of stdin ends the program. All topics are std_msgs/msg/String.

    {"do": "pub", "id": "w", "topic": "/a", "qos": {..}}        also "sub"                     -> "made"
    {"do": "write", "id": "w", "text": "hi"}
    {"do": "stream", "id": "w", "count": 20, "period_ms": 50}   texts are "0", "1", ..         -> "streamed"
    {"do": "assert", "id": "w"}         says that the publisher is alive; no id: all of the participant
    {"do": "change", "id": "w", "qos": {..}}                    new policies (not rclpy)       -> "changed"
    {"do": "matched", "id": "w"}                                                               -> "matched"
    {"do": "history", "id": "/a"}       what the publishers and subscriptions of a topic are said to keep (rclpy)
                                                                                               -> "history"
    {"do": "drop", "id": "w"}                                                                  -> "dropped"

Keys of `qos`, all optional: `reliable` (true), `latched` (false), `depth` (10), `keep_all` (false), `deadline_ms`,
`lifespan_ms`, `liveliness` (automatic, manual_by_participant, manual_by_topic), `lease_ms`, `strength` (ownership is
exclusive), `partitions`. rclpy knows neither of the last two nor manual_by_participant.

Events, each with the `id`: `sample` (text), `deadline` (total), `liveliness` (alive and not_alive writers), `lost` (our
own liveliness; total), `incompatible` (policy).
"""
import json
import queue
import sys
import threading
import time

import peerlib


class QosPeer:
    """Runs the commands; a subclass makes and uses the endpoints."""

    def __init__(self):
        self.commands = queue.SimpleQueue()

    def pub(self, name, topic, qos):
        """Makes a publisher called `name`."""
        raise NotImplementedError

    def sub(self, name, topic, qos):
        """Makes a subscription."""
        raise NotImplementedError

    def write(self, name, text):
        """Publishes a text."""
        raise NotImplementedError

    def alive(self, name):
        """Asserts a publisher, or with None all of them."""
        raise NotImplementedError

    def change(self, name, qos):
        """Gives a publisher new policies."""
        raise NotImplementedError

    def matched(self, name):
        """How many endpoints are matched."""
        raise NotImplementedError

    def history(self, topic):
        """What the endpoints of a topic keep: two lists, of publishers and of subscriptions."""
        raise NotImplementedError

    def drop(self, name):
        """Withdraws an endpoint."""
        raise NotImplementedError

    def poll(self, seconds):
        """Takes samples and events, waiting at most so long for the first."""
        raise NotImplementedError

    def stream(self, name, count, period):
        pace = peerlib.Pacer(1 / period)
        for number in range(count):
            self.write(name, str(number))
            pace.tick()
            while (left := pace.remaining()) > 0:
                self.poll(min(left, 0.005))
        peerlib.emit("streamed", id=name)

    def obey(self, command):
        name = command.get("id")
        match command["do"]:
            case "pub" | "sub" as side:
                getattr(self, side)(name, command["topic"], command.get("qos", {}))
                peerlib.emit("made", id=name)
            case "write":
                self.write(name, command["text"])
            case "stream":
                self.stream(name, command["count"], command["period_ms"] / 1e3)
            case "assert":
                self.alive(name)
            case "change":
                self.change(name, command["qos"])
                peerlib.emit("changed", id=name)
            case "matched":
                peerlib.emit("matched", id=name, count=self.matched(name))
            case "history":
                publishers, subscriptions = self.history(name)
                peerlib.emit("history", id=name, publishers=publishers, subscriptions=subscriptions)
            case "drop":
                self.drop(name)
                peerlib.emit("dropped", id=name)
            case other:
                raise SystemExit(f"unknown command {other}")

    def run(self):
        def read():
            for line in sys.stdin:
                self.commands.put(json.loads(line))
            self.commands.put(None)

        threading.Thread(target=read, daemon=True).start()
        peerlib.emit("ready")
        while True:
            self.poll(0.005)
            while not self.commands.empty():
                command = self.commands.get()
                if command is None:
                    return 0
                self.obey(command)


def seconds(qos, key):
    """A period of the QoS in seconds; None when it is not there."""
    return qos[key] / 1e3 if key in qos else None
