"""A vehicle's files through MAVROS's ftp services."""
import unittest
import zlib

import peerlib
from autopilot.files import crc32
from vehicles import VehicleTest

MIB = 1 << 20
LOG, NEW = "/fs/microsd/log", "/fs/microsd/etc/new.bin"
# FileOpen's modes.
READ, WRITE, CREATE = 0, 1, 2
ENOENT = 2


class MavrosFtp(VehicleTest):
    def good(self, answer):
        self.assertTrue(answer["success"], answer)
        self.assertEqual(answer["r_errno"], 0)
        return answer

    def test_list_read_and_write(self):
        autopilot, _ = self.vehicle("--rate", "5")
        client = self.client()
        self.connected(client)
        listed = self.good(client.call("ftp/list", "FileList", dir_path=LOG))["list"]
        sizes = {e["name"]: e["size"] for e in listed}
        self.assertEqual((len(sizes), sizes["sess001.ulg"], sizes["empty.ulg"]), (32, MIB, 0))
        [log] = [e for e in self.good(client.call("ftp/list", "FileList", dir_path="/fs/microsd"))["list"]
                 if e["name"] == "log"]
        self.assertEqual(log["type"], 1)

        path = f"{LOG}/sess001.ulg"
        self.assertEqual(self.good(client.call("ftp/open", "FileOpen", file_path=path, mode=READ))["size"], MIB)
        data = self.good(client.call("ftp/read", "FileRead", file_path=path, offset=0, size=MIB))["data"]
        self.assertEqual(data, {"len": MIB, "crc32": zlib.crc32(peerlib.pattern(MIB))})
        end = self.good(client.call("ftp/read", "FileRead", file_path=path, offset=MIB - 10, size=100))["data"]
        self.assertEqual(bytes(end), peerlib.pattern(MIB)[-10:])
        self.good(client.call("ftp/close", "FileClose", file_path=path))
        self.assertEqual(self.good(client.call("ftp/checksum", "FileChecksum", file_path=path))["crc32"],
                         crc32(peerlib.pattern(MIB)))

        size = 10_000
        self.good(client.call("ftp/open", "FileOpen", file_path=NEW, mode=CREATE))
        self.good(client.call("ftp/write", "FileWrite", fill={"data": size}, file_path=NEW, offset=0))
        self.good(client.call("ftp/close", "FileClose", file_path=NEW))
        self.assertEqual(self.good(client.call("ftp/checksum", "FileChecksum", file_path=NEW))["crc32"],
                         crc32(peerlib.pattern(size)))
        self.good(client.call("ftp/remove", "FileRemove", file_path=NEW))
        gone = client.call("ftp/open", "FileOpen", file_path=NEW, mode=READ)
        self.assertEqual((gone["success"], gone["r_errno"]), (False, ENOENT))

    def test_a_bad_link_spoils_no_file(self):
        size = 20_000
        autopilot, _ = self.vehicle("--rate", "5", "--file-size", str(size), "--loss", "0.1", "--loss-in", "0.1")
        client = self.client()
        self.connected(client)
        path = f"{LOG}/sess001.ulg"
        self.good(client.call("ftp/open", "FileOpen", file_path=path, mode=READ))
        data = self.good(client.call("ftp/read", "FileRead", file_path=path, offset=0, size=size))["data"]
        self.assertEqual(data, {"len": size, "crc32": zlib.crc32(peerlib.pattern(size))}, f"{client}\n{autopilot}")


if __name__ == "__main__":
    unittest.main()
