"""What we send, as Wireshark's dissector reads it."""
import collections
import subprocess
import sys
import unittest

from netns import NetworkTest
from peers import BINARIES, JAZZY, PROGRAMS, TOOLS, eventually
from test_ros2_qos import Side
from traffic import TrafficTest, endpoint, pair, table

SET_BOOL = "std_srvs/srv/SetBool"
VENDOR = "0x017e"
SUBMESSAGES = {0x06: "ACKNACK", 0x07: "HEARTBEAT", 0x08: "GAP", 0x09: "INFO_TS", 0x0e: "INFO_DST", 0x12: "NACK_FRAG",
               0x13: "HEARTBEAT_FRAG", 0x15: "DATA", 0x16: "DATA_FRAG"}

# What every run has; more where something is lost.
ALWAYS = {"ACKNACK", "HEARTBEAT", "GAP", "INFO_TS", "INFO_DST", "DATA", "DATA_FRAG"}


def tshark(file, condition, *fields):
    """The fields of every packet in a capture that meets the condition, in one that is still growing of all but the last."""
    wanted = [part for field in fields for part in ("-e", field)]
    # Looked at first as what it is: some port of the domain may belong to another protocol.
    done = subprocess.run(["tshark", "-o", "udp.try_heuristic_first:TRUE", "-r", file, "-Y", condition, "-T", "fields", *wanted],
                          capture_output=True, text=True, timeout=120)
    if done.returncode and "cut short" not in done.stderr:
        raise AssertionError(f"tshark: {done.stderr}")
    return [line.split("\t") for line in done.stdout.splitlines()]


