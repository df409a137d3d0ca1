"""IPv6 with stock programs, on hosts of a network of their own."""
import unittest
import zlib

from netns import NetworkTest
from peerlib import pattern
from peers import BINARIES, JAZZY, KILTED, PROGRAMS, TOOLS

STRING = "std_msgs/msg/String"
FAST_V6 = {"FASTDDS_BUILTIN_TRANSPORTS": "UDPv6"}
CYCLONE_V6 = {"CYCLONEDDS_URI": '<CycloneDDS><Domain id="any"><General><Transport>udp6</Transport></General>'
                                "</Domain></CycloneDDS>"}
CYCLONE_V6_LOOPBACK = {"CYCLONEDDS_URI": """<CycloneDDS><Domain id="any"><General><Transport>udp6</Transport>
<Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces><AllowMulticast>false</AllowMulticast></General>
<Discovery><ParticipantIndex>auto</ParticipantIndex><Peers><Peer address="::1"/></Peers></Discovery></Domain></CycloneDDS>"""}
IMAGE = "sensor_msgs/msg/Image"
IMAGE_BYTES = 2764800


class Ipv6(NetworkTest):
    def relay(self, host, env=FAST_V6):
        """Our node, which repeats on /out what it hears on /in."""
        probe = self.on(host, BINARIES / "dds_probe", "--relay", STRING, "/in", "/out", "reliable", env=env)
        probe.wait("ready")
        return probe

    def there_and_back(self, host, command, env):
        """Sends through the relay with a foreign publisher and subscriber on a host; checks that all came back once."""
        want = ("--count", "10", "--timeout", "40")
        sub = self.on(host, *command, "sub", STRING, "/out", *want, env=env)
        # Publisher and subscriber find the relay at times of their own; what is sent before both have is lost.
        sub.wait("matched", 30)
        pub = self.on(host, *command, "pub", STRING, "/in", "--json", '{"data":"hi {i}"}', *want, env=env)
        self.assertEqual(sub.finish(45), 0, f"{sub}\n{pub}")
        texts = [e["msg"]["data"] for e in sub.all("msg")]
        self.assertEqual(texts, [f"hi {i}" for i in range(10)], f"{sub}\n{pub}")
        pub.finish()

    def fast_dds(self, host, python, env=FAST_V6):
        self.there_and_back(host, (python, PROGRAMS / "ros2_peer.py"), env)

    def cyclone(self, host, env=CYCLONE_V6):
        self.there_and_back(host, (TOOLS, PROGRAMS / "cyclone_peer.py"), env)

    def test_fast_dds_and_cyclone_over_a_network_of_both_versions(self):
        net = self.network("a", "b")
        self.relay(net["a"])
        self.fast_dds(net["b"], JAZZY)
        self.fast_dds(net["b"], KILTED)
        self.cyclone(net["b"])
        # Those of IPv4 are met as well.
        self.fast_dds(net["b"], JAZZY, env={})

    def test_a_network_without_ipv4(self):
        net = self.network("a", "b", v4=False)
        self.relay(net["a"])
        self.fast_dds(net["b"], JAZZY)
        self.cyclone(net["b"])

    def test_a_cable_without_any_configured_address(self):
        net = self.network("a", "b", v4=False, v6=False)
        self.relay(net["a"])
        self.fast_dds(net["b"], JAZZY)
        self.cyclone(net["b"])

    def test_one_host_over_its_loopback_interface(self):
        host = self.network("a", v4=False, v6=False)["a"]
        host.run("ip", "link", "del", "eth0")
        self.relay(host)
        self.fast_dds(host, JAZZY)
        self.fast_dds(host, KILTED)
        self.cyclone(host, CYCLONE_V6_LOOPBACK)

    def test_images_arrive_whole(self):
        for mtu in (1500, 1280):
            with self.subTest(mtu=mtu):
                net = self.network("a", "b", v4=False)
                for host in net.hosts.values():
                    host.run("ip", "link", "set", "eth0", "mtu", mtu)
                self.images(net)

    def images(self, net):
        probe = self.on(net["a"], BINARIES / "dds_probe", "--relay", IMAGE, "/in", "/out", "reliable", env=FAST_V6)
        probe.wait("ready")
        want = ("--count", "3", "--timeout", "40")
        command = (JAZZY, PROGRAMS / "ros2_peer.py")
        sub = self.on(net["b"], *command, "sub", IMAGE, "/out", *want, env=FAST_V6)
        sub.wait("ready", 30)
        pub = self.on(net["b"], *command, "pub", IMAGE, "/in", "--fill", f"data={IMAGE_BYTES}", "--rate", "2", *want,
                      env=FAST_V6)
        self.assertEqual(sub.finish(45), 0, f"{sub}\n{pub}\n{probe}")
        crc = zlib.crc32(pattern(IMAGE_BYTES))
        self.assertEqual([e["msg"]["data"] for e in sub.all("msg")], [{"len": IMAGE_BYTES, "crc32": crc}] * 3)


if __name__ == "__main__":
    unittest.main()
