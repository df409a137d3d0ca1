"""Runs test_rosbags.py, the comparison of all encodings with those of rosbags, and expects it to pass."""
import re
import sys
import unittest
from pathlib import Path

from peers import BINARIES, PeerTest


class Encodings(PeerTest):
    def test_encodings_equal_those_of_rosbags(self):
        program = Path(__file__).with_name("test_rosbags.py")
        check = self.start(sys.executable, program, "--rounds", "2", "--tool", BINARIES / "examples" / "cdr_tool",
                           limit=200)
        self.assertEqual(check.finish(190), 0, str(check))
        [count] = [line for line in check.noise if re.fullmatch(r"\d+ passed, 0 failed", line)]
        self.assertGreater(int(count.split()[0]), 0)


if __name__ == "__main__":
    unittest.main()
