"""rostrans as a byte router, checked from outside by test_mavrouter.py."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from daemon import DaemonTest, free_port

PROGRAM = Path(__file__).with_name("test_mavrouter.py")
# Longest a run of the program may take, in seconds.
LIMIT = 90


class RouterTest(DaemonTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="rostrans-test-")
        self.addCleanup(folder.cleanup)
        self.tty = f"{folder.name}/ttyFCU"

    def route(self, source, endpoints, *options):
        self.rostrans("--router_enable=true", f"--router_source={source}",
                      "--router_endpoints=" + ",".join(endpoints), *options)

    def check(self, count, endpoints, *options):
        """Runs the program, which has to report `count` checks passed."""
        command = [sys.executable, PROGRAM, "--wait-start", *options]
        for endpoint in endpoints:
            command += ["--endpoint", endpoint]
        run = subprocess.run([str(word) for word in command], text=True, timeout=LIMIT, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertEqual(run.stdout.splitlines()[-1], f"{count} passed, 0 failed", run.stdout)

    def test_udp_source_with_two_endpoints(self):
        source, endpoints = free_port(), free_endpoints(2)
        self.route(f"127.0.0.1:{source}", endpoints)
        self.check(8, endpoints, "--router-port", source)

    def test_serial_source_that_comes_late_and_is_replugged(self):
        upstream, endpoints = free_port(), free_endpoints(2)
        self.route(f"{self.tty}:921600", endpoints, f"--router_upstream_port={upstream}")
        self.check(7, endpoints, "--router-port", upstream, "--mode", "serial", "--create-pty", "--pty-link", self.tty)

    def test_serial_source_one_way(self):
        endpoints = free_endpoints(1)
        self.route(f"{self.tty}:921600", endpoints)
        self.check(4, endpoints, "--mode", "serial", "--create-pty", "--pty-link", self.tty)


def free_endpoints(count):
    return [f"127.0.0.1:{free_port()}" for _ in range(count)]


if __name__ == "__main__":
    unittest.main()
