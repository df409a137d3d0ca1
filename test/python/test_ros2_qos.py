"""QoS policies between the RTPS engine and foreign implementations, both ways.

Judges are the event callbacks of the foreign side: missed deadlines, changed liveliness, incompatible QoS. The programs
and their commands: test/peers/qos_peer.py.
"""
import json
import os
import signal
import subprocess
import unittest

from daemon import DaemonTest, free_port
from peers import BINARIES, JAZZY, KILTED, PROGRAMS, TOOLS, PeerTest, eventually

SENSOR = {"reliable": False, "depth": 5}
LATCHED = {"latched": True}
AUTOMATIC, BY_TOPIC = {"lease_ms": 1000}, {"liveliness": "manual_by_topic", "lease_ms": 1000}
BY_PARTICIPANT = {"liveliness": "manual_by_participant", "lease_ms": 1000}

# What: offered, requested, and the policy that keeps them apart.
PAIRS = {
    "default": ({}, {}, None),
    "sensor_data": (SENSOR, SENSOR, None),
    "parameters": ({"depth": 1000}, {"depth": 1000}, None),
    "tf_static": ({**LATCHED, "depth": 1}, {**LATCHED, "depth": 1}, None),
    "rosout": ({**LATCHED, "depth": 1000}, {**LATCHED, "depth": 1000}, None),
    "reliable_to_best_effort": ({}, SENSOR, None),
    "best_effort_to_reliable": (SENSOR, {}, "reliability"),
    "latched_to_volatile": (LATCHED, {}, None),
    "volatile_to_latched": ({}, LATCHED, "durability"),
    "deadline_same": ({"deadline_ms": 200}, {"deadline_ms": 200}, None),
    "deadline_odd": ({"deadline_ms": 1001}, {"deadline_ms": 1001}, None),
    "deadline_shorter": ({"deadline_ms": 333}, {"deadline_ms": 500}, None),
    "deadline_longer": ({"deadline_ms": 500}, {"deadline_ms": 333}, "deadline"),
    "deadline_offered": ({"deadline_ms": 500}, {}, None),
    "deadline_requested": ({}, {"deadline_ms": 500}, "deadline"),
    "lease_same": (AUTOMATIC, AUTOMATIC, None),
    "lease_longer": ({"lease_ms": 2000}, AUTOMATIC, "liveliness"),
    "lease_requested": ({}, AUTOMATIC, "liveliness"),
    "by_topic": (BY_TOPIC, BY_TOPIC, None),
    "by_topic_for_automatic": (BY_TOPIC, AUTOMATIC, None),
    "automatic_for_by_topic": (AUTOMATIC, BY_TOPIC, "liveliness"),
    "lifespan_offered": ({"lifespan_ms": 9000}, {}, None),
    "lifespan_requested": ({}, {"lifespan_ms": 9000}, None),
    "keep_all": ({"keep_all": True}, {"keep_all": True}, None),
    "keep_all_offered": ({"keep_all": True}, {}, None),
    "keep_all_requested": ({}, {"keep_all": True}, None),
    "keep_all_latched": ({**LATCHED, "keep_all": True}, {**LATCHED, "keep_all": True}, None),
    "everything": ({**LATCHED, **BY_TOPIC, "deadline_ms": 700, "lifespan_ms": 9000},
                   {**LATCHED, **BY_TOPIC, "deadline_ms": 700, "lifespan_ms": 9000}, None),
}
# Policies that ROS does not have.
DDS_PAIRS = {
    "by_participant": (BY_PARTICIPANT, BY_PARTICIPANT, None),
    "by_topic_for_by_participant": (BY_TOPIC, BY_PARTICIPANT, None),
    "by_participant_for_by_topic": (BY_PARTICIPANT, BY_TOPIC, "liveliness"),
    "exclusive": ({"strength": 3}, {"strength": 0}, None),
    "exclusive_to_shared": ({"strength": 3}, {}, "ownership"),
    "shared_to_exclusive": ({}, {"strength": 0}, "ownership"),
    "partition": ({"partitions": ["a"]}, {"partitions": ["b", "a"]}, None),
    "partition_pattern": ({"partitions": ["robot_*"]}, {"partitions": ["robot_7"]}, None),
    "partition_pattern_requested": ({"partitions": ["left"]}, {"partitions": ["l?ft"]}, None),
    "partition_other": ({"partitions": ["a"]}, {"partitions": ["b"]}, "partition"),
    "partition_default": ({"partitions": ["a"]}, {}, "partition"),
}


