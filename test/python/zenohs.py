"""Zenoh programs for tests: routers, peers as ROS nodes, raw sessions, and the adapter on its own."""
import json
import socket
import struct

from daemon import DaemonTest
from peers import BINARIES, PROGRAMS, TOOLS

STRING = "std_msgs/msg/String"
STRING_KEY = "std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"


def free_tcp_port():
    """A TCP port of 127.0.0.1 that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cdr_string(text):
    """A std_msgs/msg/String as CDR, in hex."""
    data = text.encode() + b"\0"
    return (b"\0\1\0\0" + len(data).to_bytes(4, "little") + data).hex()


def attachment(sequence=1, gid=b"\7" * 16):
    """What rmw_zenoh sends beside a sample, in hex."""
    return struct.pack("<qqB16s", sequence, 1_700_000_000_000_000_000, 16, gid).hex()


def old_attachment(sequence=1, gid=b"\7" * 16):
    """The same as rmw_zenoh before 0.2.4 sent it."""
    return (b"\x0fsequence_number" + struct.pack("<q", sequence) + b"\x10source_timestamp"
            + struct.pack("<q", 1_700_000_000_000_000_000) + b"\x0asource_gid\x10" + gid).hex()


class ZenohTest(DaemonTest):
    """A test case with a Zenoh port of its own; nothing leaves 127.0.0.1."""

    def setUp(self):
        super().setUp()
        self.port = free_tcp_port()
        self.address = f"tcp/127.0.0.1:{self.port}"

    def router(self):
        router = self.zenoh("router", "-", "-")
        router.wait("ready")
        return router

    def zenoh(self, kind, *args, limit=60):
        """test/peers/zenoh_peer.py with the arguments."""
        return self.start(TOOLS, PROGRAMS / "zenoh_peer.py", kind, *args, "--port", str(self.port), "--timeout", "45",
                          limit=limit)

    def wire(self, mode="client"):
        """A raw session; `tell` and `ask` drive it."""
        wire = self.start(TOOLS, PROGRAMS / "zenoh_wire.py", "--mode", mode, "--port", str(self.port))
        wire.zid = wire.wait("ready")["zid"]
        return wire

    def probe(self, mode, *options):
        """The adapter on its own, a `peer` or `client` of the router, or a `router`."""
        probe = self.start(BINARIES / "zenoh_probe", mode, self.address, *options)
        probe.wait("ready")
        return probe

    def rostrans_zenoh(self, *options, mode="peer", **kwargs):
        """rostrans in the Zenoh graph."""
        place = f"--zenoh_{'listen' if mode == 'router' else 'connect'}={self.address}"
        return self.rostrans("--ros2_transport=zenoh", f"--zenoh_mode={mode}", place, *options, **kwargs)


def tell(wire, do, **fields):
    """Has a raw session do something, and waits until it is done."""
    wire.say(json.dumps({"do": do, **fields}))
    wire.wait("did", where=lambda event: event["what"] == do)


def ask(wire, do, answer, **fields):
    """The same for a command that answers; returns the answer."""
    wire.say(json.dumps({"do": do, **fields}))
    return wire.wait(answer)
