"""The flight of a square with one vehicle, whatever ROS carries it: as a program for MAVROS's offboard mode does it.

set_mode, arming, take off by velocity, corners by position with a heading each, cmd/land. A `link` binds it to a ROS: it has
`ready()` (all services are there), `call(service, **fields)` (without waiting), `velocity(x, y, z, yaw_rate)` and
`position(x, y, z, yaw)` (publish a setpoint), and calls `seen(topic, message)` for what it subscribes. Frames are ENU;
yaw is from east, anticlockwise.
"""
import argparse
import math
import time

import peerlib

RATE_HZ = 20
# A stream of setpoints precedes OFFBOARD, as PX4 wants it.
SETPOINTS_BEFORE = 20
# Calls are repeated after this, as in PX4's example (seconds).
AGAIN_S = 5.0
NEAR_M, NEAR_RAD = 0.15, 0.1
# Of what a program may read below the prefix; the first two are needed to fly.
TOPICS = ["local_position/pose", "state", "local_position/velocity_local", "local_position/velocity_body",
          "local_position/odom", "global_position/global", "imu/data"]


def arguments(description):
    p = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--first", type=int, default=1, help="number of the first vehicle")
    p.add_argument("--vehicles", type=int, default=1)
    p.add_argument("--side", type=float, default=3.0, help="metres")
    p.add_argument("--altitude", type=float, default=2.5, help="metres")
    p.add_argument("--land-by-mode", action="store_true", help="AUTO.LAND, not cmd/land")
    p.add_argument("--hover", action="store_true", help="fly to the first corner and stay there")
    p.add_argument("--timeout", type=float, default=55.0)
    return p


def prefix(vehicle):
    return "/mavros" if vehicle == 1 else f"/mavros{vehicle}"


def wrap(angle):
    return math.remainder(angle, math.tau)


def yaw_of(q):
    return math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))


class Flight:
    def __init__(self, vehicle, args):
        self.vehicle, self.args, self.link = vehicle, args, None
        side, up = args.side, args.altitude
        self.corners = [(0.0, 0.0, up, 0.0), (side, 0.0, up, math.pi / 2), (side, side, up, 3.0), (0.0, side, up, -math.pi / 2),
                        (0.0, 0.0, up, 0.0)]
        if args.hover:
            del self.corners[1:]
        self.pose = self.state = None
        self.counts, self.last_stamp, self.backwards, self.negative_zeros = {}, {}, 0, 0
        self.state_stamps = []
        self.asked, self.sent, self.step, self.done = -math.inf, 0, self.wait_connected, False

    def emit(self, event, **fields):
        peerlib.emit(event, vehicle=self.vehicle, **fields)

    def seen(self, topic, msg, stamp):
        """A message of one of TOPICS; `stamp` in seconds."""
        self.counts[topic] = self.counts.get(topic, 0) + 1
        self.backwards += stamp < self.last_stamp.get(topic, -math.inf)
        self.last_stamp[topic] = stamp
        if topic == "state":
            self.state = msg
            self.state_stamps.append(stamp)
        elif topic == "local_position/pose":
            p = msg.pose.position
            self.pose = (p.x, p.y, p.z, yaw_of(msg.pose.orientation), stamp)
            self.negative_zeros += any(n == 0 and math.copysign(1, n) < 0 for n in (p.x, p.y, p.z))

    def call(self, service, **fields):
        """Calls unless the last call is too recent."""
        now = time.monotonic()
        if now - self.asked >= AGAIN_S:
            self.asked = now
            self.link.call(service, **fields)

    def next(self, step, event, **fields):
        self.emit(event, **fields)
        self.step, self.asked = step, -math.inf

    def tick(self):
        self.step()

    # The steps, each run at every tick until it hands over to the next.
    def wait_connected(self):
        if self.state and self.state.connected and self.pose and self.link.ready():
            self.next(self.request_mode, "connected", mode=self.state.mode)

    def rest(self):
        self.link.velocity(0.0, 0.0, 0.0, 0.0)
        self.sent += 1

    def request_mode(self):
        self.rest()
        if self.state.mode == "OFFBOARD":
            self.next(self.request_arming, "mode", mode=self.state.mode)
        elif self.sent > SETPOINTS_BEFORE:
            self.call("set_mode", custom_mode="OFFBOARD")

    def request_arming(self):
        self.rest()
        if self.state.armed:
            self.next(self.climb, "armed")
        else:
            self.call("cmd/arming", value=True)

    def climb(self):
        self.link.velocity(0.0, 0.0, 1.0, 0.0)
        if self.pose[2] > self.args.altitude - 0.5:
            self.next(self.square, "climbed", z=self.pose[2])
            self.state_stamps = []

    def square(self):
        goal = self.corners[0]
        self.link.position(*goal)
        x, y, z, yaw, stamp = self.pose
        if math.dist((x, y, z), goal[:3]) < NEAR_M and abs(wrap(yaw - goal[3])) < NEAR_RAD:
            self.emit("reached", corner=goal, position=[x, y, z], yaw=yaw, stamp=stamp)
            if len(self.corners) > 1:
                self.corners.pop(0)
            elif not self.args.hover:
                stamps = self.state_stamps
                self.next(self.land, "square", state_gaps=[round(b - a, 3) for a, b in zip(stamps, stamps[1:])])

    def land(self):
        if not self.state.armed:
            self.next(self.rest_of_topics, "landed", z=self.pose[2], mode=self.state.mode)
        elif self.args.land_by_mode:
            self.call("set_mode", custom_mode="AUTO.LAND")
        else:
            self.call("cmd/land")

    def rest_of_topics(self):
        self.done = True


def fly(flights, spin, timeout):
    """Runs all flights to their end; `spin(seconds)` lets ROS work meanwhile. The exit status."""
    peerlib.emit("ready")
    deadline, due = time.monotonic() + timeout, time.monotonic()
    while not all(f.done for f in flights) and time.monotonic() < deadline:
        if time.monotonic() >= due:
            due = max(due + 1 / RATE_HZ, time.monotonic())
            for flight in flights:
                if not flight.done:
                    flight.tick()
        spin(max(0.0, due - time.monotonic()))
    for f in flights:
        f.emit("summary", ok=f.done, step=f.step.__name__, sent=f.sent, counts=f.counts, backwards=f.backwards,
               negative_zeros=f.negative_zeros, state=str(f.state))
    return 0 if all(f.done for f in flights) else 1