class Side:
    """A program of test/peers/qos_peer.py."""

    def __init__(self, program):
        self.program = program

    def tell(self, **command):
        self.program.say(json.dumps(command))

    def ask(self, answer, **command):
        self.tell(**command)
        return self.program.wait(answer, 30, lambda e: e["id"] == command["id"])

    def make(self, side, name, topic, qos):
        self.ask("made", do=side, id=name, topic=topic, qos=qos)

    def stream(self, name, count, period_ms=50):
        self.ask("streamed", do="stream", id=name, count=count, period_ms=period_ms)

    def matched(self, name):
        return self.ask("matched", do="matched", id=name)["count"]

    def events(self, event, name):
        return [e for e in self.program.all(event) if e["id"] == name]

    def last(self, event, name, field):
        """That field of the newest such event; 0 before the first."""
        return next((e[field] for e in reversed(self.events(event, name))), 0)

    def texts(self, name):
        return [e["text"] for e in self.events("sample", name)]


class Policies:
    """The tests, for one foreign implementation."""

    pairs = PAIRS

    def peer(self):
        raise NotImplementedError

    def sides(self):
        """Ours and theirs."""
        sides = Side(self.start(BINARIES / "qos_probe")), Side(self.peer())
        for side in sides:
            side.program.wait("ready")
        return sides

    def both_ways(self):
        """Who publishes and who subscribes, with a name for the topic."""
        ours, theirs = self.sides()
        return [("to", ours, theirs), ("from", theirs, ours)]

    def pair(self, publisher, subscriber, topic, offered, requested=None):
        """A matched pair, called 'w' and 'r' with the topic behind."""
        publisher.make("pub", f"w{topic}", topic, offered)
        subscriber.make("sub", f"r{topic}", topic, offered if requested is None else requested)
        eventually(lambda: publisher.matched(f"w{topic}") and subscriber.matched(f"r{topic}"))

    def test_pairs_talk_or_are_reported_by_policy(self):
        ways = self.both_ways()
        cells = [(f"/{way}/{name}", publisher, subscriber, *pair)
                 for way, publisher, subscriber in ways for name, pair in self.pairs.items()]
        for topic, publisher, subscriber, offered, requested, _ in cells:
            publisher.make("pub", f"w{topic}", topic, offered)
            subscriber.make("sub", f"r{topic}", topic, requested)
        for topic, publisher, subscriber, _, _, policy in cells:
            with self.subTest(topic):
                if policy is None:
                    eventually(lambda: publisher.matched(f"w{topic}") and subscriber.matched(f"r{topic}"))
                    # Best effort may lose the first.
                    def heard():
                        publisher.tell(do="write", id=f"w{topic}", text="hello")
                        return "hello" in subscriber.texts(f"r{topic}")
                    eventually(heard, period=0.2)
                    continue
                for side, name in ((publisher, f"w{topic}"), (subscriber, f"r{topic}")):
                    # No DDS tells of partitions, which are a choice rather than a mistake; we do.
                    if policy != "partition" or side is ways[0][1]:
                        eventually(lambda: side.events("incompatible", name))
                        self.assertIn(policy, side.last("incompatible", name, "policy"))
        for topic, publisher, subscriber, _, _, policy in cells:
            with self.subTest(topic):
                want = 0 if policy else 1
                self.assertEqual((publisher.matched(f"w{topic}"), subscriber.matched(f"r{topic}")), (want, want))
                if policy is None:
                    incompatible = publisher.events("incompatible", f"w{topic}")
                    self.assertEqual(incompatible + subscriber.events("incompatible", f"r{topic}"), [])
                else:
                    self.assertEqual(subscriber.texts(f"r{topic}"), [])

    def test_missed_deadlines_are_counted_on_both_sides(self):
        for way, publisher, subscriber in self.both_ways():
            topic, deadline = f"/{way}/deadline", {"deadline_ms": 1000}
            with self.subTest(way):
                self.pair(publisher, subscriber, topic, deadline)
                publisher.stream(f"w{topic}", 60)
                total = lambda: (publisher.last("deadline", f"w{topic}", "total"),
                                 subscriber.last("deadline", f"r{topic}", "total"))
                self.assertEqual(total(), (0, 0))
                eventually(lambda: min(total()) >= 2)
                publisher.stream(f"w{topic}", 2)
                before = total()
                publisher.stream(f"w{topic}", 30)
                self.assertEqual(total(), before)

    def test_a_killed_publisher_is_noticed_before_its_participant_expires(self):
        ours, theirs = self.sides()
        for topic, publisher, subscriber in (("/ours", ours, theirs), ("/theirs", theirs, ours)):
            self.pair(publisher, subscriber, topic, AUTOMATIC)
        witness = Side(self.start(BINARIES / "qos_probe"))
        witness.program.wait("ready")
        self.pair(witness, theirs, "/witness", AUTOMATIC)
        # Longer than the lease, and with nothing said.
        witness.stream("w/witness", 30, 100)
        for side, name in ((ours, "r/theirs"), (theirs, "r/ours"), (theirs, "r/witness")):
            self.assertEqual(side.last("liveliness", name, "not_alive"), 0, side.program)
        witness.program.kill()
        eventually(lambda: theirs.last("liveliness", "r/witness", "not_alive") == 1, 8)
        self.assertEqual(theirs.last("liveliness", "r/ours", "not_alive"), 0)
        # Paused, it looks the same, but comes back.
        theirs.program.process.send_signal(signal.SIGSTOP)
        eventually(lambda: ours.last("liveliness", "r/theirs", "not_alive") == 1, 8)
        theirs.program.process.send_signal(signal.SIGCONT)
        eventually(lambda: ours.last("liveliness", "r/theirs", "not_alive") == 0, 8)

    def test_time_in_which_we_were_stopped_is_not_held_against_a_publisher(self):
        ours, theirs = self.sides()
        self.pair(theirs, ours, "/theirs", {**AUTOMATIC, "deadline_ms": 1000})
        for n in range(3):
            theirs.stream("w/theirs", 20)
            ours.program.process.send_signal(signal.SIGSTOP)
            theirs.stream("w/theirs", 60)
            ours.program.process.send_signal(signal.SIGCONT)
            theirs.stream("w/theirs", 20)
            theirs.tell(do="write", id="w/theirs", text=f"after stop {n}")
            eventually(lambda: f"after stop {n}" in ours.texts("r/theirs"))
        self.assertEqual([e for e in ours.events("liveliness", "r/theirs") if e["not_alive"]], [])
        self.assertEqual(ours.last("deadline", "r/theirs", "total"), 0)

    def check_asserted(self, way, publisher, subscriber, qos, name):
        """Asserting keeps a writer alive; silence is noticed by both sides; a sample revives it."""
        topic = f"/{way}/asserted"
        self.pair(publisher, subscriber, topic, qos)
        publisher.tell(do="write", id=f"w{topic}", text="first")
        eventually(lambda: subscriber.texts(f"r{topic}"))
        publisher.make("pub", f"clock{topic}", f"{topic}/clock", {})
        for _ in range(8):
            # Three times a lease, over more than two leases.
            publisher.tell(do="assert", id=name and f"w{topic}")
            publisher.stream(f"clock{topic}", 3, 100)
        not_alive = lambda: subscriber.last("liveliness", f"r{topic}", "not_alive")
        self.assertEqual((not_alive(), publisher.last("lost", f"w{topic}", "total")), (0, 0))
        eventually(lambda: not_alive() == 1 and publisher.last("lost", f"w{topic}", "total") == 1)
        publisher.tell(do="write", id=f"w{topic}", text="again")
        eventually(lambda: not_alive() == 0)
        self.assertEqual(subscriber.texts(f"r{topic}"), ["first", "again"])

    def test_liveliness_by_topic_is_asserted_lost_and_regained(self):
        for way, publisher, subscriber in self.both_ways():
            with self.subTest(way):
                self.check_asserted(way, publisher, subscriber, BY_TOPIC, True)

    def test_expired_samples_do_not_reach_a_late_subscriber(self):
        for way, publisher, subscriber in self.both_ways():
            with self.subTest(way):
                for topic, qos in ((f"/{way}/short", {**LATCHED, "lifespan_ms": 500}), (f"/{way}/long", LATCHED)):
                    publisher.make("pub", f"w{topic}", topic, qos)
                    publisher.stream(f"w{topic}", 3, 10)
                publisher.make("pub", f"clock/{way}", f"/{way}/clock", {})
                publisher.stream(f"clock/{way}", 10, 100)
                for topic, texts in ((f"/{way}/short", ["new"]), (f"/{way}/long", ["0", "1", "2", "new"])):
                    subscriber.make("sub", f"r{topic}", topic, LATCHED)
                    eventually(lambda: publisher.matched(f"w{topic}") and subscriber.matched(f"r{topic}"))
                    publisher.tell(do="write", id=f"w{topic}", text="new")
                    eventually(lambda: "new" in subscriber.texts(f"r{topic}"))
                    self.assertEqual(subscriber.texts(f"r{topic}"), texts)


