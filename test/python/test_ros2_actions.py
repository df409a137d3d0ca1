"""An action whose server and client are stock ROS 2 nodes that cannot see each other, through rostrans."""
import random
import unittest

from daemon import DaemonTest, free_port
from peers import BINARIES, JAZZY, PROGRAMS

ACTION = "example_interfaces/action/Fibonacci"
SERVICES = {"send_goal": ACTION + "_SendGoal", "get_result": ACTION + "_GetResult",
            "cancel_goal": "action_msgs/srv/CancelGoal"}
TOPICS = {"feedback": (ACTION + "_FeedbackMessage", "reliable"),
          "status": ("action_msgs/msg/GoalStatusArray", "latched")}


class ActionTest(DaemonTest):
    def action(self, *args, env=None):
        return self.start(JAZZY, PROGRAMS / "ros2_action.py", *args, "--timeout", "25", env=env)

    def check(self, client, server, relays):
        """A goal that is done, with feedback and status on the way."""
        text = "\n".join(map(str, (client, server, *relays)))
        self.assertEqual(client.finish(30), 0, text)
        result = {"event": "result", "status": "succeeded", "sequence": [0, 1, 1, 2, 3, 5]}
        self.assertEqual(client.all("result"), [result], text)
        self.assertEqual([e["accepted"] for e in client.all("goal")], [True])
        # Nothing orders feedback against the result, so the last may be missing when the client ends.
        lengths = [len(e["sequence"]) for e in client.all("feedback")]
        self.assertEqual(lengths, [3, 4, 5, 6][:len(lengths)], text)
        self.assertTrue(lengths, text)
        self.assertIn(["executing"], [e["goals"] for e in client.all("status")], text)


class Endpoints(ActionTest):
    def test_all_five_endpoints_pass_by_name(self):
        relay = self.start(
            BINARIES / "dds_probe",
            *[word for part, kind in SERVICES.items()
              for word in ("--forward", kind, f"/front/_action/{part}", f"/back/_action/{part}")],
            *[word for part, (kind, qos) in TOPICS.items()
              for word in ("--relay", kind, f"/back/_action/{part}", f"/front/_action/{part}", qos)])
        relay.wait("ready")
        server = self.action("serve", "/back")
        server.wait("watched")
        self.check(self.action("call", "/front", "--order", "6"), server, [relay])


class Bridge(ActionTest):
    """Two rostrans with the rules of docs/rules.md between two domains."""

    def setUp(self):
        self.far = {"ROS_DOMAIN_ID": str(random.choice([d for d in range(10, 91) if d != self.domain]))}
        ports = {part: free_port() for part in (*SERVICES, *TOPICS)}
        service = "{{codec: cdr, service: /fib/_action/{0}, srv_type: {1}, options: {{timeout: 60}}{2}}}"
        topic = "{{codec: cdr, topic: /fib/_action/{0}, msg_type: {1}, qos: {2}{3}}}"
        target = ", udp_dst_ip: 127.0.0.1, udp_dst_port: {}"
        near, far = ["- {rule_id: call, direction: rosservice_to_udp, links: ["], []
        for part, kind in SERVICES.items():
            near.append("    " + service.format(part, kind, target.format(ports[part])) + ",")
            far.append(f"- {{rule_id: {part}, direction: udp_to_rosservice, udp_listen_ip: 127.0.0.1, "
                       f"udp_listen_port: {ports[part]}, links: [{service.format(part, kind, '')}]}}")
        near.append("  ]}")
        for part, (kind, qos) in TOPICS.items():
            near.append(f"- {{rule_id: {part}, direction: udp_to_rostopic, udp_listen_ip: 127.0.0.1, "
                        f"udp_listen_port: {ports[part]}, links: [{topic.format(part, kind, qos, '')}]}}")
            far.append(f"- {{rule_id: {part}, direction: rostopic_to_udp, links: "
                       f"[{topic.format(part, kind, qos, target.format(ports[part]))}]}}")
        self.relays = [self.rostrans(rules="\n".join(near)), self.rostrans(rules="\n".join(far), env=self.far)]

    def server(self, *args):
        server = self.action("serve", "/fib", *args, env=self.far)
        server.wait("watched")
        return server

    def test_goal_is_done_in_another_domain(self):
        server = self.server()
        self.check(self.action("call", "/fib", "--order", "6"), server, self.relays)

    def test_result_may_take_longer_than_other_calls(self):
        server = self.server("--period", "1.6")
        self.check(self.action("call", "/fib", "--order", "6"), server, self.relays)

    def test_goal_is_canceled(self):
        server = self.server("--period", "0.3")
        client = self.action("call", "/fib", "--order", "100", "--cancel")
        self.assertEqual(client.finish(30), 0, f"{client}\n{server}\n{self.relays}")
        self.assertEqual([e["code"] for e in client.all("cancel")], [0])
        [result] = client.all("result")
        self.assertEqual(result["status"], "canceled")
        self.assertEqual(result["sequence"], server.all("result")[0]["sequence"])
        self.assertIn(["canceling"], [e["goals"] for e in client.all("status")], str(client))

    def test_goal_is_refused(self):
        server = self.server()
        client = self.action("call", "/fib", "--order", "-1")
        self.assertEqual(client.finish(30), 0, f"{client}\n{server}")
        self.assertEqual([e["accepted"] for e in client.all("goal")], [False])
        self.assertEqual([e["order"] for e in server.all("goal")], [-1])


if __name__ == "__main__":
    unittest.main()
