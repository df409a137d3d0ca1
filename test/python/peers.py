"""Starts foreign ROS 2, Cyclone DDS and rostrans programs for tests, and reads what they report.

Every program gets a hard time limit, its own process group, and is killed when the test ends. Each test class has
a ROS domain of its own, and everything stays on the loopback interface.
"""
import json
import os
import queue
import random
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent.parent
ROOT = Path(os.environ.get("ROSTRANS_PEERS", REPO / ".peers"))
PROGRAMS = REPO / "test" / "peers"
BINARIES = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")) / "debug"
JAZZY, KILTED = ROOT / "ros2-jazzy/bin/ros-python", ROOT / "ros2-kilted/bin/ros-python"
TOOLS = ROOT / "tools/bin/python"

# SUBNET only inside test/peers/loopback_ns.sh, where the loopback interface is all there is and has multicast.
RANGE = os.environ.get("ROSTRANS_TEST_RANGE", "LOCALHOST")

# Longest a single program may live, in seconds; a test that needs more is stuck.
HARD_LIMIT = 60.0


class Program:
    """A running program that prints JSON lines on stdout; other lines and stderr are kept for failure texts."""

    def __init__(self, command, env=None, limit=HARD_LIMIT):
        self.command = [str(c) for c in command]
        self.events, self.seen, self.noise = queue.Queue(), [], []
        full = {**os.environ, **(env or {})}
        self.process = subprocess.Popen(self.command, env=full, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, start_new_session=True)
        self.timer = threading.Timer(limit, self.kill)
        self.timer.daemon = True
        self.timer.start()
        self.readers = [threading.Thread(target=read, daemon=True) for read in (self._stdout, self._stderr)]
        for reader in self.readers:
            reader.start()

    def _stdout(self):
        for line in self.process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                self.noise.append(line.decode(errors="replace").rstrip())
                continue
            self.seen.append(event)
            self.events.put(event)
        self.events.put(None)

    def _stderr(self):
        for line in self.process.stderr:
            self.noise.append(line.decode(errors="replace").rstrip())

    def wait(self, event, timeout=20.0, where=lambda e: True):
        """The next event of that name; AssertionError with the program's output when it does not come."""
        end = time.monotonic() + timeout
        while True:
            try:
                found = self.events.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no '{event}' within {timeout} s from {self}") from None
            if found is None:
                self.events.put(None)
                raise AssertionError(f"ended without '{event}': {self}")
            if found.get("event") == event and where(found):
                return found

    def wait_text(self, text, timeout=20.0):
        """Waits until a line that is not JSON contains the text; returns the line."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            for line in list(self.noise):
                if text in line:
                    return line
            if self.process.poll() is not None and not any(r.is_alive() for r in self.readers):
                break
            time.sleep(0.02)
        raise AssertionError(f"no '{text}' from {self}")

    def all(self, event):
        """Every event of that name so far."""
        return [e for e in self.seen if e.get("event") == event]

    def say(self, line):
        """Writes a line to the program's stdin."""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def finish(self, timeout=30.0):
        """Waits for the program to end by itself; returns its exit status."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"did not end within {timeout} s: {self}") from None
        for reader in self.readers:
            reader.join(5)
        return status

    def stop(self, timeout=10.0):
        """Asks the program to end (SIGTERM), waits, and returns its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.process.wait()

    def kill(self):
        """Kills the program and its children at once."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def close(self):
        """Kills what is left and frees the pipes."""
        self.timer.cancel()
        if self.process.poll() is None:
            self.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join(5)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except BrokenPipeError:
                pass

    def __str__(self):
        tail = "\n    ".join([json.dumps(e)[:300] for e in self.seen[-15:]] + self.noise[-25:])
        return f"{' '.join(self.command)} (status {self.process.poll()})\n    {tail}"


class PeerTest(unittest.TestCase):
    """A test case with a ROS domain of its own that cleans up its programs."""

    @classmethod
    def setUpClass(cls):
        # 10..90 keeps every port below Linux's ephemeral range and away from domain 0.
        cls.domain = random.randint(10, 90)

    def env(self):
        env = {"ROS_DOMAIN_ID": str(self.domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": RANGE}
        return env if RANGE == "LOCALHOST" else {**env, "CYCLONEDDS_URI": ""}

    def start(self, *command, env=None, limit=HARD_LIMIT):
        program = Program(command, {**self.env(), **(env or {})}, limit)
        self.addCleanup(program.close)
        return program

    def folder(self):
        """An empty folder that is removed after the test."""
        folder = tempfile.TemporaryDirectory(prefix="rostrans-test-")
        self.addCleanup(folder.cleanup)
        return Path(folder.name)

    def ros2(self, *args, python=JAZZY, **kwargs):
        """test/peers/ros2_peer.py with the arguments."""
        return self.start(python, PROGRAMS / "ros2_peer.py", *args, **kwargs)

    def cyclone(self, *args, **kwargs):
        """test/peers/cyclone_peer.py with the arguments."""
        return self.start(TOOLS, PROGRAMS / "cyclone_peer.py", *args, **kwargs)


def eventually(probe, timeout=20.0, period=0.05):
    """The first true value of probe(); AssertionError when none comes in time."""
    end = time.monotonic() + timeout
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout} s: {probe}")
        time.sleep(period)
