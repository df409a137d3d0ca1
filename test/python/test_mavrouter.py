#!/usr/bin/env python3
"""Checks a running byte router from outside: plays the flight controller and every endpoint.

    rostrans --router_enable=true --router_source=127.0.0.1:14560 \\
             --router_endpoints=127.0.0.1:14550,127.0.0.1:14552 &
    test_mavrouter.py --wait-start --router-port 14560 --endpoint 127.0.0.1:14550 --endpoint 127.0.0.1:14552

A serial source, on a pseudo terminal that this program makes; --router-port is the port endpoints answer to:

    test_mavrouter.py --mode serial --create-pty --pty-link /tmp/ttyFCU --wait-start --router-port 14561 &
    rostrans --router_enable=true --router_source=/tmp/ttyFCU:921600 --router_upstream_port=14561 \\
             --router_endpoints=127.0.0.1:14550,127.0.0.1:14552

Each check is a line PASS or FAIL; the last line is "N passed, N failed", and the exit code says the same.
Needs nothing but Python's standard library. All traffic stays where the options point, by default on loopback.
"""
import argparse
import os
import select
import socket
import struct
import sys
import threading
import time
import tty

FORCE_RCVBUF = getattr(socket, "SO_RCVBUFFORCE", 33)
# Memory the kernel accounts for a small datagram, with room to spare.
KERNEL_BYTES_PER_DATAGRAM = 1300


def crc(data):
    value = 0xFFFF
    for byte in data:
        byte ^= value & 0xFF
        byte ^= (byte << 4) & 0xFF
        value = (value >> 8) ^ (byte << 8) ^ (byte << 3) ^ (byte >> 4)
    return value & 0xFFFF


def frame(msgid, crc_extra, payload, seq=0, sysid=1, compid=1):
    """A MAVLink 2 frame."""
    payload = payload.rstrip(b"\0") or b"\0"
    body = struct.pack("<BBBBBBHB", len(payload), 0, 0, seq, sysid, compid, msgid & 0xFFFF, msgid >> 16) + payload
    return b"\xFD" + body + struct.pack("<H", crc(body + bytes([crc_extra])))


def heartbeat(seq=0, sysid=1, compid=1, kind=2, autopilot=12):
    return frame(0, 50, struct.pack("<IBBBBB", 0, kind, autopilot, 0, 4, 3), seq, sysid, compid)


def gcs_heartbeat(seq=0):
    return heartbeat(seq, 255, 190, 6, 8)


def burst_frame(number):
    """ENCAPSULATED_DATA that differs for each number; 25 to 266 bytes long."""
    data = bytes((i * 7 + number) & 0xFF or 1 for i in range(6 + number % 242))
    payload = struct.pack("<HI", number & 0xFFFF, number ^ 0xA5A5A5A5) + data + b"\1"
    return frame(131, 223, payload, number & 0xFF)


def udp_socket(addr, timeout):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for option in (socket.SO_RCVBUF, FORCE_RCVBUF):
        try:
            s.setsockopt(socket.SOL_SOCKET, option, 8 << 20)
        except OSError:
            pass  # the forced form needs privileges
    s.bind(addr)
    s.settimeout(timeout)
    return s


def drain(*sockets):
    """Throws away what has arrived; returns how many datagrams that were."""
    count = 0
    for s in sockets:
        timeout = s.gettimeout()
        s.setblocking(False)
        try:
            while True:
                s.recv(65536)
                count += 1
        except OSError:
            pass  # nothing left
        s.settimeout(timeout)
    return count


def receive(s, wanted, timeout):
    """Waits for the datagram `wanted`; others are passed over. True when it came."""
    end = time.monotonic() + timeout
    while (left := end - time.monotonic()) > 0:
        s.settimeout(left)
        try:
            if s.recv(65536) == wanted:
                return True
        except socket.timeout:
            break
    return False


class UdpFcu:
    """A flight controller on a UDP socket of its own."""

    def __init__(self, options):
        self.router = (options.router_host, options.router_port)
        self.socket = udp_socket(("127.0.0.1" if options.router_host.startswith("127.") else "", 0), options.timeout)

    def send(self, data):
        self.socket.sendto(data, self.router)

    def receive(self, wanted, timeout):
        return receive(self.socket, wanted, timeout)

    def drain(self):
        return drain(self.socket)


