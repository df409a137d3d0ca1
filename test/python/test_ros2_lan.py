"""Two hosts on an Ethernet of MTU 1500, found by multicast: once as it should be, once with loss and delay."""
import time
import unittest

from netns import NetworkTest
from traffic import TrafficTest, pair, sample, table

OTHERS = ("jazzy", "cyclone", "second")
SMALL = 60
IMAGE_MB = len(sample("image")) / 1e6


class Lan(NetworkTest, TrafficTest):
    def test_switch_loses_nothing(self):
        network = self.network("left", "right", v6=False)
        self.exchange(network, "LAN, MTU 1500", images=4)

    def test_reliable_topics_lose_nothing_on_a_bad_cable(self):
        network = self.network("left", "right", v6=False)
        cable = self.bad_cable(network, "left", "right", "--loss", "0.05", "--delay", "0.02", "--duplicate", "0.01",
                               "--reorder", "0.02", "--seed", "7")
        self.exchange(network, "LAN, MTU 1500, 5 % loss, 20 ms delay", images=2, timeout=60)
        cable.stop()
        [count] = cable.all("summary")
        self.assertGreater(count["lost"], count["frames"] * 0.03, count)

    def exchange(self, network, title, images, timeout=30):
        """Strings, Imus and images between a host of ours and one with everybody, both ways."""
        kinds = (("string", "parameters"), ("imu", "parameters"), ("imu", "sensor_data"), ("image", "default"))
        endpoints = []
        for other in OTHERS:
            for kind, profile in kinds:
                topic = f"{'small' if kind != 'image' else 'image'}/{profile}/{kind}"
                endpoints += pair("ours", other, f"/{topic}/to_{other}", kind, profile)
                endpoints += pair(other, "ours", f"/{topic}/from_{other}", kind, profile)
        self.plan(endpoints)
        left, right = network["left"], network["right"]
        ours = self.ours("ours", host=left, limit=150)
        others = [getattr(self, name)(name, host=right, limit=150) for name in ("jazzy", "cyclone")]
        others.append(self.ours("second", host=right, limit=150))
        start = time.monotonic()
        self.ready(ours, *others)
        self.until_matched(ours, *others, timeout=timeout)
        found = time.monotonic() - start

        everyone = [ours, *others]
        reliable = lambda row: "/parameters/" in row["topic"]
        first, before = self.warm_up(*everyone, topics="/small/", timeout=timeout, where=reliable)
        for peer in everyone:
            peer.start_publishing("/small/", first, SMALL, hz=50)
        for peer in everyone:
            peer.program.wait("published")
        last = first + SMALL - 1
        rows = self.until_received(*everyone, last=last, topics="/small/", timeout=timeout, where=reliable)
        lines = [("direction", "images", "MB/s", "best-effort Imus")]
        for key, row in rows.items():
            if row["side"] == "sub":
                got, lost = row["count"] - before[key]["count"], row["missing"] - before[key]["missing"]
                self.assertEqual((row["repeated"], row["bad"]), (0, 0), row)
                if reliable(row):
                    self.assertEqual((row["last"], lost), (last, 0), row)
                else:
                    # A starved subscriber overwrites what it has not taken, so not all even where nothing is lost.
                    self.assertGreaterEqual(got, SMALL // 2, row)
        for peer, name in ((p, n) for n in OTHERS for p in ("to", "from")):
            topic = f"/image/default/image/{peer}_{name}"
            sender, receiver = (ours, others[OTHERS.index(name)])[:: 1 if peer == "to" else -1]
            number, before_image = self.warm_up(sender, receiver, topics=topic, timeout=timeout, pause=20.0)
            start = time.monotonic()
            sender.publish(topic, number, images)
            rows_image = self.until_received(receiver, last=number + images - 1, topics=topic, timeout=timeout)
            elapsed = time.monotonic() - start
            [(key, row)] = rows_image.items()
            self.assertEqual((row["missing"] - before_image[key]["missing"], row["repeated"], row["bad"]), (0, 0, 0), row)
            imu = rows[key[0], "sub", f"/small/sensor_data/imu/{peer}_{name}"]
            lines.append((f"{peer} {name}", images, f"{images * IMAGE_MB / elapsed:.1f}", f"{imu['count']} of {imu['last'] + 1}"))
        table(f"{title}; everybody matched {found:.1f} s after the start", lines)


if __name__ == "__main__":
    unittest.main()