class Jazzy(Policies, PeerTest):
    def peer(self):
        return self.start(JAZZY, PROGRAMS / "ros2_qos.py")


class Kilted(Policies, PeerTest):
    def peer(self):
        return self.start(KILTED, PROGRAMS / "ros2_qos.py")


class Cyclone(Policies, PeerTest):
    pairs = {**PAIRS, **DDS_PAIRS}
    # A Cyclone subscription has no lifespan.
    del pairs["lifespan_requested"]

    def peer(self):
        return self.start(TOOLS, PROGRAMS / "cyclone_qos.py")

    def test_liveliness_by_participant_is_asserted_lost_and_regained(self):
        for way, publisher, subscriber in self.both_ways():
            with self.subTest(way):
                # Cyclone's binding asserts through a writer, ours through the participant.
                self.check_asserted(way, publisher, subscriber, BY_PARTICIPANT, way == "from")

    def test_the_strongest_live_writer_owns_a_topic(self):
        for way, publisher, subscriber in self.both_ways():
            with self.subTest(way):
                topic = f"/{way}/owned"
                subscriber.make("sub", "r", topic, {"strength": 0})
                for name, strength in (("weak", 1), ("strong", 5)):
                    publisher.make("pub", name, topic, {"strength": strength})
                    eventually(lambda: publisher.matched(name))
                eventually(lambda: subscriber.matched("r") == 2)
                heard = []

                def say(name, text, expected=True):
                    publisher.tell(do="write", id=name, text=text)
                    heard.extend([text] * expected)
                    if expected:
                        eventually(lambda: text in subscriber.texts("r"))
                say("weak", "a")
                say("strong", "b")
                say("weak", "c", False)
                say("strong", "d")
                publisher.ask("dropped", do="drop", id="strong")
                self.assertEqual(subscriber.texts("r"), heard)

                # Cyclone counts a writer as gone before it frees what it owned.
                def taken():
                    publisher.tell(do="write", id="weak", text="e")
                    return "e" in subscriber.texts("r")
                eventually(taken)
                subscriber.ask("dropped", do="drop", id="r")

    def test_a_writer_that_becomes_stronger_takes_the_topic(self):
        ours, theirs = self.sides()
        ours.make("sub", "r", "/contested", {"strength": 0})
        for name, strength in (("first", 5), ("second", 1)):
            theirs.make("pub", name, "/contested", {"strength": strength})
        eventually(lambda: ours.matched("r") == 2)
        for name, text in (("first", "a"), ("second", "b"), ("first", "after b")):
            theirs.tell(do="write", id=name, text=text)
        eventually(lambda: "after b" in ours.texts("r"))
        theirs.ask("changed", do="change", id="second", qos={"strength": 9})

        def taken():
            theirs.tell(do="write", id="second", text="c")
            return "c" in ours.texts("r")
        eventually(taken)
        theirs.tell(do="write", id="first", text="d")
        theirs.tell(do="write", id="second", text="e")
        eventually(lambda: "e" in ours.texts("r"))
        self.assertEqual(set(ours.texts("r")), {"a", "after b", "c", "e"})
        self.assertEqual(ours.matched("r"), 2)


