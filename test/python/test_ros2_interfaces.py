"""Networks that come, go and change while everything runs."""
import tempfile
import unittest
from pathlib import Path

from netns import NetworkTest
from peers import BINARIES, JAZZY, KILTED, PROGRAMS

STRING = "std_msgs/msg/String"


class Interfaces(NetworkTest):
    def relay(self, host, *more, **kwargs):
        """Our node, which repeats on /out what it hears on /in."""
        probe = self.on(host, BINARIES / "dds_probe", "--relay", STRING, "/in", "/out", "reliable", *more, limit=120,
                        **kwargs)
        probe.wait("ready")
        return probe

    def stream(self, host):
        """A stock publisher of numbers on /in, and a stock subscriber of /out."""
        always = ("--count", "100000", "--timeout", "110")
        sub = self.on(host, JAZZY, PROGRAMS / "ros2_peer.py", "sub", STRING, "/out", *always, limit=120)
        pub = self.on(host, JAZZY, PROGRAMS / "ros2_peer.py", "pub", STRING, "/in", "--json", '{"data":"{i}"}',
                      "--wait", "0", *always, limit=120)
        return sub, pub

    def flows(self, sub, timeout=30):
        """Waits until samples arrive that were sent after this moment."""
        seen = sub.all("msg")
        last = int(seen[-1]["msg"]["data"]) if seen else 0
        # What was in flight or is repaired does not count.
        sub.wait("msg", timeout, lambda e: int(e["msg"]["data"]) > last + 30)

    def quiet(self, probe, lines):
        self.assertLess(len(probe.noise), lines, str(probe))

    def test_a_node_started_before_the_network_works_when_it_comes(self):
        net = self.network("a", "b")
        net.unplug("a", "eth0")
        probe = self.relay(net["a"])
        sub, _ = self.stream(net["b"])
        net.plug("a", "eth0", "10.77.0.1/24")
        self.flows(sub)
        self.quiet(probe, 12)

    def test_an_interface_goes_and_comes_back_with_another_address(self):
        net = self.network("a", "b")
        probe = self.relay(net["a"])
        sub, _ = self.stream(net["b"])
        self.flows(sub)
        net.unplug("a", "eth0")
        net.plug("a", "eth0", "10.77.0.77/24")
        self.flows(sub)
        self.quiet(probe, 20)

    def test_an_address_changes(self):
        net = self.network("a", "b")
        probe = self.relay(net["a"])
        sub, _ = self.stream(net["b"])
        self.flows(sub)
        self.readdress(net["a"], "10.77.0.77")
        self.flows(sub)
        self.quiet(probe, 20)

    def test_endpoints_made_after_an_address_change_meet_us(self):
        for python in (JAZZY, KILTED):
            with self.subTest(str(python)):
                net = self.network("a", "b")
                probe = self.relay(net["a"], "--relay", STRING, "/late_in", "/late_out", "reliable")
                peer = self.on(net["b"], python, PROGRAMS / "ros2_later.py", limit=90)
                peer.say("sub /out")
                peer.say("pub /in")
                peer.wait("msg", 30)
                self.readdress(net["a"], "10.77.0.77")
                probe.wait_text("other addresses")
                peer.say("sub /late_out")
                peer.say("pub /late_in")
                peer.wait("msg", 30, lambda e: e["topic"] == "/late_out")

    def readdress(self, host, address):
        """Gives eth0 another address instead of the first one."""
        host.run("ip", "addr", "add", f"{address}/24", "dev", "eth0")
        host.run("ip", "addr", "del", "10.77.0.1/24", "dev", "eth0")
        # The kernel drops the second address with the first.
        host.run("ip", "addr", "replace", f"{address}/24", "dev", "eth0")

    def test_a_link_goes_down_and_up(self):
        net = self.network("a", "b")
        probe = self.relay(net["a"])
        sub, _ = self.stream(net["b"])
        self.flows(sub)
        net["a"].run("ip", "link", "set", "eth0", "down")
        probe.wait_text("no network")
        net["a"].run("ip", "link", "set", "eth0", "up")
        self.flows(sub)
        self.quiet(probe, 20)

    def test_a_second_interface_reaches_a_second_network(self):
        net = self.network("a", "b")
        probe = self.relay(net["a"])
        near, _ = self.stream(net["b"])
        self.flows(near)
        net.cable("a", "b", "usb0", "10.78.0.1/24", "10.78.0.2/24")
        net.unplug("b", "eth0")
        late, _ = self.stream(net["b"])
        self.flows(late)
        self.quiet(probe, 12)

    def test_interfaces_chosen_by_name_or_address_may_come_later(self):
        for chosen in ("usb0", "10.77.0.9"):
            with self.subTest(chosen):
                net = self.network("a", "b")
                host = net["a"]
                program = self.rostrans(host, chosen)
                program.wait_text("no such interface now; it is used when it comes")
                sub, _ = self.stream(net["b"])
                sub.wait("ready", 30)
                # The other interface is not to be used, though it would lead there.
                self.assertEqual(sub.all("matched"), [])
                net.plug("a", "usb0", "10.77.0.9/24")
                self.flows(sub)

    def rostrans(self, host, interface):
        """The daemon, which repeats on /out what it hears on /in, by way of a UDP port."""
        folder = tempfile.TemporaryDirectory(prefix="rostrans-test-")
        self.addCleanup(folder.cleanup)
        rules = Path(folder.name) / "rules.yaml"
        rules.write_text("""
- rule_id: there
  direction: rostopic_to_udp
  links: [{codec: string, topic: /in, msg_type: std_msgs/msg/String, udp_dst_ip: 127.0.0.1, udp_dst_port: 5555}]
- rule_id: back
  direction: udp_to_rostopic
  udp_listen_ip: 127.0.0.1
  udp_listen_port: 5555
  links: [{codec: string, topic: /out, msg_type: std_msgs/msg/String}]
""")
        program = self.on(host, BINARIES / "rostrans", "--rules", rules, f"--dds_interfaces={interface}", limit=120)
        program.wait_text("running;")
        return program


if __name__ == "__main__":
    unittest.main()
