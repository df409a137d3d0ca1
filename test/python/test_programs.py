"""Runs the checking programs of this folder that people also use by hand, and expects each to pass."""
import re
import sys
import unittest
from pathlib import Path

from daemon import DaemonTest, free_port
from peers import BINARIES, REPO

HERE = Path(__file__).parent


class Programs(DaemonTest):
    def passes(self, program):
        status = program.finish(100)
        self.assertEqual(status, 0, str(program))
        [count] = [line for line in program.noise if re.fullmatch(r"\d+ passed, 0 failed", line)]
        self.assertGreater(int(count.split()[0]), 0)

    def ports(self):
        return free_port(), free_port(), free_port()

    def test_byte_router_over_udp(self):
        router, first, second = self.ports()
        endpoints = f"127.0.0.1:{first}", f"127.0.0.1:{second}"
        check = self.start(sys.executable, HERE / "test_mavrouter.py", "--wait-start", "--router-port", router,
                           "--endpoint", endpoints[0], "--endpoint", endpoints[1], limit=110)
        self.rostrans("--router_enable=true", f"--router_source=127.0.0.1:{router}",
                      f"--router_endpoints={','.join(endpoints)}")
        self.passes(check)

    def test_byte_router_from_serial(self):
        upstream, first, second = self.ports()
        endpoints = f"127.0.0.1:{first}", f"127.0.0.1:{second}"
        link = self.folder() / "ttyFCU"
        check = self.start(sys.executable, HERE / "test_mavrouter.py", "--mode", "serial", "--create-pty", "--pty-link",
                           link, "--wait-start", "--router-port", upstream, "--endpoint", endpoints[0], "--endpoint",
                           endpoints[1], limit=110)
        self.rostrans("--router_enable=true", f"--router_source={link}:921600", f"--router_upstream_port={upstream}",
                      f"--router_endpoints={','.join(endpoints)}")
        self.passes(check)

    def test_encodings_equal_those_of_rosbags(self):
        tool = BINARIES / "examples" / "cdr_tool"
        self.passes(self.start(sys.executable, HERE / "test_rosbags.py", "--rounds", "2", "--tool", tool, limit=200))


if __name__ == "__main__":
    unittest.main()