class Wire(NetworkTest, TrafficTest):
    def capture(self, host, interface):
        """Records everything on an interface of a host; returns the program and its file."""
        file = self.folder() / "capture.pcapng"
        # Runs of datagrams are captured before the kernel cuts them apart, and make one strange packet, unless it does so early.
        if interface != "lo":
            host.run(sys.executable, PROGRAMS / "lossy_link.py", "--no-offload", interface)
        program = self.on(host, "tshark", "-i", interface, "-w", file, "-q", "-f", "udp")
        program.wait_text("Capturing on")
        return program, file

    def talk(self, left, right):
        """Everything our side can say, to all the others: topics of all sizes, latched history, services, good-bye."""
        endpoints = []
        for vendor in ("jazzy", "cyclone"):
            for kind, profile in (("string", "sensor_data"), ("imu", "parameters"), ("image", "default")):
                endpoints += pair("ours", vendor, f"/{kind}/to_{vendor}", kind, profile)
                endpoints += pair(vendor, "ours", f"/{kind}/from_{vendor}", kind, profile)
        endpoints += [endpoint("ours", "pub", "/latched", "pose", "tf_static"),
                      endpoint("cyclone", "sub", "/latched", "pose", "tf_static")]
        self.plan(endpoints)
        ours = self.ours("ours", host=left)
        self.ready(ours)
        ours.publish("/latched", count=9)
        peers = [ours, self.jazzy("jazzy", host=right), self.cyclone("cyclone", host=right)]
        self.ready(*peers[1:])
        number, _ = self.warm_up(*peers, topics="/imu/")
        for peer in peers:
            peer.start_publishing("/imu/", number, 100, hz=100)
        self.warm_up(*peers, topics="/string/", where=lambda _: False)
        # One after the other: two images at once are more than a default socket buffer holds.
        for direction in ("to_jazzy", "from_jazzy", "to_cyclone", "from_cyclone"):
            self.warm_up(*peers, topics=f"/image/{direction}", pause=20.0)
        self.until_received(*peers, last=8, topics="/latched")

        self.promise(left, right)
        probe = self.on(left, BINARIES / "dds_probe", "--forward", SET_BOOL, "/front", "/back")
        probe.wait("ready")
        server = self.on(right, JAZZY, PROGRAMS / "ros2_peer.py", "serve", SET_BOOL, "/back", "--timeout", "50")
        server.wait("ready")
        slow = self.on(right, JAZZY, PROGRAMS / "ros2_peer.py", "call", SET_BOOL, "/front", "--json", '{"data":true}',
                       "--count", "30", "--rate", "10", "--timeout", "40", "--patience", "6")
        slow.wait("matched")
        # While the other one is there, which must be told that these replies are not for it.
        quick = self.on(right, TOOLS, PROGRAMS / "cyclone_service.py", "call", "/front", "--count", "10", "--timeout", "40",
                        "--patience", "6")
        for client in (quick, slow):
            self.assertEqual(client.finish(45), 0, f"{client}\n{probe}\n{server}")
        for program in (probe, ours.program):
            program.process.stdin.close()
            self.assertEqual(program.finish(), 0, str(program))

    def promise(self, left, right):
        """Every policy there is, and every way to say that a writer is alive."""
        ours, theirs = (Side(self.on(left, BINARIES / "qos_probe")), Side(self.on(right, TOOLS, PROGRAMS / "cyclone_qos.py")))
        everything = {"latched": True, "deadline_ms": 2000, "lifespan_ms": 9000, "strength": 3, "partitions": ["a", "b*"]}
        for side in (ours, theirs):
            side.program.wait("ready")
        for liveliness in ("automatic", "manual_by_participant", "manual_by_topic"):
            topic, qos = f"/{liveliness}", {**everything, "liveliness": liveliness, "lease_ms": 2000}
            ours.make("pub", f"w{topic}", topic, qos)
            theirs.make("sub", f"r{topic}", topic, qos)
            eventually(lambda: ours.matched(f"w{topic}") and theirs.matched(f"r{topic}"))
            ours.tell(do="assert", id=f"w{topic}")
            ours.tell(do="write", id=f"w{topic}", text="hello")
            eventually(lambda: theirs.texts(f"r{topic}"))
        ours.program.process.stdin.close()
        self.assertEqual(ours.program.finish(), 0, str(ours.program))

    def check(self, title, host, program, file, wanted):
        """Nothing of ours is malformed or remarkable, and everything wanted is there."""
        # An ACKNACK cut short in our name, to see that the dissector would have noticed.
        broken = b"RTPS\x02\x03\x01\x7e" + bytes(12) + b"\x06\x01\x08\x00" + bytes(8)
        host.run(sys.executable, "-c", "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
                 f".sendto({broken!r}, ('10.77.0.1', {7411 + 250 * self.domain}))")
        eventually(lambda: tshark(file, f"rtps.guidPrefix == {'00' * 12}", "frame.number"), period=0.5)
        program.stop()
        mine = f"rtps.vendorId == {VENDOR}"
        others = "rtps.vendorId == 0x010f || rtps.vendorId == 0x0110"
        # An ICMP error has the beginning of what it is about in it, which is malformed for being cut.
        ours = f"!({others}) && !icmp && !icmpv6"
        complaints = tshark(file, f"(_ws.malformed || _ws.expert) && {ours}", "frame.number", "_ws.expert.message", "rtps.sm.id")
        self.assertEqual([c[2] for c in complaints], ["0x06"], complaints)
        count = collections.Counter()
        for [ids] in tshark(file, mine, "rtps.sm.id"):
            count.update(int(sub, 16) for sub in ids.split(",") if sub)
        rows = [(SUBMESSAGES.get(kind, hex(kind)), number) for kind, number in sorted(count.items())]
        table(title, [("submessage", "of ours"), *rows])
        self.assertEqual(wanted - {SUBMESSAGES.get(kind) for kind in count}, set())
        for what, condition in (("a dispose", "rtps.param.id == 0x0071"), ("a related identity", "rtps.param.id == 0x0083"),
                                ("an assertion", "rtps.flag.liveliness == 1"),
                                ("a liveliness message", "rtps.sm.wrEntityId == 0x000200c2 && rtps.sm.id == 0x15")):
            self.assertGreater(len(tshark(file, f"{mine} && {condition}", "frame.number")), 0, what)

    def test_dissector_accepts_all_we_say_on_the_loopback_interface(self):
        network = self.network("host")
        program, file = self.capture(network["host"], "lo")
        self.talk(network["host"], network["host"])
        self.check("loopback", network["host"], program, file, ALWAYS)

    def test_dissector_accepts_all_we_say_on_a_bad_cable(self):
        network = self.network("left", "right", v6=False)
        self.bad_cable(network, "left", "right", "--loss", "0.03", "--reorder", "0.02")
        program, file = self.capture(network["left"], "eth0")
        self.talk(network["left"], network["right"])
        # When acknowledgements are late there may be nothing to strike.
        self.check("3 % loss", network["right"], program, file, ALWAYS - {"GAP"} | {"NACK_FRAG"})

    def test_dissector_accepts_all_we_say_over_ipv6(self):
        network = self.network("left", "right", v4=False)
        self.plan([e for kind in ("string", "image") for e in pair("ours", "second", f"/{kind}", kind, "tf_static")])
        program, file = self.capture(network["left"], "eth0")
        v6 = {"FASTDDS_BUILTIN_TRANSPORTS": "UDPv6"}
        peers = [self.ours("ours", host=network["left"], env=v6), self.ours("second", host=network["right"], env=v6)]
        self.ready(*peers)
        self.warm_up(*peers, pause=5.0)
        for peer in peers:
            peer.program.process.stdin.close()
            self.assertEqual(peer.program.finish(), 0, str(peer))
        program.stop()
        self.assertGreater(len(tshark(file, f"ipv6 && rtps.vendorId == {VENDOR} && rtps.sm.id == 0x16", "frame.number")), 0)
        self.assertEqual(tshark(file, "_ws.malformed || _ws.expert", "frame.number", "_ws.expert.message"), [])


if __name__ == "__main__":
    unittest.main()
