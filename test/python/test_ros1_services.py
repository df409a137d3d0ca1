"""Services between rostrans and rospy, with a real roscore: both ways, persistent, refused, failed."""
import json
import unittest

from daemon import free_port
from peers import eventually
from ros1 import Ros1Test

ARM, SWITCH = "mavros_msgs/CommandBool", "std_srvs/SetBool"


def served(port, name="/arm", kind="mavros_msgs/srv/CommandBool"):
    """A rule whose service a UDP peer at that port answers."""
    return f"""
- rule_id: serve{name.replace("/", "_")}
  direction: rosservice_to_udp
  links:
    - {{codec: json, service: {name}, srv_type: {kind}, udp_dst_ip: 127.0.0.1, udp_dst_port: {port}}}
"""


def called(port, name="/arm", kind="mavros_msgs/srv/CommandBool"):
    """A rule that calls a service for UDP peers."""
    return f"""
- rule_id: call{name.replace("/", "_")}
  direction: udp_to_rosservice
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {port}
  links:
    - {{codec: json, service: {name}, srv_type: {kind}}}
"""


class Services(Ros1Test):
    def serve(self, udp, client, request, response, times=1):
        for _ in range(times):
            data, port = udp.receive()
            self.assertEqual(json.loads(data), request)
            udp.send(json.dumps(response).encode(), port)
        self.assertEqual(client.finish(20), 0, str(client))
        self.assertEqual([e["msg"] for e in client.all("response")], [response] * times)

    def asked(self, udp, port, request):
        """The answer that a UDP peer gets, which asks until there is one."""
        udp.socket.settimeout(1.0)

        def answer():
            udp.send(request, port)
            try:
                return json.loads(udp.receive()[0])
            except TimeoutError:
                return None

        return eventually(answer)

    def test_rospy_calls_services_of_ours(self):
        arm, switch = self.udp(), self.udp()
        self.rostrans(rules=served(arm.port) + served(switch.port, "/switch", "std_srvs/srv/SetBool"))
        client = self.rospy("call", ARM, "/arm", "--json", '{"value": true}', "--timeout", "30")
        self.serve(arm, client, {"value": True}, {"success": True, "result": 4})
        client = self.rospy("call", SWITCH, "/switch", "--json", '{"data": true}', "--count", "20", "--rate", "0",
                            "--persistent", "--timeout", "30")
        self.serve(switch, client, {"data": True}, {"success": False, "message": "größer"}, times=20)

    def test_ours_calls_services_of_rospy(self):
        port, udp = free_port(), self.udp()
        self.rostrans(rules=called(port))
        server = self.rospy("serve", ARM, "/arm", "--json", '{"success": true, "result": 7}', "--timeout", "40")
        self.assertEqual(self.asked(udp, port, b'{"value": true}'), {"success": True, "result": 7}, str(server))
        self.assertEqual(server.all("request")[0]["msg"], {"value": True})
        # The server goes, and another comes.
        server.stop()
        server = self.rospy("serve", ARM, "/arm", "--json", '{"success": false, "result": 8}', "--timeout", "40")
        server.wait("ready")
        eventually(lambda: self.asked(udp, port, b'{"value": false}') == {"success": False, "result": 8})

    def test_failure_of_a_rospy_service_is_told_with_its_reason(self):
        port, udp = free_port(), self.udp()
        self.rostrans(rules=called(port))
        server = self.rospy("serve", ARM, "/arm", "--fail", "no battery", "--timeout", "40")
        server.wait("ready")
        answer = self.asked(udp, port, b'{"value": true}')
        self.assertIn("no battery", json.dumps(answer))

    def test_other_types_are_refused_with_one_line_each_way(self):
        udp, port = self.udp(), free_port()
        rostrans = self.rostrans(rules=served(udp.port) + called(port, "/theirs"))
        self.registered("Services", "/arm")
        client = self.rospy("call", SWITCH, "/arm", "--timeout", "10")
        self.assertEqual(client.finish(20), 1, str(client))
        line = rostrans.wait_text("connection refused")
        self.assertRegex(line, r"/arm is mavros_msgs/CommandBool with md5sum \w{32} here, and \?? ?.*with md5sum \w{32} for the "
                               r"client; have both use the same definition")
        server = self.rospy("serve", SWITCH, "/theirs", "--timeout", "30")
        server.wait("ready")
        udp.send(b'{"value": true}', port)
        line = rostrans.wait_text("cannot call the service")
        self.assertIn('service="/theirs"', line)
        self.assertEqual(len(self.lines(rostrans, "connection refused")), 1)
        # Who asks rightly is answered still.
        client = self.rospy("call", ARM, "/arm", "--json", '{"value": true}', "--timeout", "20")

        def answered():
            data, back = udp.receive()
            udp.send(b'{"success": true, "result": 1}', back)
            return "value" in json.loads(data)

        self.assertTrue(eventually(answered))
        self.assertEqual(client.finish(20), 0, str(client))


if __name__ == "__main__":
    unittest.main()
