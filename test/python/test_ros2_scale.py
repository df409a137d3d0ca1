"""Many topics, many participants."""
import time
import unittest

from peers import eventually
from traffic import OneHostTest, endpoint, pair, table

TOPICS = 200
ROUNDS = 10
# Fast DDS and Cyclone DDS look for participants 0 to 31 of a host, and so do we.
PARTICIPANTS = 32


class Scale(OneHostTest):
    """On a host of its own, where no other program takes a participant id."""

    def test_two_hundred_topics_each_way(self):
        endpoints = []
        for i in range(TOPICS):
            endpoints += [*pair("ours", "jazzy", f"/out/t{i}", "string"), endpoint("second", "sub", f"/out/t{i}", "string")]
            endpoints += pair("jazzy" if i % 2 else "second", "ours", f"/in/t{i}", "string")
        self.plan(endpoints)
        # Ours come last: on a busy host Fast DDS overlooks some endpoints of others that it hears of while it makes its own.
        jazzy = self.jazzy("jazzy")
        self.ready(jazzy)
        start = time.monotonic()
        ours, second = self.ours("ours"), self.ours("second")
        self.ready(ours, second)
        self.until([ours], lambda r: r["side"] == "sub" or r["matched"] == 2, what="two subscribers for each publisher")
        self.until_matched(jazzy, second)
        matched, cpu_matched = time.monotonic() - start, ours.usage()[1]
        first, before = self.warm_up(ours, second, jazzy)
        start, (_, cpu) = time.monotonic(), ours.usage()
        for number in range(first, first + ROUNDS):
            for peer in (ours, second, jazzy):
                peer.publish(first=number)
        last = first + ROUNDS - 1
        rows = self.until_received(ours, second, jazzy, last=last)
        elapsed, (memory, cpu_end) = time.monotonic() - start, ours.usage()
        for key, row in rows.items():
            if row["side"] == "sub":
                lost = row["missing"] - before[key]["missing"]
                self.assertEqual((row["last"], lost, row["repeated"], row["bad"]), (last, 0, 0, 0), row)
        samples = ROUNDS * TOPICS * 3
        table(f"{TOPICS} publishers and {TOPICS} subscriptions of ours, one rclpy process and a second of ours", [
            ("all matched, after the start of ours", f"{matched:.2f} s"), ("CPU of ours for it", f"{cpu_matched:.2f} s"),
            (f"{samples} samples sent and received in", f"{elapsed:.2f} s"), ("CPU of ours for them", f"{cpu_end - cpu:.2f} s"),
            ("memory of ours", f"{memory:.1f} MiB")])

    def test_thirty_two_participants_see_each_other_and_one_more_is_warned(self):
        ours, jazzy, kilted = ([f"{name}_{i}" for i in range(n)] for name, n in (("ours", 24), ("jazzy", 3), ("kilted", 2)))
        cyclone = [f"cyclone_{i}" for i in range(3)]
        names = [*ours, *jazzy, *kilted, *cyclone]
        self.assertEqual(len(names), PARTICIPANTS)
        endpoints = []
        for name in names:
            endpoints += [endpoint(name, "pub", f"/from/{name}", "string", "rosout")]
            endpoints += [endpoint(other, "sub", f"/from/{name}", "string", "rosout") for other in names]
        self.plan(endpoints)
        start = time.monotonic()
        # One process after the other: two that try an id at once can each hold one of its two ports, and both skip it; none is
        # to spare. Cyclone DDS first, which never takes the highest.
        peers = []
        for make, of in (*((self.cyclone, [name]) for name in cyclone), (self.ours, ours), (self.jazzy, jazzy), (self.kilted, kilted)):
            peers.append(make(*of))
            self.ready(peers[-1])
        self.until(peers, lambda r: r["side"] == "sub" or r["matched"] == PARTICIPANTS, timeout=90,
                   what=f"{PARTICIPANTS} subscribers for every publisher")
        matched = time.monotonic() - start
        for peer in peers:
            peer.publish(count=2)
        rows = self.until_received(*peers, last=1, timeout=60)
        for row in rows.values():
            if row["side"] == "sub":
                self.assertEqual((row["first"], row["count"], row["repeated"], row["bad"]), (0, 2, 0, 0), row)
        for rclpy in peers[-2:]:
            # Bare Cyclone DDS participants are no ROS nodes.
            want = sorted(f"/{name}" for name in [*ours, *jazzy, *kilted])
            eventually(lambda: rclpy.nodes() == want)
        memory, cpu = peers[len(cyclone)].usage()
        table(f"{PARTICIPANTS} participants on one host, {len(names) ** 2} matches", [
            ("all matched after", f"{matched:.2f} s from the start of the first process"),
            (f"memory of our {len(ours)}", f"{memory:.1f} MiB"), ("their CPU", f"{cpu:.2f} s")])

        # The others do not look for a participant with a higher number.
        self.ours("one_too_many").program.wait_text("more than 32 participants on this host")


if __name__ == "__main__":
    unittest.main()
