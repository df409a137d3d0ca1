"""Services between the DDS adapter and foreign programs, in both conventions.

The probe offers /front and answers it by calling /back, so one call proves server and client at once.
"""
import unittest

from peers import BINARIES, JAZZY, KILTED, PROGRAMS, TOOLS, PeerTest

PROBE = BINARIES / "dds_probe"
SET_BOOL = "std_srvs/srv/SetBool"
CALLS = 3


class Services(PeerTest):
    def forward(self):
        probe = self.start(PROBE, "--forward", SET_BOOL, "/front", "/back")
        probe.wait("ready")
        return probe

    def cyclone_service(self, *args):
        return self.start(TOOLS, PROGRAMS / "cyclone_service.py", *args, "--timeout", "30")

    def server(self, python):
        answer = '{"success":true,"message":"done {i}"}'
        server = self.ros2("serve", SET_BOOL, "/back", "--json", answer, "--count", str(CALLS), "--timeout", "40",
                           python=python)
        server.wait("ready")
        return server

    def client(self, python, name="/front", count=CALLS):
        return self.ros2("call", SET_BOOL, name, "--json", '{"data":true}', "--count", str(count), "--rate", "0",
                         "--timeout", "30", python=python)

    def check(self, probe, server, client, messages):
        self.assertEqual(client.finish(35), 0, f"{client}\n{probe}\n{server}")
        responses = [e["msg"] for e in client.all("response")]
        self.assertEqual([r["message"] for r in responses], messages)
        self.assertEqual(server.finish(35), 0, str(server))
        self.assertEqual([e["error"] for e in probe.all("forwarded")], [None] * CALLS)
        return responses

    def test_rclpy_calls_rclpy_through_us(self):
        done = [f"done {i}" for i in range(CALLS)]
        for caller, answerer in ((JAZZY, KILTED), (KILTED, JAZZY)):
            probe = self.forward()
            server = self.server(answerer)
            self.check(probe, server, self.client(caller), done)
            self.assertEqual([e["msg"]["data"] for e in server.all("request")], [True] * CALLS)
            probe.close()

    def test_cyclone_calls_cyclone_through_us(self):
        probe = self.forward()
        server = self.cyclone_service("serve", "/back", "--count", str(CALLS))
        client = self.cyclone_service("call", "/front", "--count", str(CALLS))
        responses = self.check(probe, server, client, ["set True", "set False", "set True"])
        self.assertEqual([r["success"] for r in responses], [True, False, True])

    def test_one_server_answers_both_conventions_at_once(self):
        probe = self.forward()
        server = self.ros2("serve", SET_BOOL, "/back", "--json", '{"success":true,"message":"m"}', "--timeout", "40")
        server.wait("ready")
        fast = self.client(JAZZY, count=10)
        cyclone = self.cyclone_service("call", "/front", "--count", "10")
        for client in (fast, cyclone):
            self.assertEqual(client.finish(35), 0, f"{client}\n{probe}\n{server}")
            self.assertEqual([e["msg"]["message"] for e in client.all("response")], ["m"] * 10)
        self.assertEqual(len(server.all("request")), 20)

    def test_call_waits_for_its_server(self):
        probe = self.forward()
        client = self.client(JAZZY, count=1)
        client.wait("matched")
        server = self.ros2("serve", SET_BOOL, "/back", "--json", '{"success":true,"message":"late"}', "--count", "1",
                           "--timeout", "30")
        self.assertEqual(client.finish(35), 0, f"{client}\n{probe}\n{server}")
        self.assertEqual(client.all("response")[0]["msg"]["message"], "late")

    def test_restarted_server_is_found_again(self):
        probe = self.forward()
        for name in ("first", "second"):
            server = self.ros2("serve", SET_BOOL, "/back", "--json", f'{{"message":"{name}"}}', "--timeout", "40")
            server.wait("ready")
            client = self.client(JAZZY, count=1)
            self.assertEqual(client.finish(35), 0, f"{client}\n{probe}\n{server}")
            self.assertEqual(client.all("response")[0]["msg"]["message"], name)
            server.stop()

    def test_call_without_a_server_fails_at_its_deadline(self):
        probe = self.forward()
        client = self.client(JAZZY, count=1)
        forwarded = probe.wait("forwarded", 25)
        self.assertEqual(forwarded["error"], "no server for the service")
        client.kill()

    def test_cancel_service_and_status_of_an_action_pass_by_name(self):
        cancel, status = "action_msgs/srv/CancelGoal", "action_msgs/msg/GoalStatusArray"
        probe = self.start(PROBE, "--forward", cancel, "/front/_action/cancel_goal", "/back/_action/cancel_goal",
                           "--relay", status, "/back/_action/status", "/front/_action/status", "latched")
        probe.wait("ready")
        server = self.ros2("serve", cancel, "/back/_action/cancel_goal", "--json", '{"return_code":2}', "--count", "1",
                           "--timeout", "40")
        server.wait("ready")
        publisher = self.ros2("pub", status, "/back/_action/status", "--json", '{"status_list":[{"status":3}]}',
                              "--durability", "transient_local", "--count", "1", "--timeout", "40")
        client = self.ros2("call", cancel, "/front/_action/cancel_goal", "--json", "{}", "--timeout", "30")
        self.assertEqual(client.finish(35), 0, f"{client}\n{probe}\n{server}")
        self.assertEqual(client.all("response")[0]["msg"]["return_code"], 2)
        self.assertEqual(probe.wait("relayed")["error"], None, str(publisher))
        late = self.ros2("sub", status, "/front/_action/status", "--durability", "transient_local", "--count", "1",
                         "--timeout", "30")
        self.assertEqual(late.finish(35), 0, f"{late}\n{probe}")
        self.assertEqual([goal["status"] for goal in late.all("msg")[0]["msg"]["status_list"]], [3])


if __name__ == "__main__":
    unittest.main()
