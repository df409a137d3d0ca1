"""rostrans built with --features r2r, joined through the libraries of a ROS 2 prefix, beside other ROS 2 programs.

`scripts/test r2r` builds that and runs this; discovery of test_*.py leaves it out, for other builds have no r2r.
"""
import json
import subprocess
import unittest
from unittest import mock

import daemon
from daemon import DaemonTest, free_port
from peers import BINARIES, JAZZY, KILTED, PROGRAMS, ROOT, eventually

STRING = "std_msgs/msg/String"
SET_BOOL = "std_srvs/srv/SetBool"


class R2r(DaemonTest):
    def joined(self, rules):
        """rostrans with these rules, through the libraries of Jazzy."""
        script = self.folder() / "rostrans"
        script.write_text(f'#!/bin/sh\nexec "{PROGRAMS}/with_ros2.sh" "{ROOT}/ros2-jazzy" jazzy "{BINARIES}/rostrans" "$@"\n')
        script.chmod(0o755)
        with mock.patch.object(daemon, "BINARIES", script.parent):
            program = self.rostrans("--ros2_transport=r2r", rules=rules)
        program.wait_text("rmw_fastrtps_cpp")
        return program

    def test_topics_cross_both_ways(self):
        port, out, sender = free_port(), self.udp(), self.udp()
        ours = self.joined(f"""
- rule_id: in
  direction: udp_to_rostopic
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {port}
  links:
    - {{codec: string, topic: /heard, msg_type: {STRING}, qos: reliable}}
- rule_id: out
  direction: rostopic_to_udp
  links:
    - {{codec: string, topic: /say, msg_type: {STRING}, udp_dst_ip: 127.0.0.1, udp_dst_port: {out.port}}}
""")
        want = ("--count", "3", "--timeout", "40")
        subs = [self.ros2("sub", STRING, "/heard", *want, python=JAZZY),
                self.ros2("sub", STRING, "/heard", *want, python=KILTED),
                self.cyclone("sub", STRING, "/heard", *want)]
        for sub in subs:
            sub.wait("matched", 30)

        def all_ended():
            sender.send("größe".encode(), port)
            return all(sub.process.poll() is not None for sub in subs)

        eventually(all_ended, timeout=30)
        for sub in subs:
            self.assertEqual([e["msg"]["data"] for e in sub.all("msg")], ["größe"] * 3, f"{sub}\n{ours}")
        self.ros2("pub", STRING, "/say", "--json", '{"data":"line {i}"}', "--count", "20", "--timeout", "40")
        self.assertRegex(out.receive()[0].decode(), r"^line \d+$")
        self.assertEqual(ours.stop(), 0, str(ours))

    def test_services_cross_both_ways(self):
        port, caller, answerer = free_port(), self.udp(), self.udp()
        ours = self.joined(f"""
- rule_id: call
  direction: udp_to_rosservice
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {port}
  links:
    - {{codec: json, service: /theirs, srv_type: {SET_BOOL}}}
- rule_id: serve
  direction: rosservice_to_udp
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {free_port()}
  links:
    - {{codec: json, service: /ours, srv_type: {SET_BOOL}, udp_dst_ip: 127.0.0.1, udp_dst_port: {answerer.port}}}
""")
        server = self.ros2("serve", SET_BOOL, "/theirs", "--json", '{"success":true,"message":"done"}', "--timeout", "40")
        server.wait("ready")
        caller.socket.settimeout(1.0)

        def answer():
            caller.send(b'{"data":true}', port)
            try:
                return caller.receive()[0]
            except TimeoutError:
                return None

        self.assertEqual(json.loads(eventually(answer)), {"success": True, "message": "done"}, str(ours))
        client = self.ros2("call", SET_BOOL, "/ours", "--json", '{"data":true}', "--timeout", "30")
        data, back = answerer.receive()
        self.assertEqual(json.loads(data), {"data": True})
        answerer.send(b'{"success":false,"message":"from udp"}', back)
        self.assertEqual(client.finish(20), 0, f"{client}\n{ours}")
        self.assertEqual(client.all("response")[0]["msg"], {"success": False, "message": "from udp"})

    def test_without_ros_it_says_what_to_do_and_works_over_dds(self):
        rule = self.folder() / "rules.yaml"
        rule.write_text(f"- {{rule_id: a, direction: rostopic_to_udp, links: [{{codec: string, topic: /a, "
                        f"msg_type: {STRING}, udp_dst_ip: 127.0.0.1, udp_dst_port: {free_port()}}}]}}\n")
        for distro, text in (("", "ROS_DISTRO is not set"), ("humble", "but humble is sourced")):
            run = subprocess.run([BINARIES / "rostrans", "--rules", rule, "--check", "--ros2_transport=r2r"],
                                 env={"ROS_DISTRO": distro}, capture_output=True, text=True, timeout=30, check=False)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(text, run.stdout + run.stderr)
        lost = self.start(BINARIES / "rostrans", "--rules", rule, "--ros2_transport=r2r", env={"ROS_DISTRO": "jazzy"})
        lost.wait_text("source /opt/ros/jazzy/setup.bash")
        self.assertNotEqual(lost.finish(), 0)
        self.start(BINARIES / "rostrans", "--rules", rule, "--ros2_transport=dds").wait_text("running;")


if __name__ == "__main__":
    unittest.main()
