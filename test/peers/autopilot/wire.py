"""The line between a vehicle and the rest: UDP, TCP or a terminal, with loss, delay, doubles and reordering by seed."""
import heapq
import os
import random
import socket
import time
import tty

LARGEST = 65536


class Faults:
    """What happens to frames on the way. Every kind of message draws from a stream of its own, so that the fate of the
    n-th MISSION_ITEM_INT does not hang on how much telemetry went out in between."""

    def __init__(self, args):
        self.seed, self.streams = args.seed, {}
        self.loss, self.jitter, self.duplicate, self.reorder = args.loss, args.jitter, args.duplicate, args.reorder

    def draw(self, kind):
        if kind not in self.streams:
            self.streams[kind] = random.Random(f"{self.seed} {kind}")
        return self.streams[kind].random()

    def lost(self, kind):
        return self.loss > 0 and self.draw(kind) < self.loss

    def delays(self, kind):
        """(delay in seconds, may overtake) for each copy that arrives; none if the frame is lost."""
        if self.lost(kind):
            return []
        copies = 2 if self.duplicate and self.draw(kind) < self.duplicate else 1
        return [(self.draw(kind) * self.jitter if self.jitter else 0.0,
                 bool(self.reorder) and self.draw(kind) < self.reorder) for _ in range(copies)]


class Wire:
    """One line. `send` takes frames, `leave` puts those on the line that are due, `receive` gives what arrived."""

    def __init__(self, faults):
        self.faults = faults
        self.dropped = 0                             # frames that a full line did not take
        self.waiting, self.order, self.latest = [], 0, 0.0

    def send(self, frame, kind):
        now = time.monotonic()
        for delay, overtakes in self.faults.delays(kind):
            if not delay and not self.waiting:
                self.put(frame)
                continue
            at = now + delay
            if not overtakes:
                at = self.latest = max(at, self.latest)
            self.order += 1
            heapq.heappush(self.waiting, (at, self.order, frame))

    def leave(self, now):
        """Sends what is due; returns when the next frame is, or None."""
        while self.waiting and self.waiting[0][0] <= now:
            self.put(heapq.heappop(self.waiting)[2])
        return self.waiting[0][0] if self.waiting else None


class Udp(Wire):
    """`udpout:HOST:PORT` sends there; `udpin:HOST:PORT` listens there and answers the last sender."""

    def __init__(self, kind, host, port, faults):
        super().__init__(faults)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.socket.bind(("127.0.0.1", 0) if kind == "udpout" else (host, port))
        self.socket.setblocking(False)
        self.peer = (host, port) if kind == "udpout" else None
        self.learns = kind == "udpin"

    def fileno(self):
        return self.socket.fileno()

    def put(self, frame):
        try:
            if self.peer:
                self.socket.sendto(frame, self.peer)
        except OSError:                              # nobody listens there now
            self.dropped += 1

    def receive(self):
        while True:
            try:
                data, sender = self.socket.recvfrom(LARGEST)
            except BlockingIOError:
                return
            except OSError:
                continue                             # an answer to a datagram that nobody took
            if self.learns:
                self.peer = sender
            yield data


class Tcp(Wire):
    """`tcpin:HOST:PORT` takes one connection after the other; `tcpout:HOST:PORT` connects, as soon as somebody listens."""

    def __init__(self, kind, host, port, faults):
        super().__init__(faults)
        self.listener, self.connection, self.rest = None, None, b""
        if kind == "tcpin":
            self.listener = socket.create_server((host, port))
            self.listener.setblocking(False)
        else:
            end = time.monotonic() + 20
            while not self.connection:
                try:
                    self.adopt(socket.create_connection((host, port)))
                except OSError:
                    if time.monotonic() > end:
                        raise
                    time.sleep(0.1)

    def adopt(self, connection):
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection, self.rest = connection, b""

    def fileno(self):
        return (self.connection or self.listener).fileno()

    def put(self, frame):
        if not self.connection:
            return
        if self.rest and len(self.rest) > LARGEST:   # the other end does not read
            self.dropped += 1
            return
        self.rest += frame
        try:
            self.rest = self.rest[self.connection.send(self.rest):]
        except BlockingIOError:
            pass
        except OSError:
            self.dropped += 1

    def receive(self):
        if not self.connection:
            try:
                self.adopt(self.listener.accept()[0])
            except BlockingIOError:
                return
        try:
            while data := self.connection.recv(LARGEST):
                yield data
        except BlockingIOError:
            return
        except OSError:
            pass
        if self.listener is None:
            raise SystemExit("the other end closed the connection")
        self.connection = None


class Terminal(Wire):
    """A serial device, or with `pty` the far end of a new pseudo terminal whose near end is `device`."""

    def __init__(self, path, faults):
        super().__init__(faults)
        if path == "pty":
            self.fd, self.near = os.openpty()        # the near end stays open, or reading fails until others open it
            self.device = os.ttyname(self.near)
            tty.setraw(self.near)
        else:
            self.fd, self.device = os.open(path, os.O_RDWR | os.O_NOCTTY), path
        tty.setraw(self.fd)
        os.set_blocking(self.fd, False)

    def fileno(self):
        return self.fd

    def put(self, frame):
        try:                                         # a full line drops, as a UART does
            self.dropped += os.write(self.fd, frame) < len(frame)
        except BlockingIOError:
            self.dropped += 1

    def receive(self):
        try:
            while data := os.read(self.fd, LARGEST):
                yield data
        except BlockingIOError:
            pass


def open_wire(spec, faults, step=0):
    """The line that a --link names; `step` is added to its port."""
    kind, _, rest = spec.partition(":")
    if kind in ("udpout", "udpin"):
        host, _, port = rest.rpartition(":")
        return Udp(kind, host, int(port) + step, faults)
    if kind in ("tcpin", "tcpout"):
        host, _, port = rest.rpartition(":")
        return Tcp(kind, host, int(port) + step, faults)
    return Terminal(spec, faults)
