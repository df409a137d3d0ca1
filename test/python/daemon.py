"""Starts rostrans itself for a test, with its files in a temporary folder."""
import os
import socket
import tty

from peers import BINARIES, HARD_LIMIT, PeerTest


def free_port():
    """A UDP port of 127.0.0.1 that nobody uses now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Udp:
    """A UDP socket on loopback with a receive timeout."""

    def __init__(self, timeout=20.0):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(timeout)
        self.port = self.socket.getsockname()[1]

    def send(self, data, port):
        self.socket.sendto(data, ("127.0.0.1", port))

    def receive(self):
        """The next datagram and the port it came from."""
        data, (_, port) = self.socket.recvfrom(65536)
        return data, port

    def close(self):
        self.socket.close()


class Pty:
    """A serial line made of a pseudo terminal: `device` for rostrans, `read` and `write` for the test."""

    def __init__(self):
        self.master, self.slave = os.openpty()
        tty.setraw(self.master)
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.device = os.ttyname(self.slave)

    def write(self, data):
        return os.write(self.master, data)

    def read(self):
        """What has arrived so far, possibly nothing."""
        try:
            return os.read(self.master, 65536)
        except BlockingIOError:
            return b""

    def close(self):
        os.close(self.master)
        os.close(self.slave)


class DaemonTest(PeerTest):
    """A test case that runs rostrans."""

    def udp(self):
        udp = Udp()
        self.addCleanup(udp.close)
        return udp

    def pty(self):
        pty = Pty()
        self.addCleanup(pty.close)
        return pty

    def rostrans(self, *options, params="", rules=None, env=None, limit=HARD_LIMIT):
        """rostrans with a parameter file and, if given, a rule file; waits until it runs, a third of its limit at most."""
        folder = self.folder()
        param_file = folder / "rostrans.param"
        param_file.write_text(params)
        command = [BINARIES / "rostrans", "-c", param_file]
        if rules is not None:
            rule_file = folder / "rules.yaml"
            rule_file.write_text(rules)
            command += ["--rules", rule_file]
        program = self.start(*command, *options, env=env, limit=limit)
        program.wait_text("running;", limit / 3)
        return program
