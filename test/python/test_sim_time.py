"""End to end: stamps under a simulated clock that starts at 0, pauses, jumps, is reset, leaves and comes back.

A tracker on UDP and a MAVLink vehicle send all the time. The clock is a script in test/peers/ros2_clock.py, a stock
rclpy node, which also says what each message's stamp was beside its own time.
"""
import json
import os
import struct
import threading
import unittest

os.environ["MAVLINK20"] = "1"
from pymavlink.dialects.v20 import common as mavlink

from daemon import DaemonTest, Udp, free_port
from peers import JAZZY, PROGRAMS, eventually

ROSPY = "/usr/bin/python3"

POINT, IMU, LATCHED = "/point", "/mavros/imu/data", "/latched"
TOPICS = [f"geometry_msgs/msg/PointStamped:{POINT}@best_effort", f"sensor_msgs/msg/Imu:{IMU}@best_effort",
          f"geometry_msgs/msg/PoseStamped:{LATCHED}@latched"]
# How far stamps may be ahead of the newest sample, and what a message may take from there to its reader.
LEAD = 50_000_000
SECOND = 1_000_000_000
RULES = """
clocks:
  - {{name: gz, lost_after: 1s{more}}}
forward_rules:
  - rule_id: tracker
    direction: udp_to_rostopic
    udp_listen_ip: 127.0.0.1
    udp_listen_port: {point}
    links: [{{codec: my_codec, topic: /point, msg_type: geometry_msgs/msg/PointStamped}}]
  - rule_id: latched
    direction: udp_to_rostopic
    udp_listen_ip: 127.0.0.1
    udp_listen_port: {latched}
    links: [{{codec: json, topic: /latched, msg_type: geometry_msgs/msg/PoseStamped, qos: latched}}]
"""
TRACKED = bytes.fromhex("594d434b0000c03f000000c00000803e")


class Senders:
    """Sends a tracker's datagram and a vehicle's frames, 50 times a second each, and counts."""

    def __init__(self, point, fcu):
        self.mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
        self.point, self.fcu, self.count, self.stopped = point, fcu, 0, threading.Event()
        self.tracker, self.vehicle = Udp(), Udp()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        m = self.mav
        while not self.stopped.is_set():
            self.tracker.send(TRACKED, self.point)
            if self.count % 25 == 0:
                beat = m.heartbeat_encode(mavlink.MAV_TYPE_QUADROTOR, mavlink.MAV_AUTOPILOT_PX4, 0, 0, 4)
                self.vehicle.send(beat.pack(m), self.fcu)
            attitude = m.attitude_encode(self.count * 20, 0.1, 0.2, 0.3, 0.01, 0.02, 0.03)
            self.vehicle.send(attitude.pack(m), self.fcu)
            self.count += 1
            self.stopped.wait(0.02)

    def close(self):
        self.stopped.set()
        self.thread.join()
        self.tracker.close()
        self.vehicle.close()