class SerialFcu:
    """A flight controller at the far end of a serial line."""

    def __init__(self, options):
        self.options, self.fd = options, None
        if options.device:
            self.fd = os.open(options.device, os.O_RDWR | os.O_NOCTTY)
            tty.setraw(self.fd)
        else:
            self.plug_in()

    def plug_in(self):
        """A new pseudo terminal, under the link's name where there is one."""
        self.fd, near = os.openpty()
        tty.setraw(near)
        name = os.ttyname(near)
        os.close(near)
        link = self.options.pty_link
        if link:
            os.symlink(name, link + ".new")
            os.replace(link + ".new", link)
        print(f"serial port for the router: {link or name}", flush=True)

    def unplug(self):
        os.unlink(self.options.pty_link)
        os.close(self.fd)

    def send(self, data):
        while data:
            try:
                data = data[os.write(self.fd, data):]
            except OSError:
                time.sleep(0.01)  # nobody has the other end open yet

    def receive(self, wanted, timeout):
        """Waits until `wanted` shows up in the byte stream."""
        seen, end = b"", time.monotonic() + timeout
        while wanted not in seen:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                return False
            try:
                seen += os.read(self.fd, 65536)
            except OSError:
                time.sleep(0.01)  # nobody has the other end open
        return True

    def drain(self):
        count = 0
        while select.select([self.fd], [], [], 0)[0]:
            try:
                count += len(os.read(self.fd, 65536))
            except OSError:
                break
        return count


