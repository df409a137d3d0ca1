"""The DDS adapter in the ROS graph, as stock nodes see it."""
import json
import os
import subprocess
import unittest

from peers import BINARIES, JAZZY, KILTED, PROGRAMS, TOOLS, PeerTest, eventually

STRING_HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
IMAGE_HASH = "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47"


class Graph(PeerTest):
    def test_node_topics_types_hashes_and_qos_are_listed(self):
        probe = self.start(BINARIES / "dds_probe",
                           "--relay", "std_msgs/msg/String", "/robot/in", "/robot/out", "reliable",
                           "--relay", "sensor_msgs/msg/Image", "/cam/in", "/cam/out", "sensor",
                           "--forward", "std_srvs/srv/SetBool", "/robot/front", "/robot/back")
        probe.wait("ready")
        for python in (JAZZY, KILTED):
            with self.subTest(str(python)):
                graph = self.ros2("graph", "-", "/dds_probe", "--timeout", "25", python=python)
                self.assertEqual(graph.finish(), 0, str(graph))
                self.check(graph)

    def check(self, graph):
        self.assertEqual(graph.all("nodes")[0]["nodes"], ["/dds_probe"], str(graph))
        topics = {e["topic"]: e for e in graph.all("topic")}
        string = {"node": "/dds_probe", "type": "std_msgs/msg/String", "hash": STRING_HASH,
                  "reliability": "reliable", "durability": "volatile"}
        image = {"node": "/dds_probe", "type": "sensor_msgs/msg/Image", "hash": IMAGE_HASH,
                 "reliability": "best_effort", "durability": "volatile"}
        for topic, side, want in (("/robot/out", "publishers", string), ("/robot/in", "subscribers", string),
                                  ("/cam/out", "publishers", image), ("/cam/in", "subscribers", image)):
            [endpoint] = topics[topic][side]
            self.assertEqual({k: endpoint[k] for k in want}, want, topic)
        [node] = [e for e in graph.all("node") if e["node"] == "/dds_probe"]
        self.assertEqual(node["publishers"], {"/robot/out": ["std_msgs/msg/String"], "/cam/out": ["sensor_msgs/msg/Image"]})
        self.assertEqual(node["subscribers"], {"/robot/in": ["std_msgs/msg/String"], "/cam/in": ["sensor_msgs/msg/Image"]})
        self.assertEqual(node["services"], {"/robot/front": ["std_srvs/srv/SetBool"]})
        self.assertEqual(node["clients"], {"/robot/back": ["std_srvs/srv/SetBool"]})


