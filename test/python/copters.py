"""Vehicles of CopterSim behind rostrans, on a host of their own: the ports are CopterSim's, and fixed."""
import json
import math
import random

from netns import Host
from peers import BINARIES, JAZZY, PROGRAMS, TOOLS, HARD_LIMIT
from ros1 import PYTHON, Ros1Test
from vehicles import VehicleTest


class Tap:
    """test/peers/rfly_tap.py: what it saw."""

    def __init__(self, program):
        self.program = program

    def ask(self, order, **fields):
        self.program.say(json.dumps({"do": order, **fields}))
        return self.program.wait(order)

    def truth(self, vehicle, at):
        return self.ask("truth", vehicle=vehicle, at=at)

    def commands(self, vehicle):
        return self.ask("commands", vehicle=vehicle)["commands"]

    def kinds(self, vehicle):
        return self.ask("kinds")["vehicles"].get(str(vehicle), {})


class CopterTest(VehicleTest):
    """A test case whose programs run on a host that has nothing but its own loopback interface."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Domains 51 to 53 and from 91 on have CopterSim's ports.
        cls.domain = random.randint(10, 50)

    def setUp(self):
        self.host = Host("copters")
        self.addCleanup(self.host.close)

    def start(self, *command, **kwargs):
        return super().start(*self.host.command(*command), **kwargs)

    def simulator(self, *options, limit=HARD_LIMIT):
        """rostrans demo coptersim, running."""
        program = self.start(BINARIES / "rostrans", "demo", "coptersim", "--json", "--windows", "0", *options, limit=limit)
        program.wait("ready")
        return program

    def copters(self, *options, limit=HARD_LIMIT):
        """rostrans for vehicles of CopterSim, running."""
        return self.rostrans("--enable_dllModel=true", *options, limit=limit)

    def tap(self, limit=HARD_LIMIT):
        program = self.start(TOOLS, PROGRAMS / "rfly_tap.py", limit=limit)
        program.wait("ready")
        return Tap(program)

    def flight(self, *options, limit=HARD_LIMIT):
        """test/peers/ros2_copters.py, running."""
        program = self.start(JAZZY, PROGRAMS / "ros2_copters.py", *options, limit=limit)
        program.wait("ready")
        return program


class RospyCopterTest(Ros1Test, CopterTest):
    """The same, flown from rospy beside a roscore."""

    def setUp(self):
        CopterTest.setUp(self)
        Ros1Test.setUp(self)

    def copters(self, *options, limit=HARD_LIMIT):
        return self.rostrans("--enable_dllModel=true", *options, limit=limit)

    def flight(self, *options, limit=HARD_LIMIT):
        """test/peers/ros1_copters.py, running."""
        program = self.start(PYTHON, PROGRAMS / "ros1_copters.py", *options, env=self.ros1_env(), limit=limit)
        program.wait("ready")
        return program


def ned(position):
    """An ENU vector in NED."""
    x, y, z = position
    return [y, x, -z]


def turned(yaw):
    """A yaw of ENU in NED, or back, within half a turn."""
    return math.remainder(math.pi / 2 - yaw, math.tau)
