"""The committed MAVLink facts are those of pymavlink."""
import subprocess
import unittest

from peers import REPO, TOOLS


class MavlinkDataTest(unittest.TestCase):
    def test_message_table_and_golden_frames_are_current(self):
        run = subprocess.run([TOOLS, REPO / "scripts/gen-mavlink", "--check"], text=True, timeout=60,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(run.returncode, 0, run.stdout)

    def test_golden_frames_of_the_codecs_are_current(self):
        run = subprocess.run([TOOLS, REPO / "scripts/gen-mavlink-golden"], text=True, timeout=60, check=True,
                             stdout=subprocess.PIPE)
        committed = (REPO / "codecs/tests/data/pymavlink.jsonl").read_text()
        self.assertEqual(run.stdout, committed, "run scripts/gen-mavlink-golden again")


if __name__ == "__main__":
    unittest.main()
