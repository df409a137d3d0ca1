"""Who sees whom: the ROS variables mean to us what they mean to rclpy, on hosts of a network of their own.

In each case rclpy and our node start on one host with the same variables, and another rclpy node elsewhere. Where the two
rclpy nodes meet, ours must be seen, otherwise not. With ranges that differ, rclpy on Fast DDS 2.14 and 3.2 sometimes sees
in one direction only, which counts as meeting.
"""
import unittest

from netns import NetworkTest
from peers import BINARIES, JAZZY, KILTED, PROGRAMS, eventually

STRING = "std_msgs/msg/String"
A, B = "10.77.0.1", "10.77.0.2"


def variables(reach="SUBNET", peers="", **more):
    return {"ROS_AUTOMATIC_DISCOVERY_RANGE": reach, "ROS_STATIC_PEERS": peers, **more}


ONLY = {"ROS_LOCALHOST_ONLY": "1"}

# Ours, theirs, whether they see each other. Theirs runs on another host.
APART = [
    (variables(), variables(), True),
    (variables("LOCALHOST"), variables(), False),
    (variables(), variables("LOCALHOST"), False),
    (variables("LOCALHOST", B), variables("LOCALHOST"), True),
    (variables("LOCALHOST"), variables("LOCALHOST", A), True),
    (variables("SUBNET", B), variables("LOCALHOST"), True),
    (variables("OFF"), variables(), False),
    (variables("OFF", B), variables(), False),
    (variables(), variables("OFF"), False),
    (variables("SYSTEM_DEFAULT"), variables(), True),
    (variables("SYSTEM_DEFAULT", B), variables("LOCALHOST"), False),
    (variables(**ONLY), variables(), False),
    (variables("SUBNET", B, **ONLY), variables("LOCALHOST"), False),
    (variables(**ONLY), variables("LOCALHOST", A), True),
]
# Theirs runs on the same host.
TOGETHER = [
    (variables("LOCALHOST"), variables("LOCALHOST"), True),
    (variables("LOCALHOST"), variables(), True),
    (variables(), variables("LOCALHOST"), True),
    (variables("OFF"), variables("LOCALHOST"), False),
    (variables(**ONLY), variables(), True),
    (variables("SYSTEM_DEFAULT"), variables("LOCALHOST"), True),
]


class Environment(NetworkTest):
    def nodes(self, host, env, python, name):
        """rclpy on a host; its events tell in the end which nodes it has seen."""
        return self.on(host, python, PROGRAMS / "ros2_peer.py", "graph", "-", "/never", "--node", name,
                       "--timeout", "15", env=env)

    def case(self, net, where, domain, ours, theirs, python):
        domain = {"ROS_DOMAIN_ID": str(domain)}
        watcher = self.nodes(net[where], {**theirs, **domain}, python, "watcher")
        truth = self.nodes(net["a"], {**ours, **domain}, python, "truth")
        probe = self.on(net["a"], BINARIES / "dds_probe", "--relay", STRING, "/in", "/out", "reliable",
                        env={**ours, **domain})
        return watcher, truth, probe

    def check(self, net, where, cases, python):
        # Each case has a domain of its own, so that several run at a time.
        for start in range(0, len(cases), 5):
            running = []
            for number, (ours, theirs, meet) in enumerate(cases[start:start + 5], start):
                programs = self.case(net, where, 10 + number, ours, theirs, python)
                running.append((ours, theirs, meet, programs))
            for ours, theirs, meet, (watcher, truth, probe) in running:
                with self.subTest(where=where, ours=ours, theirs=theirs):
                    self.assertEqual(watcher.finish(40), 0, str(watcher))
                    self.assertEqual(truth.finish(40), 0, str(truth))
                    seen, back = ({n for n in p.all("nodes")[0]["nodes"]} for p in (watcher, truth))
                    self.assertEqual("/truth" in seen or "/watcher" in back, meet, f"rclpy: {watcher}\n{truth}")
                    self.assertEqual("/dds_probe" in seen, meet, f"{watcher}\n{probe}")
                probe.close()

    def test_hosts_see_each_other_as_rclpy_does(self):
        net = self.network("a", "b")
        self.check(net, "b", APART, JAZZY)

    def test_programs_of_one_host_see_each_other_as_rclpy_does(self):
        net = self.network("a", "b")
        self.check(net, "a", TOGETHER, KILTED)

    def test_static_peers_are_found_by_name_when_the_name_becomes_known(self):
        net = self.network("a", "b", "c")
        hosts = self.hosts_file(net["a"])
        env = variables("LOCALHOST", f"robot-b; robot-c:{7410 + 250 * self.domain}")
        probe = self.on(net["a"], BINARIES / "dds_probe", "--relay", STRING, "/in", "/out", "reliable", env=env)
        probe.wait_text("cannot resolve a host of ROS_STATIC_PEERS; trying again")
        peers = [self.on(net[name], JAZZY, PROGRAMS / "ros2_peer.py", "graph", "-", "/dds_probe", "--timeout", "50",
                         env=variables("LOCALHOST")) for name in ("b", "c")]
        hosts.write_text("127.0.0.1 localhost\n10.77.0.2 robot-b\nfd77::2 robot-b\n10.77.0.3 robot-c\n")
        for peer in peers:
            self.assertEqual(peer.finish(55), 0, str(peer))
            self.assertIn("/dds_probe", peer.all("nodes")[0]["nodes"], f"{peer}\n{probe}")

    def hosts_file(self, host):
        """An /etc/hosts of its own for a host, empty at first."""
        path = self.folder() / "hosts"
        path.write_text("127.0.0.1 localhost\n")
        host.run("mount", "--bind", path, "/etc/hosts")
        return path

    def test_static_peers_of_ipv6(self):
        net = self.network("a", "b", v4=False)
        link_local = net["b"].run("ip", "-6", "-br", "addr", "show", "eth0", "scope", "link").split()[2].split("/")[0]
        for text in ("fd77::2", f"[fd77::2]:{7410 + 250 * self.domain}", f"{link_local}%eth0"):
            with self.subTest(text):
                ours = self.on(net["b"], BINARIES / "dds_probe", "--relay", STRING, "/in", "/out", "reliable",
                               env={**variables("LOCALHOST"), "FASTDDS_BUILTIN_TRANSPORTS": "UDPv6"})
                ours.wait("ready")
                other = self.on(net["a"], BINARIES / "dds_probe", "--relay", STRING, "/in", "/out", "reliable",
                                env=variables("LOCALHOST", text))
                eventually(lambda: any("participant found" in line for line in other.noise), 20)
                eventually(lambda: any("participant found" in line for line in ours.noise), 20)
                ours.close()
                other.close()

    def test_more_participants_than_are_searched_is_warned_about(self):
        net = self.network("a")
        ports = ",".join(str(7410 + 250 * self.domain + n) for n in range(64))
        holder = self.on(net["a"], "/usr/bin/python3", "-c", HOLD, ports)
        holder.wait("held")
        env = variables("LOCALHOST")
        probe = self.on(net["a"], BINARIES / "dds_probe", env=env)
        probe.wait("ready")
        self.assertIn("more than 32 participants on this host", "\n".join(probe.noise))


HOLD = """
import json, socket, sys, time
held = []
for port in sys.argv[1].split(","):
    held.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    held[-1].bind(("0.0.0.0", int(port)))
print(json.dumps({"event": "held"}), flush=True)
time.sleep(60)
"""

if __name__ == "__main__":
    unittest.main()