class Checks:
    def __init__(self, options):
        self.options, self.passed, self.failed = options, 0, 0
        self.serial = options.mode == "serial"
        self.two_way = not self.serial or options.router_port > 0
        self.endpoints = [udp_socket(addr, options.timeout) for addr in options.endpoint]
        self.router = (options.router_host, options.router_port)
        self.fcu = SerialFcu(options) if self.serial else UdpFcu(options)

    def report(self, name, problem):
        if problem:
            self.failed += 1
            print(f"FAIL {name}: {problem}", flush=True)
        else:
            self.passed += 1
            print(f"PASS {name}", flush=True)

    def names(self):
        return [f"{host}:{port}" for host, port in self.options.endpoint]

    def wait_start(self):
        """Sends heartbeats until one comes through."""
        end = time.monotonic() + self.options.wait_start
        while time.monotonic() < end:
            self.fcu.send(heartbeat())
            if all(select.select([endpoint], [], [], 0.5)[0] for endpoint in self.endpoints):
                return
        print(f"the router forwarded nothing within {self.options.wait_start:g} s", flush=True)

    def settle(self):
        """Waits until nothing is under way any more."""
        while True:
            time.sleep(0.1)
            if not drain(*self.endpoints) + self.fcu.drain():
                return

    def downstream(self, name="downstream: the flight controller's frame arrives at every endpoint"):
        self.settle()
        sent = heartbeat(101)
        self.fcu.send(sent)
        missing = [n for n, e in zip(self.names(), self.endpoints) if not receive(e, sent, self.options.timeout)]
        self.report(name, f"nothing at {', '.join(missing)}" if missing else "")

    def upstream(self, fcu=None, name="upstream: every endpoint's frame arrives at the learned flight controller"):
        fcu, missing = fcu or self.fcu, []
        for seq, (endpoint_name, endpoint) in enumerate(zip(self.names(), self.endpoints)):
            sent = gcs_heartbeat(seq)
            endpoint.sendto(sent, self.router)
            if not fcu.receive(sent, self.options.timeout):
                missing.append(endpoint_name)
        self.report(name, f"nothing from {', '.join(missing)}" if missing else "")

    def isolation(self):
        self.settle()
        for seq, endpoint in enumerate(self.endpoints):
            endpoint.sendto(gcs_heartbeat(200 + seq), self.router)
        # What comes down later shows that nothing else is under way.
        marker = heartbeat(102)
        self.fcu.send(marker)
        strays = []
        for name, endpoint in zip(self.names(), self.endpoints):
            end = time.monotonic() + self.options.timeout
            while (left := end - time.monotonic()) > 0:
                endpoint.settimeout(left)
                try:
                    data = endpoint.recv(65536)
                except socket.timeout:
                    strays.append(f"marker missing at {name}")
                    break
                if data == marker:
                    break
                strays.append(f"{len(data)} bytes at {name}")
        self.report("isolation: an endpoint's frame arrives at no other endpoint", ", ".join(strays))

    def burst(self):
        self.settle()
        count = self.options.burst
        frames = [burst_frame(number) for number in range(count)]
        seen = [[] for _ in self.endpoints]
        end = time.monotonic() + 30 + self.options.timeout

        def read(endpoint, into):
            endpoint.settimeout(self.options.timeout)
            while len(into) < count and time.monotonic() < end:
                try:
                    into.append(endpoint.recv(65536))
                except socket.timeout:
                    return

        readers = [threading.Thread(target=read, args=pair, daemon=True) for pair in zip(self.endpoints, seen)]
        for reader in readers:
            reader.start()
        # The kernel may grant this program's own sockets little room; never overrun them.
        room = min(e.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) for e in self.endpoints)
        window = max(room // KERNEL_BYTES_PER_DATAGRAM, 32)
        started = time.monotonic()
        for number, data in enumerate(frames):
            while number - min(map(len, seen)) >= window and any(r.is_alive() for r in readers):
                time.sleep(0.0005)
            self.fcu.send(data)
        for reader in readers:
            reader.join()
        took = time.monotonic() - started
        problems = []
        for name, got in zip(self.names(), seen):
            if got != frames:
                same = sum(a == b for a, b in zip(got, frames))
                problems.append(f"{name} got {len(got)} of {count}, {same} of them as sent and in order")
        self.report(f"burst: {count} frames complete, in order and byte-exact at every endpoint "
                    f"({took:.2f} s, at most {min(window, count)} under way)", "; ".join(problems))

    def relearn(self):
        self.settle()
        self.fcu.send(heartbeat(103))
        old, new = self.fcu, UdpFcu(self.options)
        end = time.monotonic() + self.options.relearn
        learned = False
        while not learned and time.monotonic() < end:
            new.send(heartbeat(104))
            self.endpoints[0].sendto(gcs_heartbeat(77), self.router)
            learned = new.receive(gcs_heartbeat(77), 0.25)
        name = "relearn: after a restart from another port the flight controller is found again"
        self.report(name, "" if learned else f"not within {self.options.relearn:g} s")
        self.fcu = new
        self.settle()
        old.drain()
        self.downstream("relearn: the restarted flight controller reaches every endpoint")
        self.upstream(name="relearn: every endpoint reaches the restarted flight controller")
        strays = old.drain()
        self.report("relearn: the old address gets nothing more", f"{strays} datagrams" if strays else "")

    def replug(self):
        self.fcu.unplug()
        time.sleep(0.5)
        self.fcu.plug_in()
        end = time.monotonic() + self.options.relearn + 5
        drain(*self.endpoints)
        found = False
        while not found and time.monotonic() < end:
            self.fcu.send(heartbeat(105))
            found = bool(select.select(self.endpoints, [], [], 0.25)[0])
        self.report("replug: the port is found again", "" if found else "not found")
        self.downstream("replug: the flight controller reaches every endpoint")
        if self.two_way:
            self.upstream(name="replug: every endpoint reaches the flight controller")

    def run(self):
        if self.options.wait_start is not None:
            self.wait_start()
        self.downstream()
        if self.two_way:
            self.upstream()
            self.isolation()
        self.burst()
        if not self.serial:
            self.relearn()
        elif self.options.pty_link and not self.options.device:
            self.replug()
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0


def address(text):
    host, _, port = text.rpartition(":")
    try:
        return host or "127.0.0.1", int(port)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no address; write '127.0.0.1:14550'") from None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=["udp", "serial"], default="udp", help="what the router's source is")
    parser.add_argument("--router-host", default="127.0.0.1", help="address of the router")
    parser.add_argument("--router-port", type=int, help="UDP port of the router: its source (default 14560); with a "
                        "serial source where endpoints answer to (default 0: the route is one-way)")
    parser.add_argument("--endpoint", type=address, action="append", metavar="HOST:PORT",
                        help="an endpoint of the router, to be repeated (default 127.0.0.1:14550 and 127.0.0.1:14552)")
    parser.add_argument("--create-pty", action="store_true", help="make the serial line as a pseudo terminal")
    parser.add_argument("--pty-link", metavar="PATH", help="name of the pseudo terminal; allows the replug check")
    parser.add_argument("--device", help="flight controller's end of an existing serial line")
    parser.add_argument("--wait-start", type=float, nargs="?", const=30.0, metavar="SECONDS",
                        help="wait until the router forwards (default 30 s)")
    parser.add_argument("--burst", type=int, default=2000, help="frames of the burst")
    parser.add_argument("--relearn", type=float, default=8.0, help="seconds a restarted flight controller may take")
    parser.add_argument("--timeout", type=float, default=3.0, help="seconds to wait for a datagram")
    options = parser.parse_args()
    if options.router_port is None:
        options.router_port = 0 if options.mode == "serial" else 14560
    options.endpoint = options.endpoint or [("127.0.0.1", 14550), ("127.0.0.1", 14552)]
    if options.mode == "serial" and not (options.create_pty or options.device):
        parser.error("--mode serial needs --create-pty or --device")
    return Checks(options).run()


if __name__ == "__main__":
    sys.exit(main())