class Rules(DaemonTest):
    """The keys of a rule's `qos`, judged by rclpy."""

    def test_a_rule_keeps_and_watches_what_its_qos_says(self):
        port, sender, receiver = free_port(), self.udp(), self.udp()
        promise = "{reliability: reliable, deadline: 1s, liveliness: manual_by_topic, liveliness_lease_duration: 2}"
        rostrans = self.rostrans(rules=f"""
- rule_id: out
  direction: udp_to_rostopic
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {port}
  links:
    - {{codec: string, topic: /promised, msg_type: std_msgs/msg/String, qos: {promise}}}
- rule_id: in
  direction: rostopic_to_udp
  links:
    - {{codec: string, topic: /wanted, msg_type: std_msgs/msg/String, udp_dst_ip: 127.0.0.1,
       udp_dst_port: {receiver.port}, qos: {promise}}}
""")
        peer = Side(self.start(JAZZY, PROGRAMS / "ros2_qos.py"))
        peer.program.wait("ready")
        qos = {"deadline_ms": 1000, "liveliness": "manual_by_topic", "lease_ms": 2000}
        peer.make("sub", "r", "/promised", qos)
        peer.make("sub", "strict", "/promised", {**qos, "deadline_ms": 500})
        peer.make("pub", "w", "/wanted", qos)
        peer.make("pub", "lax", "/wanted", {})
        eventually(lambda: peer.matched("r") and peer.matched("w"))
        self.assertEqual((peer.matched("strict"), peer.matched("lax")), (0, 0))

        def heard():
            sender.send(b"hello", port)
            return peer.texts("r")
        eventually(heard, period=0.1)
        self.assertEqual(peer.last("liveliness", "r", "not_alive"), 0)
        peer.stream("w", 30)
        receiver.receive()
        eventually(lambda: peer.last("deadline", "r", "total") and peer.last("liveliness", "r", "not_alive"))
        for text in ("topic '/promised': nothing was published within the deadline of 1s",
                     "topic '/promised': nothing was published for its liveliness lease of 2s",
                     "topic '/wanted': nothing from /qos_", "topic '/wanted': its publisher /qos_",
                     "topic '/wanted' as published by /qos_", "topic '/promised' as subscribed by /qos_"):
            rostrans.wait_text(text)

    def test_a_rule_that_keeps_all_loses_nothing_to_a_subscriber_that_was_stopped(self):
        port, sender, receiver = free_port(), self.udp(), self.udp()
        links = "".join(f"""
    - {{codec: string, topic: {topic}, msg_type: std_msgs/msg/String, qos: {{reliability: reliable, {history}}}}}"""
                        for topic, history in (("/all", "history: keep_all"), ("/last", "depth: 5")))
        self.rostrans(rules=f"""
- rule_id: out
  direction: udp_to_rostopic
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {port}
  links:{links}
- rule_id: in
  direction: rostopic_to_udp
  links:
    - {{codec: string, topic: /in, msg_type: std_msgs/msg/String, udp_dst_ip: 127.0.0.1,
       udp_dst_port: {receiver.port}, qos: {{reliability: reliable, history: keep_all}}}}
""")
        sleeper, witness = (Side(self.start(python, PROGRAMS / "ros2_qos.py")) for python in (JAZZY, KILTED))
        for side in (sleeper, witness):
            side.program.wait("ready")
            side.make("sub", "all", "/all", {"keep_all": True})
        sleeper.make("sub", "last", "/last", {"keep_all": True})
        witness.make("pub", "w", "/in", {"keep_all": True})
        eventually(lambda: sleeper.matched("all") and sleeper.matched("last") and witness.matched("all") and
                   witness.matched("w"))
        # Only the newer Fast DDS reads what others announce.
        self.assertEqual(witness.ask("history", do="history", id="/all")["publishers"], ["keep_all"])
        self.assertEqual(witness.ask("history", do="history", id="/in")["subscriptions"], ["keep_all"])
        for topic, side in (("/all", "publishers"), ("/in", "subscriptions")):
            shown = subprocess.run([BINARIES / "rostrans", "graph", "-v", "topic", topic], capture_output=True, text=True,
                                   env={**os.environ, **self.env()}, timeout=30)
            self.assertRegex(shown.stdout, "history +keep all")

        def reach(text, side, *names):
            """Sends one datagram and waits until it was received as a message; none are lost on the way in."""
            sender.send(text.encode(), port)
            eventually(lambda: all(text in side.texts(name)[-1:] for name in names))
        reach("first", witness, "all")
        eventually(lambda: sleeper.texts("all") and sleeper.texts("last"))
        sleeper.program.process.send_signal(signal.SIGSTOP)
        texts = [f"{n} ".ljust(4000, "x") for n in range(300)]
        for text in texts:
            reach(text, witness, "all")
        sleeper.program.process.send_signal(signal.SIGCONT)
        eventually(lambda: texts[-1] in sleeper.texts("all") and texts[-1] in sleeper.texts("last"))
        self.assertEqual(sleeper.texts("all"), ["first", *texts])
        self.assertLess(len(sleeper.texts("last")), 300, "the others do lose some")
        witness.stream("w", 30, 1)
        self.assertEqual([receiver.receive()[0] for _ in range(30)], [b"%d" % n for n in range(30)])


if __name__ == "__main__":
    unittest.main()
