"""`rostrans doctor` on networks with and without what ROS needs."""
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from netns import NetworkTest
from peers import BINARIES, JAZZY, KILTED, PROGRAMS

OWN = ("ROS_", "FASTDDS_", "FASTRTPS_", "CYCLONEDDS_", "RMW_")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(OWN)}

# Takes UDP ports until its stdin ends.
TAKER = """
import socket, sys
kept = []
for port in sys.argv[1:]:
    kept.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    kept[-1].bind(("0.0.0.0", int(port)))
print('{"event": "ready"}', flush=True)
sys.stdin.read()
"""


class Doctor(NetworkTest):
    def doctor(self, host, *args, user=None, **env):
        """Exit status and findings, by check, of the doctor on a host."""
        command = [BINARIES / "rostrans", "doctor", "--json", *args]
        if user:
            command = ["setpriv", f"--reuid={user}", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all", *command]
        done = subprocess.run(host.command(*command), capture_output=True, text=True, timeout=60,
                              env={**CLEAN, **self.env(), **env})
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1 if report["problems"] else 0, done.stdout)
        checks = {}
        for finding in report["findings"]:
            checks.setdefault(finding["check"], []).append(finding)
        return done.returncode, checks

    def level(self, found, check, text):
        """The level of the finding with that text."""
        hits = [f for f in found.get(check, []) if text in f["text"]]
        self.assertEqual(len(hits), 1, f"'{text}' in {json.dumps(found, indent=1)}")
        if hits[0]["level"] != "ok":
            self.assertTrue(hits[0]["remedy"], hits[0])
        return hits[0]["level"]

    def node(self, host, python=KILTED):
        program = self.on(host, python, PROGRAMS / "ros2_system.py", "/there")
        program.wait("ready")
        return program

    def take(self, host, *ports):
        program = self.on(host, sys.executable, "-c", TAKER, *ports)
        program.wait("ready")
        return program

    def test_a_network_as_ros_wants_it_has_no_problem(self):
        network = self.network("here", "there")
        for python in (JAZZY, KILTED):
            with self.subTest(str(python)):
                node = self.node(network["there"], python)
                status, found = self.doctor(network["here"])
                self.assertEqual(status, 0, found)
                self.assertEqual(self.level(found, "multicast", "eth0 (10.77.0.1) sends to the group and hears it"), "ok")
                self.assertEqual(self.level(found, "others", "1 participant (1 Fast DDS) with 2 nodes, at 10.77.0.2"), "ok")
                self.assertEqual(self.level(found, "others", "not fit"), "warning")
                self.assertEqual(self.level(found, "firewall", "127.0.0.1, 10.77.0.1"), "ok")
                node.stop()

    def test_ipv6_is_tried_when_it_is_used(self):
        network = self.network("here")
        _, found = self.doctor(network["here"], "--ip", "v6", "--wait", "0")
        hears = [f for f in found["multicast"] if "hears it" in f["text"] and ":" in f["text"]]
        self.assertEqual(len(hears), 1, found)
        self.assertIn("fd77::1", found["firewall"][0]["text"])

    def test_without_multicast_static_peers_are_the_way(self):
        network = self.network("here", "there")
        for name in ("here", "there"):
            network[name].run("ip", "link", "set", "eth0", "multicast", "off")
        self.on(network["there"], KILTED, PROGRAMS / "ros2_system.py", "/there",
                env={"ROS_STATIC_PEERS": "10.77.0.1"}).wait("ready")
        _, found = self.doctor(network["here"], "--wait", "1")
        self.assertEqual(self.level(found, "multicast", "eth0 (10.77.0.1) has no multicast"), "warning")
        status, found = self.doctor(network["here"], ROS_STATIC_PEERS="10.77.0.2;10.77.0.9")
        self.assertEqual(status, 0, found)
        self.assertEqual(self.level(found, "peers", "10.77.0.2: 1 participant"), "ok")
        self.assertEqual(self.level(found, "peers", "10.77.0.9: no answer"), "warning")

    def test_a_host_without_nodes_differs_from_one_that_is_off(self):
        network = self.network("here", "there")
        status, found = self.doctor(network["here"], "--wait", "1", "--peer", "10.77.0.2", "--peer", "no-such-host.invalid")
        self.assertEqual(status, 1)
        self.assertEqual(self.level(found, "peers", "10.77.0.2: the host answers, but no participant"), "warning")
        self.assertEqual(self.level(found, "peers", "no-such-host.invalid"), "problem")
        self.assertEqual(self.level(found, "others", "nobody else"), "warning")

    def test_taken_ports_are_told_with_their_owner(self):
        host = self.network("here")["here"]
        base = 7400 + 250 * self.domain
        some = self.take(host, base + 10, base + 13, 7400 + 250 * (self.domain + 1) + 10, 7400 + 250 * (self.domain + 1) + 11)
        status, found = self.doctor(host, "--wait", "0")
        self.assertEqual(status, 0, found)
        self.assertEqual(self.level(found, "ports", "2 of 32 participant ids in use (python"), "ok")
        self.assertEqual(self.level(found, "domains", f"domain {self.domain + 1}"), "ok")
        some.kill()
        self.take(host, base, *(base + 10 + n for n in range(64)))
        status, found = self.doctor(host, "--wait", "0")
        self.assertEqual(status, 1)
        self.assertEqual(self.level(found, "ports", "are all taken (python"), "problem")
        self.assertEqual(self.level(found, "ports", f"UDP {base}, where multicast arrives"), "problem")

    def test_datagrams_that_do_not_come_back_are_a_problem(self):
        host = self.network("here")["here"]
        # This machine does not know its own address any more: what is sent there leaves, and nobody has it.
        host.run("ip", "route", "del", "local", "10.77.0.1", "dev", "eth0", "table", "local")
        status, found = self.doctor(host, "--wait", "0")
        self.assertEqual(status, 1)
        self.assertEqual(self.level(found, "firewall", "at 10.77.0.1"), "problem")

    def test_the_environment_is_read(self):
        host = self.network("here")["here"]
        profile = Path(__file__).parent / "test_doctor.py"
        status, found = self.doctor(host, "--wait", "0", ROS_LOCALHOST_ONLY="1", ROS_DISCOVERY_SERVER="127.0.0.1:11811",
                                    FASTDDS_BUILTIN_TRANSPORTS="SHM", FASTRTPS_DEFAULT_PROFILES_FILE="/no/such.xml",
                                    FASTDDS_DEFAULT_PROFILES_FILE=str(profile), CYCLONEDDS_URI="file:///no/such.xml")
        self.assertEqual(status, 1)
        self.assertEqual(self.level(found, "range", "ROS_LOCALHOST_ONLY=1 overrides ROS_AUTOMATIC_DISCOVERY_RANGE"), "warning")
        self.assertEqual(self.level(found, "server", "ROS_DISCOVERY_SERVER=127.0.0.1:11811"), "problem")
        self.assertEqual(self.level(found, "transports", "shared memory only"), "problem")
        self.assertEqual(self.level(found, "profile", "No such file"), "warning")
        self.assertEqual(self.level(found, "profile", "can be read"), "ok")
        self.assertEqual(self.level(found, "cyclone", "No such file"), "problem")
        self.assertNotIn("multicast", found, "nothing is sent to the group in range LOCALHOST")

    def test_a_wrong_variable_is_a_problem_among_others(self):
        host = self.network("here")["here"]
        status, found = self.doctor(host, "--wait", "0", ROS_DOMAIN_ID="many", ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
        self.assertEqual(status, 1)
        self.assertEqual(self.level(found, "range", "ROS_DOMAIN_ID: invalid value 'many'"), "problem")
        self.assertEqual(self.level(found, "firewall", "127.0.0.1"), "ok")

    def test_high_domains_and_small_buffers_are_warned_of(self):
        host = self.network("here")["here"]
        _, found = self.doctor(host, "-d", "130", "--wait", "0", user="nobody")
        self.assertEqual(self.level(found, "ports", "overlap with"), "warning")
        granted = int(Path("/proc/sys/net/core/rmem_max").read_text())
        if granted < 1 << 20:
            self.assertEqual(self.level(found, "buffers", "for receiving: images"), "warning")
            self.assertIn("sysctl -w net.core.rmem_max", json.dumps(found["buffers"]))
        else:
            self.assertEqual([f for f in found["buffers"] if "images" in f["text"]], [])

    def test_wrong_words_exit_with_64(self):
        for words in (["now"], ["--domain", "999"], ["--ip", "6"]):
            done = subprocess.run([BINARIES / "rostrans", "doctor", *words], capture_output=True, text=True, env=CLEAN)
            self.assertEqual((done.returncode, done.stdout), (64, ""), done.stderr)


if __name__ == "__main__":
    unittest.main()
