"""ROS 2 programs that are stopped for a while (SIGSTOP) and continued, and rostrans stopped as well.

The probe relays images that travel in fragments. Beside our subscriber there is one of the publisher itself, to see
what Fast DDS does in the same place. How long a stop lasts is told by what the others do meanwhile.
"""
import json
import os
import signal
import unittest

from peers import BINARIES, JAZZY, KILTED, PeerTest, eventually

IMAGE = "sensor_msgs/msg/Image"
LEN = 300_000
RATE = 8
# A short stop fills every buffer and passes the whole history; the long one passes the lease of 20 s.
SHORT, LONG = 3 * RATE, 24 * RATE


class Freeze(PeerTest):
    def setUp(self):
        self.stopped = set()
        # Stopped programs are killed as well, but do not notice being asked.
        self.addCleanup(lambda: [self.resume(p) for p in list(self.stopped)])

    def stop(self, program):
        self.stopped.add(program)
        os.killpg(program.process.pid, signal.SIGSTOP)

    def resume(self, program):
        self.stopped.discard(program)
        os.killpg(program.process.pid, signal.SIGCONT)

    def network(self, python):
        """The relay, a subscriber of it, one of the publisher, and the publisher; all at work."""
        probe = self.start(BINARIES / "dds_probe", "--relay", IMAGE, "/in", "/out", "reliable", limit=150)
        probe.wait("ready")
        peer = {"python": python, "env": {"FASTDDS_BUILTIN_TRANSPORTS": "UDPv4"}, "limit": 150}
        subs = [self.ros2("sub", IMAGE, topic, "--timeout", "140", **peer) for topic in ("/out", "/in")]
        for sub in subs:
            sub.wait("ready")
        subs[0].wait("matched")
        values = json.dumps({"width": 100, "height": 100})
        pub = self.ros2("pub", IMAGE, "/in", "--json", values, "--fill", f"data={LEN}", "--count", "100000",
                        "--rate", str(RATE), "--wait", "2", "--timeout", "140", **peer)
        self.programs = {"probe": probe, "ours": subs[0], "theirs": subs[1], "publisher": pub}
        for sub in subs:
            sub.wait("msg", 30)
        return probe, *subs, pub

    def more(self, program, event, count, timeout):
        """Waits for this many further events."""
        before = len(program.all(event))
        try:
            eventually(lambda: len(program.all(event)) >= before + count, timeout)
        except AssertionError:
            got = {name: len(p.all("relayed") + p.all("msg")) for name, p in self.programs.items()}
            raise AssertionError(f"{len(program.all(event)) - before} of {count}; all: {got}; {program}") from None

    def check_subscribers(self, python, rounds, length):
        probe, ours, theirs, _ = self.network(python)
        for _ in range(rounds):
            for sub in (ours, theirs):
                self.stop(sub)
            self.more(probe, "relayed", length, 60)
            for sub in (ours, theirs):
                self.resume(sub)
            # The control first: where it stays silent, the fault is not ours.
            for sub in (theirs, ours):
                self.more(sub, "msg", 2 * RATE, 25)

    def check_publisher(self, python, length):
        probe, ours, theirs, pub = self.network(python)
        self.stop(pub)
        # Nothing tells how long it is stopped but a clock of the same rate.
        clock = self.ros2("pub", "std_msgs/msg/String", "/clock", "--json", '{"data":"tick"}', "--rate", str(RATE),
                          "--wait", "0", "--count", str(length), "--timeout", "60", python=python)
        clock.finish(60)
        self.resume(pub)
        self.more(theirs, "msg", RATE, 25)
        self.more(probe, "relayed", RATE, 25)
        self.more(ours, "msg", RATE, 25)

    def check_rostrans(self, python, length):
        probe, ours, theirs, _ = self.network(python)
        self.stop(probe)
        self.more(theirs, "msg", length, 60)
        self.resume(probe)
        self.more(probe, "relayed", RATE, 25)
        self.more(ours, "msg", RATE, 25)

    def test_jazzy_subscribers_stopped(self):
        self.check_subscribers(JAZZY, 4, SHORT)

    def test_kilted_subscribers_stopped(self):
        self.check_subscribers(KILTED, 4, SHORT)

    def test_jazzy_subscribers_stopped_beyond_their_lease(self):
        self.check_subscribers(JAZZY, 1, LONG)

    def test_kilted_subscribers_stopped_beyond_their_lease(self):
        self.check_subscribers(KILTED, 1, LONG)

    def test_jazzy_publisher_stopped(self):
        self.check_publisher(JAZZY, SHORT)

    def test_jazzy_publisher_stopped_beyond_its_lease(self):
        self.check_publisher(JAZZY, LONG)

    def test_kilted_publisher_stopped_beyond_its_lease(self):
        self.check_publisher(KILTED, LONG)

    def test_rostrans_stopped(self):
        self.check_rostrans(JAZZY, SHORT)

    def test_rostrans_stopped_beyond_its_lease(self):
        self.check_rostrans(JAZZY, LONG)

    def test_rostrans_stopped_beyond_its_lease_with_kilted(self):
        self.check_rostrans(KILTED, LONG)


if __name__ == "__main__":
    unittest.main()