class Observed(PeerTest):
    """`rostrans graph` beside what rclpy says about the same system."""

    def system(self, python, namespace, kind="String"):
        program = self.start(python, PROGRAMS / "ros2_system.py", namespace, "--kind", kind)
        program.wait("ready")
        return program

    def graph(self, *args):
        """Exit status and document of `rostrans graph --json`."""
        done = subprocess.run([BINARIES / "rostrans", "graph", "--json", *args], capture_output=True, text=True,
                              env={**ENV, **self.env()}, timeout=30)
        return done.returncode, json.loads(done.stdout)

    def ask(self, program):
        program.say("report")
        return program.wait("graph")

    def same(self, ours, theirs, own):
        """What differs between the two graphs; `own` is the namespace of the program that reports."""
        wrong = []
        topics = {t["name"]: t for t in ours["topics"]}
        if set(topics) != set(theirs["topics"]):
            wrong.append(("topics", set(topics) ^ set(theirs["topics"])))
        for name in set(topics) & set(theirs["topics"]):
            if topics[name]["types"] != theirs["topics"][name]["types"]:
                wrong.append((name, topics[name]["types"], theirs["topics"][name]["types"]))
            for side in ("publishers", "subscribers"):
                a = {e["gid"]: e for e in topics[name][side]}
                b = {e["gid"]: e for e in theirs["topics"][name][side]}
                if set(a) != set(b):
                    wrong.append((name, side, set(a) ^ set(b)))
                for gid in set(a) & set(b):
                    wrong += [(name, side, gid, *d) for d in self.same_endpoint(a[gid], b[gid], own)]
        fields = ("publishers", "subscribers", "service_servers", "service_clients", "enclave")
        nodes = lambda graph: sorted((n["namespace"], n["node_name"], *(n[f] for f in fields)) for n in graph["nodes"])
        wrong += [("node", a, b) for a, b in zip(nodes(ours), nodes(theirs)) if a != b]
        wrong += [("nodes", len(ours["nodes"]), len(theirs["nodes"]))] * (len(ours["nodes"]) != len(theirs["nodes"]))
        for kind in ("services", "actions"):
            a = {s["name"]: s["types"] for s in ours[kind]}
            wrong += [(kind, a, theirs[kind])] * (a != theirs[kind])
        return wrong

    def same_endpoint(self, a, b, own):
        wrong = []
        qos = a["qos"]
        if (a["node"] or "none") != (full_name(b) if not b["node"].startswith("_") else "none"):
            wrong.append(("node", a["node"], b["node"]))
        unknown = set(b["hash"]) <= set("INVALID_0RHS1")              # a hash of zeros, or INVALID
        if a["type"] != b["type"] or (a["type_hash"] != b["hash"] and not (a["type_hash"] is None and unknown)):
            wrong.append((a["type"], a["type_hash"], b["type"], b["hash"]))
        fields = ["reliability", "durability", "liveliness"]
        if b["namespace"] != own:       # a program knows the history of its own endpoints without being told
            if qos["history"] is None:   # not announced: Kilted takes the default for true
                wrong += [("depth", None, b["depth"])] * ((b["history"], b["depth"]) not in ((None, 0), ("keep_last", 1)))
            elif b["history"] is not None:   # Jazzy reads nobody's announcement
                fields += ["history", "depth"]
        wrong += [(f, qos[f], b[f]) for f in fields if qos[f] != b[f]]
        for field in ("deadline_ns", "lifespan_ns", "liveliness_lease_ns"):
            x, y = qos[field], b[field]
            if (x is None) != (y is None) or (x is not None and abs(x - y) > 1):
                wrong.append((field, x, y))
        return wrong

    def test_everything_is_as_rclpy_sees_it(self):
        systems = {"/jazzy": self.system(JAZZY, "/jazzy"), "/kilted": self.system(KILTED, "/kilted", "Int32")}
        self.start(TOOLS, PROGRAMS / "cyclone_action.py", "/fib", "example/action/Fib").wait("ready")
        self.start(BINARIES / "dds_probe", "--relay", "std_msgs/msg/String", "/probe/in", "/probe/out", "reliable",
                   "--forward", "std_srvs/srv/SetBool", "/probe/front", "/probe/back").wait("ready")
        for own, program in systems.items():
            with self.subTest(own):
                def differences():
                    _, ours = self.graph("--all")
                    self.last = self.same(ours, self.ask(program), own)
                    return not self.last
                try:
                    eventually(differences, 40)
                except AssertionError:
                    self.fail("\n".join(map(str, self.last)))
        status, ours = self.graph()
        self.assertEqual(status, 1, "misfits are told by the exit status")
        told = {(m["name"], *[r["what"] for r in m["reasons"]]) for m in ours["incompatible"] if m["blocking"]}
        self.assertEqual(told, {("/jazzy/imu", "reliability"), ("/kilted/imu", "reliability"), ("/shared/kind", "type")})
        made_by = sorted(p["vendor"] for p in ours["participants"])
        self.assertEqual(made_by, ["Cyclone DDS", "Fast DDS", "Fast DDS", "rostrans"], "it does not see itself")
        [action] = ours["actions"]
        self.assertEqual((action["name"], action["types"], action["missing"]), ("/fib", ["example/action/Fib"], []))
        _, all_names = self.graph("topics", "-a")
        self.assertIn("Square", [t["name"] for t in all_names["dds_topics"]])

    def test_one_name_is_found_or_not_by_the_exit_status(self):
        self.assertEqual(self.graph("--wait", "1")[0], 2)
        self.system(KILTED, "/robot")
        eventually(lambda: self.graph("topics", "/robot/map")[0] == 0)
        status, imu = self.graph("topic", "/robot/imu")
        self.assertEqual((status, len(imu["incompatible"]), len(imu["topics"])), (1, 1, 1))
        self.assertEqual(self.graph("nodes", "/robot/first")[0], 1)
        self.assertEqual(self.graph("services", "/robot/set")[0], 0)
        self.assertEqual(self.graph("services", "/robot/sat")[0], 2)

    def test_watching_shows_what_comes_and_goes(self):
        watch = self.start(BINARIES / "rostrans", "graph", "nodes", "--watch", "--json", "--wait", "1")
        eventually(lambda: watch.seen and watch.seen[-1]["nodes"] == [], 10)
        system = self.system(KILTED, "/robot")
        names = lambda: [n["name"] for n in watch.seen[-1]["nodes"]]
        eventually(lambda: names() == ["/robot/first", "/robot/second"])
        system.stop()
        eventually(lambda: names() == [])
        self.assertEqual(watch.stop(), 0)

    def test_the_observer_shows_up_nowhere(self):
        system = self.system(JAZZY, "/robot")
        before = self.ask(system)
        watch = self.start(BINARIES / "rostrans", "graph", "--watch", "--json")
        eventually(lambda: watch.seen and watch.seen[-1]["nodes"])
        after = self.ask(system)
        self.assertEqual(after, before)


ENV = {k: v for k, v in os.environ.items() if not k.startswith(("ROS_", "FASTDDS_", "CYCLONEDDS_"))}


def full_name(endpoint):
    return f"{endpoint['namespace'].rstrip('/')}/{endpoint['node']}"


if __name__ == "__main__":
    unittest.main()
