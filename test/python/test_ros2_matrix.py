"""Every QoS profile of ROS 2 with messages of every size, both ways, with every implementation at once."""
import unittest

from traffic import KINDS, PROFILES, TrafficTest, pair

VENDORS = ("jazzy", "kilted", "cyclone")
ROUNDS = 4


class Matrix(TrafficTest):
    def test_every_profile_carries_every_message_both_ways(self):
        cells = [(profile, kind) for profile in PROFILES for kind in KINDS]
        endpoints = []
        for profile, kind in cells:
            for vendor in VENDORS:
                endpoints += pair("ours", vendor, f"/{profile}/{kind}/to_{vendor}", kind, profile)
                endpoints += pair(vendor, "ours", f"/{profile}/{kind}/from_{vendor}", kind, profile)
        self.plan(endpoints)
        peers = [self.ours("ours"), self.jazzy("jazzy"), self.kilted("kilted"), self.cyclone("cyclone")]
        self.ready(*peers)
        self.until_matched(*peers)
        for profile, kind in cells:
            with self.subTest(profile=profile, kind=kind):
                self.check(peers, profile, kind)

    def check(self, peers, profile, kind):
        reliable, latched, depth = PROFILES[profile]
        # Best-effort images lose fragments wherever socket buffers have their default size.
        lossy = not reliable and kind == "image"
        topics = f"/{profile}/{kind}/"
        first, before = self.warm_up(*peers, topics=topics, where=lambda _: not lossy)
        # One sample a round on every topic: with a history of one, the next would replace it.
        for number in range(first, first + ROUNDS):
            for peer in peers:
                peer.publish(topics, number)
            if not lossy:
                self.until_received(*peers, last=number, topics=topics)
        for key, row in self.rows(*peers, topics=topics).items():
            if row["side"] == "pub":
                continue
            self.assertEqual((row["repeated"], row["bad"]), (0, 0), row)
            if not lossy:
                lost = row["missing"] - before[key]["missing"]
                self.assertEqual((row["last"], lost), (first + ROUNDS - 1, 0), row)
            if latched and depth > first:
                self.assertEqual((row["first"], row["missing"]), (0, 0), row)


if __name__ == "__main__":
    unittest.main()
