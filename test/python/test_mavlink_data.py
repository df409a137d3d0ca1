"""The committed MAVLink facts are those of pymavlink."""
import subprocess
import unittest

from peers import REPO, TOOLS


class MavlinkDataTest(unittest.TestCase):
    def test_message_table_and_golden_frames_are_current(self):
        run = subprocess.run([TOOLS, REPO / "scripts/gen-mavlink", "--check"], text=True, timeout=60,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(run.returncode, 0, run.stdout)


if __name__ == "__main__":
    unittest.main()