class SimTime(DaemonTest):
    def setUp(self):
        self.point, self.fcu, self.latched = free_port(), free_port(), free_port()

    def clock(self, *topics, follow=False):
        clock = self.start(JAZZY, PROGRAMS / "ros2_clock.py", *(topics or TOPICS), *(["--follow"] if follow else []))
        clock.wait("ready")
        return clock

    def begin(self, more="", params=""):
        rules = RULES.format(point=self.point, latched=self.latched, more=more)
        params = f"use_sim_time=true\nenable_mavros=true\nmavros_listen_port={self.fcu}\n{params}"
        rostrans = self.rostrans(params=params, rules=rules)
        senders = Senders(self.point, self.fcu)
        self.addCleanup(senders.close)
        return rostrans, senders

    def pose(self, stamp=None):
        """A datagram for the latched topic."""
        header = {"frame_id": "map", **({"stamp": stamp} if stamp else {})}
        udp = self.udp()
        udp.send(json.dumps({"header": header}).encode(), self.latched)

    def stamps(self, clock, count, topics=(POINT, IMU), where=lambda e: True):
        """That many further stamps of each topic."""
        found = {topic: [] for topic in topics}
        while any(len(events) < count for events in found.values()):
            event = clock.wait("stamp", where=lambda e: e["topic"] in found and where(e))
            found[event["topic"]].append(event)
        return [event for events in found.values() for event in events]

    def ahead(self, events):
        """No stamp is further ahead of the clock than it may be."""
        for event in events:
            self.assertLessEqual(event["ns"], event["now"] + LEAD, event)

    def mark(self, clock, name):
        clock.say(f"mark {name}")
        return clock.wait("mark", where=lambda e: e["name"] == name)["now"]

    def test_stamps_follow_a_clock_through_all_it_may_do(self):
        rostrans, senders = self.begin()
        clock = self.clock()
        rostrans.wait_text("waiting for the simulated clock")

        # Before the first sample: nothing is there, latched topics and those of MAVROS included.
        self.pose()
        def graph():
            clock.say("graph")
            return clock.wait("graph")
        eventually(lambda: graph()["node"])
        sent = senders.count
        eventually(lambda: senders.count > sent + 50)
        self.assertEqual(set(graph()["publishers"].values()), {0})
        self.assertEqual(clock.all("stamp"), [])

        # It starts at 0.
        clock.say("run 0")
        events = self.stamps(clock, 20)
        self.ahead(events)
        self.assertGreaterEqual(min(event["ns"] for event in events), 0)
        self.assertLess(min(event["ns"] for event in events), 5 * SECOND)
        rostrans.wait_text("simulated clock acquired")

        # What is latched is stamped with its time, and so is what has a stamp of another clock.
        self.pose()
        latched = self.stamps(clock, 1, [LATCHED])
        self.pose({"sec": 1_790_000_000, "nanosec": 5})
        latched += self.stamps(clock, 1, [LATCHED])
        self.ahead(latched)
        self.assertTrue(all(0 < event["ns"] for event in latched), latched)

        # Paused, stamps stay near where it stands; then they go on.
        clock.say("pause")
        paused = self.mark(clock, "paused")
        rostrans.wait_text("simulated clock stands still")
        self.mark(clock, "told")
        events = self.stamps(clock, 20)
        self.ahead(events)
        self.assertTrue(all(event["ns"] >= paused for event in events), events)
        clock.say(f"run {paused / 1e9 + 0.01}")
        rostrans.wait_text("simulated clock goes on")
        self.ahead(self.stamps(clock, 10))

        # It jumps ahead, back, and is reset: after the first stamp of the new time none is of the old.
        for to, text, times in [(1000, "jumped ahead", 1), (20, "was set back", 1), (0, "was set back", 2)]:
            clock.say(f"run {to}")
            eventually(lambda: sum(text in line for line in rostrans.noise) == times)
            self.mark(clock, f"at-{to}")
            events = self.stamps(clock, 20)
            self.ahead(events)
            self.assertTrue(all(to * SECOND <= event["ns"] < (to + 60) * SECOND for event in events), events)

        # It leaves: nothing with a stamp is published. It comes back.
        clock.say("gone")
        rostrans.wait_text("simulated clock is silent")
        self.mark(clock, "gone")
        before, sent = len(clock.all("stamp")), senders.count
        eventually(lambda: senders.count > sent + 50)
        self.mark(clock, "still-gone")
        self.assertEqual(len(clock.all("stamp")), before)
        clock.say("run 300")
        events = self.stamps(clock, 10)
        self.ahead(events)
        self.assertTrue(all(300 * SECOND <= event["ns"] for event in events), events)

        # Nobody ever saw wall time, and of each topic and epoch no stamp was far behind the clock.
        for event in clock.all("stamp"):
            self.assertLess(event["ns"], 2000 * SECOND)
        self.assertEqual(rostrans.stop(), 0)

    def test_figures_are_in_the_monitor(self):
        rostrans, _ = self.begin(params="enable_monitor=true\nmonitor_interval=1\n")
        rostrans.wait_text("gz     acquiring")
        clock = self.clock()
        clock.say("run 0")
        row = rostrans.wait_text("gz     following").split()
        self.assertGreater(float(row[2]), 10, row)
        self.assertGreater(int(row[9]), 10, f"gated: {row}")

    def test_clock_that_must_come_ends_the_program(self):
        rostrans, _ = self.begin(more=", acquire_timeout: 1s, fallback: fail")
        self.assertEqual(rostrans.finish(), 75)
        rostrans.wait_text("no sample of clock 'gz' within 1 s; start the simulator")

    def test_simulator_without_ros_is_the_clock_of_the_graph(self):
        port = free_port()
        rules = f"""
clocks:
  - {{name: copter, source: {{rule: truth, field: runnedTime}}, publish: /clock}}
default_clock: copter
forward_rules:
  - rule_id: truth
    direction: udp_to_rostopic
    udp_listen_ip: 127.0.0.1
    udp_listen_port: {port}
    links: [{{codec: coptersim.truth, ports: {{pose: /pose}}}}]
"""
        rostrans = self.rostrans(rules=rules)
        follower = self.clock("geometry_msgs/msg/PoseStamped:/pose@best_effort", follow=True)
        udp, stop, sent = self.udp(), threading.Event(), []

        def simulate():
            while not stop.wait(0.01):
                sent.append(5.0 + len(sent) * 0.01)
                udp.send(struct.pack("<Iii3i8f3f3f3dd", 1_234_567_891, 1, 3, *[0] * 3, *[0.0] * 17, sent[-1]), port)
        thread = threading.Thread(target=simulate, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)
        rostrans.wait_text("clock is published")
        # The follower's clock runs with the simulation, and poses have exactly the simulator's times.
        events = [follower.wait("stamp", where=lambda e: 0 < e["now"] < 10**6 * SECOND) for _ in range(20)]
        times = {round(time * SECOND) for time in sent}
        for event in events:
            self.assertIn(event["ns"], times)
            self.assertLessEqual(event["now"], round(sent[-1] * SECOND))
        # Another clock of the same graph makes the next one hold back.
        other = self.clock(TOPICS[0])
        other.say("run 100")
        rostrans.wait_text("another node publishes a clock there; not published")

    @unittest.skipUnless(os.path.isdir("/usr/lib/python3/dist-packages/rospy"), "no rospy here")
    def test_ros1_has_the_clock_of_the_simulation_too(self):
        """From ROS 1's /clock to stamps in both graphs, and on to ROS 2's /clock."""
        port = free_port()
        env = {"ROS_MASTER_URI": f"http://127.0.0.1:{port}", "ROS_IP": "127.0.0.1"}
        ros1 = [ROSPY, PROGRAMS / "ros1_peer.py"]
        self.start(*ros1, "master", "-", "-", "--port", port, "--timeout", "60", env=env).wait("ready")
        rules = RULES.format(point=self.point, latched=self.latched,
                             more=", source: {adapter: ros1}, publish: {topic: /clock, adapter: dds}")
        rostrans = self.rostrans("--ros_version=all", params="use_sim_time=true\n", rules=rules, env=env)
        senders = Senders(self.point, self.fcu)
        self.addCleanup(senders.close)
        sub = self.start(*ros1, "sub", "geometry_msgs/PointStamped", "/point", "--count", "0", "--timeout", "50", env=env)
        sub.wait("ready")
        follower = self.clock(TOPICS[0], follow=True)
        clock = self.start(*ros1, "pub", "rosgraph_msgs/Clock", "/clock", "--count", "0", "--rate", "50", "--timeout",
                           "50", "--json", '{"clock": {"secs": 12, "nsecs": 500000000}}', env=env)
        clock.wait("matched")
        rostrans.wait_text("simulated clock acquired")
        for _ in range(10):
            stamp = sub.wait("msg")["msg"]["header"]["stamp"]
            stamp = stamp["sec"] * SECOND + stamp["nanosec"]
            self.assertLessEqual(12_500_000_000, stamp)
            self.assertLessEqual(stamp, 12_500_000_000 + LEAD)
        event = follower.wait("stamp", where=lambda e: e["now"] == 12_500_000_000)
        self.assertLessEqual(event["ns"], 12_500_000_000 + LEAD)


if __name__ == "__main__":
    unittest.main()
