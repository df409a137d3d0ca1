"""Services of the daemon between UDP peers that speak JSON and stock ROS 2 nodes."""
import json
import unittest

from daemon import DaemonTest, free_port
from peers import eventually


class RuleServices(DaemonTest):
    def test_udp_peer_calls_a_ros_service(self):
        port, peer = free_port(), self.udp()
        self.rostrans(rules=f"""
- rule_id: call
  direction: udp_to_rosservice
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {port}
  links:
    - {{codec: json, service: /switch, srv_type: std_srvs/srv/SetBool}}
""")
        server = self.ros2("serve", "std_srvs/srv/SetBool", "/switch", "--json",
                           '{"success":true,"message":"switched"}', "--timeout", "40")
        server.wait("ready")
        peer.socket.settimeout(1.0)

        def answer():
            peer.send(b'{"data":true}', port)
            try:
                return peer.receive()[0]
            except TimeoutError:
                return None

        self.assertEqual(json.loads(eventually(answer)), {"success": True, "message": "switched"})
        self.assertEqual(server.all("request")[0]["msg"], {"data": True})

    def test_ros_clients_call_a_udp_peer(self):
        peer = self.udp()
        self.rostrans(rules=f"""
- rule_id: serve
  direction: rosservice_to_udp
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {free_port()}
  links:
    - {{codec: json, service: /switch, srv_type: std_srvs/srv/SetBool, udp_dst_ip: 127.0.0.1, udp_dst_port: {peer.port}}}
    - {{codec: json, service: /arm, srv_type: mavros_msgs/srv/CommandBool, udp_dst_ip: 127.0.0.1, udp_dst_port: {peer.port}}}
""")
        for kind, name, values, request, response in (
                ("std_srvs/srv/SetBool", "/switch", '{"data":true}', {"data": True},
                 {"success": True, "message": "from udp"}),
                ("mavros_msgs/srv/CommandBool", "/arm", '{"value":true}', {"value": True},
                 {"success": True, "result": 4})):
            client = self.ros2("call", kind, name, "--json", values, "--timeout", "30")
            data, port = peer.receive()
            self.assertEqual(json.loads(data), request)
            peer.send(json.dumps(response).encode(), port)
            self.assertEqual(client.finish(20), 0, str(client))
            self.assertEqual(client.all("response")[0]["msg"], response)

    def test_commands_of_a_udp_peer_reach_a_mavros_service(self):
        port, peer = free_port(), self.udp()
        self.rostrans(rules=f"""
- rule_id: arm
  direction: udp_to_rosservice
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {port}
  links:
    - {{codec: json, service: /mavros/cmd/arming, srv_type: mavros_msgs/srv/CommandBool}}
""")
        server = self.ros2("serve", "mavros_msgs/srv/CommandBool", "/mavros/cmd/arming", "--json",
                           '{"success":true,"result":0}', "--timeout", "40")
        server.wait("ready")
        peer.socket.settimeout(10.0)
        peer.send(b'{"value":true}', port)
        self.assertEqual(json.loads(peer.receive()[0]), {"success": True, "result": 0})

if __name__ == "__main__":
    unittest.main()
