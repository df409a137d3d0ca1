"""rostrans in a Zenoh graph: rules, MAVROS topics and services, the bridge to DDS, settings."""
import json
import unittest

from daemon import free_port
from peers import BINARIES, eventually
from vehicles import VehicleTest
from zenohs import STRING, STRING_KEY, ZenohTest, attachment, cdr_string, tell

STRING_IN = """
- rule_id: heard
  direction: udp_to_rostopic
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {port}
  links:
    - {{codec: string, topic: /heard, msg_type: std_msgs/msg/String, qos: reliable}}
"""
STRING_OUT = """
- rule_id: said
  direction: rostopic_to_udp
  links:
    - {{codec: string, topic: /said, msg_type: std_msgs/msg/String, udp_dst_ip: 127.0.0.1, udp_dst_port: {port}}}
"""


class Rules(ZenohTest):
    def check_rules(self, start):
        """A topic each way between UDP and Zenoh peers, which find each other as well."""
        port, far, near = free_port(), self.udp(), self.udp()
        program = start(STRING_IN.format(port=port) + STRING_OUT.format(port=far.port))
        subs = [self.zenoh("sub", STRING, "/heard", "--count", "3"), self.zenoh("sub", STRING, "/said", "--count", "3")]
        for sub in subs:
            sub.wait("ready", 30)
        pub = self.zenoh("pub", STRING, "/said", "--json", '{"data":"line {i}"}', "--count", "40", "--rate", "8")
        self.assertRegex(far.receive()[0].decode(), r"^line \d+$")

        def heard():
            near.send(b"over udp", port)
            return subs[0].all("msg")

        self.assertEqual(eventually(heard)[0]["msg"]["data"], "over udp")
        self.assertEqual(subs[1].finish(45), 0, f"{subs[1]}\n{pub}\n{program}")
        return program

    def test_as_peer_of_a_router(self):
        self.router()
        self.check_rules(lambda rules: self.rostrans_zenoh(rules=rules))

    def test_as_the_router_of_two_peers_that_know_only_it(self):
        self.check_rules(lambda rules: self.rostrans_zenoh(mode="router", rules=rules))

    def test_environment_of_a_zenoh_node_is_enough(self):
        self.router()
        config = self.folder() / "session.json5"
        config.write_text(json.dumps({"mode": "client", "connect": {"endpoints": [self.address]},
                                      "scouting": {"multicast": {"enabled": False}}}))
        env = {"RMW_IMPLEMENTATION": "rmw_zenoh_cpp", "ZENOH_SESSION_CONFIG_URI": str(config)}
        program = self.check_rules(lambda rules: self.rostrans(rules=rules, env=env))
        program.wait_text("connected to a Zenoh router")
        program.wait_text("client, router")

    def test_router_configuration_file_is_used(self):
        config = self.folder() / "router.json5"
        config.write_text(json.dumps({"mode": "router", "listen": {"endpoints": [self.address]},
                                      "scouting": {"multicast": {"enabled": False}}}))
        env = {"ZENOH_ROUTER_CONFIG_URI": f"file://{config}"}
        self.check_rules(lambda rules: self.rostrans("--ros2_transport=zenoh", "--zenoh_mode=router", rules=rules, env=env))

    def test_settings_that_cannot_be_used_are_refused_at_start(self):
        for option, text in (("--zenoh_connect=udp/127.0.0.1:7447", "invalid Zenoh endpoint 'udp/127.0.0.1:7447'"),
                             ("--zenoh_mode=server", "zenoh_mode")):
            program = self.start(BINARIES / "rostrans", "--ros2_transport=zenoh", option)
            program.wait_text(text)
            self.assertEqual(program.finish(), 64, str(program))

    def test_address_in_use_ends_the_start_with_its_reason(self):
        self.router()
        rules = self.folder() / "rules.yaml"
        rules.write_text(STRING_IN.format(port=free_port()))
        program = self.start(BINARIES / "rostrans", "--ros2_transport=zenoh", "--zenoh_mode=router",
                             f"--zenoh_listen={self.address}", "--rules", rules)
        program.wait_text("cannot open a Zenoh router")
        self.assertNotEqual(program.finish(), 0)
        self.assertNotIn(".rs:", "\n".join(program.noise))

    def test_service_of_a_zenoh_node_is_called(self):
        self.router()
        call, answer = free_port(), self.udp()
        self.rostrans_zenoh(rules=f"""
- rule_id: call
  direction: udp_to_rosservice
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {call}
  links:
    - {{codec: json, service: /set, srv_type: std_srvs/srv/SetBool}}
""")
        server = self.zenoh("serve", "std_srvs/srv/SetBool", "/set", "--json", '{"success":true,"message":"done"}',
                            "--count", "1")
        server.wait("ready", 30)
        answer.send(b'{"data": true}', call)
        reply = json.loads(answer.receive()[0])
        self.assertEqual((reply["success"], reply["message"]), (True, "done"), str(server))


