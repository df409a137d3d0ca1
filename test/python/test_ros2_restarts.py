"""Programs that come late, die and come back."""
import time
import unittest

from daemon import DaemonTest, free_port
from peers import eventually
from traffic import TrafficTest, endpoint, pair, sample

VENDORS = ("jazzy", "kilted", "cyclone")
# How long the others remember a participant that died without a word.
LEASE = 20.0


class Restarts(TrafficTest):
    def start_peer(self, vendor, name=None):
        """Starts the exchange peer of a vendor."""
        return getattr(self, vendor)(name or vendor)

    def test_late_subscribers_get_the_latched_history(self):
        endpoints = [endpoint("ours_early", "pub", f"/ours/{kind}", kind, "tf_static") for kind in ("string", "image")]
        for kind in ("string", "image"):
            for vendor in VENDORS:
                endpoints += [endpoint(f"{vendor}_late", "sub", f"/ours/{kind}", kind, "tf_static"),
                              *pair(f"{vendor}_early", "ours_late", f"/{vendor}/{kind}", kind, "tf_static")]
        self.plan(endpoints)
        early = [self.ours("ours_early"), *(self.start_peer(v, f"{v}_early") for v in VENDORS)]
        self.ready(*early)
        for peer in early:
            peer.publish(count=6)
        late = [self.ours("ours_late"), *(self.start_peer(v, f"{v}_late") for v in VENDORS)]
        self.ready(*late)
        for row in self.until_received(*late, last=5).values():
            # The last four of six: the depth of the profile.
            self.assertEqual((row["first"], row["count"], row["repeated"], row["bad"]), (2, 4, 0, 0), row)

    def test_killed_peers_come_back_and_disturb_nobody(self):
        endpoints = [endpoint("ours", "pub", "/ours", "imu")]
        for vendor in VENDORS:
            endpoints += [endpoint(vendor, "sub", "/ours", "imu"), *pair(vendor, "ours", f"/{vendor}", "imu")]
        self.plan(endpoints)
        peers = {"ours": self.ours("ours"), **{v: self.start_peer(v) for v in VENDORS}}
        self.ready(*peers.values())
        number, _ = self.warm_up(*peers.values())
        base = self.rows(*peers.values())

        def rounds(done, timeout=20.0):
            """Publishes everywhere until done(rows); returns the rows."""
            nonlocal number
            end = time.monotonic() + timeout
            while True:
                for peer in peers.values():
                    peer.publish(first=number)
                number += 1
                time.sleep(0.02)
                rows = self.rows(*peers.values())
                if done(rows):
                    return rows
                if time.monotonic() > end:
                    self.give_up("traffic is not back", list(rows.values()), peers.values())

        for victim in VENDORS:
            peers.pop(victim).program.kill()
            stop = number + 20
            rounds(lambda _: number >= stop)
            peers[victim] = self.start_peer(victim)
            self.ready(peers[victim])
            back = number
            rows = rounds(lambda rows: rows[victim, "sub", "/ours"]["last"] is not None
                          and rows["ours", "sub", f"/{victim}"]["last"] >= back)
            self.assertEqual((rows[victim, "sub", "/ours"]["bad"], rows["ours", "sub", f"/{victim}"]["bad"]), (0, 0))
            # The next victims have been there from the start: they must not have missed anything.
            for other in VENDORS[VENDORS.index(victim) + 1:]:
                self.until_received(peers[other], last=number - 1)
                for key in ((other, "sub", "/ours"), ("ours", "sub", f"/{other}")):
                    row = self.rows(*peers.values())[key]
                    self.assertEqual((row["missing"], row["repeated"], row["bad"]), (base[key]["missing"], 0, 0), row)

    def test_peers_killed_in_the_middle_of_an_image_leave_nothing_behind(self):
        victims, survivor = ("jazzy", "cyclone"), "kilted"
        endpoints = []
        for vendor in (*victims, survivor):
            endpoints += pair(vendor, "ours_sub", f"/{vendor}", "image")
            endpoints += pair("ours_pub", f"{vendor}_sub", f"/ours/{vendor}", "image")
        self.plan(endpoints)
        ours_sub, ours_pub = self.ours("ours_sub"), self.ours("ours_pub")
        pubs = {v: self.start_peer(v) for v in (*victims, survivor)}
        subs = {v: self.start_peer(v, f"{v}_sub") for v in (*victims, survivor)}
        self.ready(ours_sub, ours_pub, *pubs.values(), *subs.values())
        everyone = [ours_sub, ours_pub, *pubs.values(), *subs.values()]
        first, before = self.warm_up(*everyone)
        # As fast as they can, so that there is always an image under way.
        for peer in (*pubs.values(), ours_pub):
            peer.start_publishing(first=first, count=60, hz=12)
        for victim in victims:
            self.until_received(ours_sub, last=first + 10, topics=f"/{victim}")
            pubs[victim].program.kill()
            self.until_received(subs[victim], last=first + 10)
            subs[victim].program.kill()
        for peer, topic, name in ((ours_sub, f"/{survivor}", "ours_sub"),
                                  (subs[survivor], f"/ours/{survivor}", f"{survivor}_sub")):
            row = self.until_received(peer, last=first + 59, topics=topic)[name, "sub", topic]
            lost = row["missing"] - before[name, "sub", topic]["missing"]
            self.assertEqual((lost, row["repeated"], row["bad"]), (0, 0, 0), row)
        # Half-received images are bounded and go with their writer.
        for peer in (ours_sub, ours_pub):
            self.assertLess(peer.usage()[0], 200, f"MiB of {peer}")


class DaemonRestart(DaemonTest, TrafficTest):
    def test_killed_daemon_comes_back_under_the_same_name_once(self):
        port, sender = free_port(), self.udp()
        rules = f"""
- rule_id: from_udp
  direction: udp_to_rostopic
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {port}
  links:
    - {{codec: string, topic: /heard, msg_type: std_msgs/msg/String, qos: reliable}}
"""
        self.plan([endpoint(vendor, "sub", "/heard", "string") for vendor in VENDORS])
        peers = [self.jazzy("jazzy"), self.kilted("kilted"), self.cyclone("cyclone")]
        number = 0

        def heard(last):
            """Sends to the daemon until every peer has a sample after `last`."""
            def step():
                nonlocal number
                number += 1
                sender.send(b"%08d" % number + sample("string")[16:-1], port)
                return all(r["last"] is not None and r["last"] > last for r in self.rows(*peers).values())
            eventually(step, 20)

        daemon = self.rostrans(rules=rules)
        self.ready(*peers)
        heard(0)
        daemon.kill()
        self.rostrans(rules=rules)
        heard(number)
        for row in self.rows(*peers).values():
            self.assertEqual((row["repeated"], row["bad"]), (0, 0), row)
        for rclpy in peers[:2]:
            self.assertIn("/rostrans", rclpy.nodes())
            eventually(lambda: rclpy.nodes() == ["/jazzy", "/kilted", "/rostrans"], LEASE + 10)


if __name__ == "__main__":
    unittest.main()
