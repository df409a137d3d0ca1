"""A vehicle's file server (FILE_TRANSFER_PROTOCOL), on a file system in memory."""
import struct
import zlib

HEADER = struct.Struct("<HBBBBBBI")
MOST = 239
# Packets of a burst read, after which the client asks on.
BURST = 32
ACK, NAK = 128, 129
FAIL, ERRNO, BAD_SIZE, BAD_SESSION, NO_SESSION, EOF, UNKNOWN, EXISTS, _, NOT_FOUND = range(1, 11)


def pattern(n):
    """n bytes in which truncation, shift and reordering show."""
    return (bytes(range(251)) * (n // 251 + 1))[:n]


class Files:
    def __init__(self, vehicle, big):
        self.vehicle = vehicle
        self.dirs = {"/", "/fs", "/fs/microsd", "/fs/microsd/log", "/fs/microsd/etc"}
        self.files = {"/fs/microsd/log/sess001.ulg": bytearray(pattern(big)), "/fs/microsd/log/empty.ulg": bytearray(),
                      "/fs/microsd/etc/config.txt": bytearray(b"param set SYS_AUTOSTART 4001\n")}
        for i in range(30):                          # more than one packet's worth of names
            self.files[f"/fs/microsd/log/2026-12-01-{i:02d}-00.ulg"] = bytearray(pattern(100 + i))
        self.session, self.last = None, None

    def on_file_transfer_protocol(self, msg):
        payload = bytes(msg.payload)
        seq, session, op, size, _, burst, _, offset = HEADER.unpack_from(payload)
        data, asker = payload[12:12 + size], (msg.get_srcSystem(), msg.get_srcComponent())
        if self.last and self.last[0] == (asker, seq, op):
            self.reply(asker, self.last[1])          # the answer was lost
            return
        name = {1: "close", 2: "reset", 3: "list", 4: "open", 5: "read", 6: "create", 7: "write", 8: "remove", 9: "mkdir",
                10: "rmdir", 11: "open_write", 12: "truncate", 13: "rename", 14: "crc", 15: "burst"}.get(op)
        self.request = asker, seq, op
        if name == "burst":
            self.burst(session, offset, size)
            return
        try:
            answer = getattr(self, "do_" + name)(session, offset, size, data) if name else UNKNOWN
        except KeyError:
            answer = NOT_FOUND
        if isinstance(answer, int):
            self.answer(NAK, session, offset, bytes([answer]))
        else:
            self.answer(ACK, self.session[0] if name in ("open", "open_write", "create") else session, offset, answer)

    def answer(self, code, session, offset, data, complete=0, step=1):
        asker, seq, op = self.request
        head = HEADER.pack((seq + step) & 0xFFFF, session, code, len(data), op, complete, 0, offset)
        payload = (head + data).ljust(251, b"\0")
        self.last = self.request, payload
        self.reply(asker, payload)

    def reply(self, asker, payload):
        self.vehicle.mav.file_transfer_protocol_send(0, *asker, payload)

    def path(self, data):
        path = "/" + data.split(b"\0")[0].decode().strip("/")
        return path

    def in_session(self, session):
        return self.files[self.session[1]] if self.session and self.session[0] == session else None

    def do_close(self, session, _offset, _size, _data):
        self.session = None
        return b""

    do_reset = do_close

    def do_list(self, _session, offset, _size, data):
        path = self.path(data)
        if path not in self.dirs:
            return NOT_FOUND
        parent = path.rstrip("/") + "/"
        inside = lambda names: sorted(n[len(parent):] for n in names
                                      if n != path and n.startswith(parent) and "/" not in n[len(parent):])
        entries = ["D" + n for n in inside(self.dirs)] + [f"F{n}\t{len(self.files[parent + n])}" for n in inside(self.files)]
        if offset >= len(entries):
            return EOF
        out = b""
        for entry in entries[offset:]:
            if len(out) + len(entry) + 1 > MOST:
                break
            out += entry.encode() + b"\0"
        return out

    def enter(self, path):
        self.session = (0, path)
        return struct.pack("<I", len(self.files[path]))

    def do_open(self, _session, _offset, _size, data):
        return NO_SESSION if self.session else self.enter(self.path(data))

    do_open_write = do_open

    def do_create(self, _session, _offset, _size, data):
        path = self.path(data)
        if path.rsplit("/", 1)[0] not in self.dirs:
            return NOT_FOUND
        if self.session:
            return NO_SESSION
        self.files[path] = bytearray()
        return self.enter(path)

    def do_read(self, session, offset, size, _data):
        file = self.in_session(session)
        if file is None:
            return BAD_SESSION
        return bytes(file[offset:offset + min(size, MOST)]) or EOF

    def burst(self, session, offset, size):
        file = self.in_session(session)
        if file is None:
            self.answer(NAK, session, offset, bytes([BAD_SESSION]))
            return
        for step in range(1, BURST + 1):
            part = bytes(file[offset:offset + (size or MOST)])
            if not part:
                self.answer(NAK, session, offset, bytes([EOF]), step=step)
                return
            self.answer(ACK, session, offset, part, int(step == BURST), step)
            offset += len(part)

    def do_write(self, session, offset, _size, data):
        file = self.in_session(session)
        if file is None:
            return BAD_SESSION
        file[len(file):offset] = bytes(max(0, offset - len(file)))
        file[offset:offset + len(data)] = data
        return struct.pack("<I", len(data))

    def do_remove(self, _session, _offset, _size, data):
        del self.files[self.path(data)]
        return b""

    def do_mkdir(self, _session, _offset, _size, data):
        if self.path(data) in self.dirs:
            return EXISTS
        self.dirs.add(self.path(data))
        return b""

    def do_rmdir(self, _session, _offset, _size, data):
        self.dirs.remove(self.path(data))
        return b""

    def do_truncate(self, _session, offset, _size, data):
        del self.files[self.path(data)][offset:]
        return b""

    def do_rename(self, _session, _offset, _size, data):
        old, new = ("/" + part.decode().strip("/") for part in data.split(b"\0")[:2])
        self.files[new] = self.files.pop(old)
        return b""

    def do_crc(self, _session, _offset, _size, data):
        # PX4's CRC-32 starts at 0 and is not inverted at the end.
        return struct.pack("<I", crc32(self.files[self.path(data)]))


def crc32(data):
    """The checksum of PX4's file server: zlib's polynomial, started at 0, not inverted."""
    return zlib.crc32(bytes(data), 0xFFFFFFFF) ^ 0xFFFFFFFF
