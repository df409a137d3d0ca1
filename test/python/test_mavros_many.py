"""Fifty vehicles: nothing of any is lost, and one that goes or comes disturbs no other."""
import socket
import time
import unittest

from daemon import DaemonTest
from peers import BINARIES, eventually

COUNT = 50
# Each of a vehicle's ten messages, times a second, for so many seconds.
STREAM = "kinds 4 5"


def free_ports(count, step):
    """The first of `count` ports, `step` apart, that nobody uses now."""
    for first in range(21_000, 30_000, 257):
        try:
            for n in range(count):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                    probe.bind(("127.0.0.1", first + step * n))
            return first
        except OSError:
            continue
    raise AssertionError("no free ports")


class MavrosMany(DaemonTest):
    def bench(self, *arguments):
        return self.start(BINARIES / "examples/mavros_bench", *map(str, arguments), limit=240.0)

    def ask(self, program, order, event=None):
        program.say(order)
        return program.wait(event or order, timeout=60)

    def heard(self, numbers):
        """True once every topic of these vehicles has come."""
        got = self.ask(self.listener, "count")["vehicles"]
        return all(all(got[str(n)].values()) for n in numbers)

    def assert_all_arrive(self, sent, numbers):
        def missing():
            got = self.ask(self.listener, "count")["vehicles"]
            # The topic of HEARTBEAT also tells other things.
            counts = ((n, topic, count, got[str(n)][topic]) for n in numbers
                      for topic, count in sent["vehicles"][str(n)].items() if topic != "state")
            return [entry for entry in counts if entry[3] < entry[2]]
        end = time.monotonic() + 20
        while missing() and time.monotonic() < end:
            time.sleep(0.2)
        self.assertEqual(missing(), [])

    def reset(self, *loads):
        for load in loads:
            self.ask(load, "quiet")
        # Equal counts for a second: what was under way has arrived.
        last, since = None, time.monotonic()
        while time.monotonic() < since + 1:
            now = self.ask(self.listener, "count")
            if now != last:
                last, since = now, time.monotonic()
            time.sleep(0.1)
        self.ask(self.listener, "reset")

    def run_fleet(self, step):
        port = free_ports(COUNT + 1, step or 1)
        self.rostrans(params=f"enable_mavros=true\nmavros_copter_count={COUNT + 1}\n"
                             f"mavros_listen_port={port}\nmavros_listen_step={step}\n", limit=240.0)
        self.listener = self.bench("listen", f"1-{COUNT + 1}")
        self.listener.wait("listening", timeout=60)
        stay = self.bench("load", f"1-{COUNT - 1}", port, step)
        leave = self.bench("load", f"{COUNT}-{COUNT}", port, step)
        everyone, others = range(1, COUNT + 1), range(1, COUNT)
        eventually(lambda: self.heard(everyone), timeout=90, period=0.5)

        self.reset(stay, leave)
        leave.say(STREAM)
        sent = self.ask(stay, STREAM, "sent")
        sent["vehicles"].update(leave.wait("sent")["vehicles"])
        self.assert_all_arrive(sent, everyone)

        self.reset(stay, leave)
        stay.say(STREAM)
        leave.say(STREAM)
        eventually(lambda: self.ask(self.listener, "count")["vehicles"][str(COUNT)]["imu/data"] > 2)
        leave.kill()
        self.bench("load", f"{COUNT + 1}-{COUNT + 1}", port, step)
        sent = stay.wait("sent", timeout=60)
        self.assert_all_arrive(sent, others)
        eventually(lambda: self.heard([COUNT + 1]), timeout=60)

    def test_on_ports_of_their_own(self):
        self.run_fleet(1)

    def test_behind_one_port(self):
        self.run_fleet(0)


if __name__ == "__main__":
    unittest.main()