class Bridge(ZenohTest):
    def test_topics_cross_between_dds_and_zenoh_both_ways(self):
        program = self.rostrans("--ros2_transport=dds,zenoh", "--zenoh_mode=router", f"--zenoh_listen={self.address}", rules="""
- {rule_id: both, direction: rostopic_to_rostopic, links: [{topic: /both, msg_type: std_msgs/msg/String}]}
""")
        count = ("--count", "5", "--timeout", "40")
        for publisher, subscriber in ((self.zenoh, self.ros2), (self.ros2, self.zenoh)):
            sub = subscriber("sub", STRING, "/both", *count)
            sub.wait("ready", 30)
            pub = publisher("pub", STRING, "/both", "--json", '{"data":"{i}"}', "--count", "40", "--rate", "8",
                            *(("--timeout", "40") if publisher == self.ros2 else ()))
            self.assertEqual(sub.finish(45), 0, f"{sub}\n{pub}\n{program}")
            numbers = [int(e["msg"]["data"]) for e in sub.all("msg")]
            # Each once: nothing goes round.
            self.assertEqual(numbers, list(range(numbers[0], numbers[0] + 5)))
            pub.close()

    def test_latched_topics_stay_latched(self):
        self.rostrans("--ros2_transport=dds,zenoh", "--zenoh_mode=router", f"--zenoh_listen={self.address}", rules="""
- {rule_id: kept, direction: rostopic_to_rostopic, links: [{topic: /kept, msg_type: std_msgs/msg/String}]}
""")
        wire = self.wire()
        tell(wire, "latch", key=f"{self.domain}/kept/{STRING_KEY}", payloads=[cdr_string("once")], attachment=attachment(),
             depth=1)
        tell(wire, "token", key=f"@ros2_lv/{self.domain}/{wire.zid}/0/1/MP/%/%/wire/%kept/{STRING_KEY}/:1:,1:,:,:,,")
        sub = self.ros2("sub", STRING, "/kept", "--durability", "transient_local", "--count", "1", "--timeout", "40")
        self.assertEqual(sub.finish(45), 0, str(sub))
        self.assertEqual(sub.all("msg")[0]["msg"]["data"], "once")


class Mavros(ZenohTest, VehicleTest):
    def test_telemetry_and_commands_of_an_autopilot(self):
        self.router()
        port = free_port()
        self.autopilot("--link", f"udpout:127.0.0.1:{port}")
        self.rostrans_zenoh(params=f"enable_mavros=true\nmavros_listen_port={port}\n")
        state = self.zenoh("sub", "mavros_msgs/msg/State", "/mavros/state", "--count", "200")
        imu = self.zenoh("sub", "sensor_msgs/msg/Imu", "/mavros/imu/data", "--count", "5")
        self.assertEqual(imu.finish(45), 0, str(imu))
        self.assertEqual({e["msg"]["header"]["frame_id"] for e in imu.all("msg")}, {"base_link"})
        state.wait("msg", 30, lambda e: e["msg"]["connected"] and not e["msg"]["armed"])
        client = self.zenoh("call", "mavros_msgs/srv/CommandBool", "/mavros/cmd/arming", "--json", '{"value":true}',
                            "--count", "1")
        self.assertEqual(client.finish(45), 0, str(client))
        self.assertTrue(client.all("response")[0]["msg"]["success"])
        state.wait("msg", 30, lambda e: e["msg"]["armed"])


if __name__ == "__main__":
    unittest.main()
