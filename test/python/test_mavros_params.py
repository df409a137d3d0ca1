"""A vehicle's parameters through MAVROS's services and as parameters of the node /mavros/param."""
import unittest

from vehicles import VehicleTest

# Kinds of rcl_interfaces/msg/ParameterType.
NOT_SET, INTEGER, DOUBLE = 0, 2, 3
COUNT = 1000


class MavrosParams(VehicleTest):
    def start_with(self, *options):
        autopilot, _ = self.vehicle("--params", str(COUNT), "--rate", "5", *options)
        client = self.client()
        self.connected(client)
        return autopilot, client

    def value(self, client, name):
        [value] = client.parameters("get", [name])["values"]
        return {NOT_SET: None, INTEGER: value["integer_value"], DOUBLE: value["double_value"]}[value["type"]]

    def test_px4_parameters(self):
        autopilot, client = self.start_with()
        client.watch("param/event", "ParamEvent")
        self.assertEqual(client.call("param/pull", "ParamPull", force_pull=True),
                         {"success": True, "param_received": COUNT})
        names = client.parameters("list")["result"]["names"]
        self.assertEqual(len(names), COUNT)
        self.assertIn("MPC_XY_VEL_MAX", names)
        client.until("param/event", lambda m: m["param_count"] == COUNT)

        wanted = client.parameters("get", ["SYS_AUTOSTART", "MPC_XY_VEL_MAX", "TST_0001", "TST_0002", "NOT_THERE"])["values"]
        self.assertEqual([v["type"] for v in wanted], [INTEGER, DOUBLE, INTEGER, DOUBLE, NOT_SET])
        self.assertEqual([wanted[0]["integer_value"], wanted[1]["double_value"], wanted[2]["integer_value"]],
                         [4001, 12.0, 7919 - 4_000_000])
        self.assertAlmostEqual(wanted[3]["double_value"], 2 * 0.37 - 20.125, 5)
        described = client.parameters("describe", ["SYS_AUTOSTART"])["descriptors"][0]
        self.assertEqual((described["name"], described["type"]), ("SYS_AUTOSTART", INTEGER))
        self.assertEqual(client.parameters("types", ["MPC_XY_VEL_MAX", "NOT_THERE"])["types"], [DOUBLE, NOT_SET])

        answers = client.parameters("set", values={"NAV_RCL_ACT": 3, "MPC_XY_VEL_MAX": 8.5})["results"]
        self.assertEqual([a["successful"] for a in answers], [True, True], f"{client}\n{autopilot}")
        self.assertEqual({e["name"]: e["value"] for e in autopilot.all("param")}, {"NAV_RCL_ACT": 3, "MPC_XY_VEL_MAX": 8.5})
        self.assertEqual((self.value(client, "NAV_RCL_ACT"), self.value(client, "MPC_XY_VEL_MAX")), (3, 8.5))
        # PX4 refuses a value of another type; it has to be sent as what the parameter is.
        [answer] = client.parameters("set", values={"MPC_XY_VEL_MAX": 9})["results"]
        self.assertTrue(answer["successful"], f"{client}\n{autopilot}")
        self.assertEqual(self.value(client, "MPC_XY_VEL_MAX"), 9.0)
        [answer] = client.parameters("set", values={"NOT_THERE": 1})["results"]
        self.assertFalse(answer["successful"])

    def test_the_parameters_have_a_node(self):
        self.vehicle()
        # What `ros2 param` looks for before it asks.
        graph = self.ros2("graph", "-", "/mavros/param", "--timeout", "25")
        self.assertEqual(graph.finish(), 0, str(graph))
        nodes = {e["node"]: e for e in graph.all("node")}
        for call, kind in (("get_parameters", "GetParameters"), ("set_parameters", "SetParameters"),
                           ("list_parameters", "ListParameters")):
            self.assertEqual(nodes["/mavros/param"]["services"][f"/mavros/param/{call}"],
                             [f"rcl_interfaces/srv/{kind}"])

    def test_ardupilot_parameters(self):
        autopilot, client = self.start_with("--autopilot", "ardupilot")
        self.assertEqual(client.call("param/pull", "ParamPull", force_pull=True),
                         {"success": True, "param_received": COUNT})
        self.assertEqual((self.value(client, "LOG_BITMASK"), self.value(client, "WPNAV_SPEED"),
                          self.value(client, "TST_0003")), (176126, 500.0, -497))
        answer = client.call("param/set", "ParamSetV2", param_id="RTL_ALT", value={"type": INTEGER, "integer_value": 2500})
        self.assertTrue(answer["success"], f"{client}\n{autopilot}")
        self.assertEqual((answer["value"]["type"], answer["value"]["integer_value"]), (INTEGER, 2500))
        self.assertEqual([(e["name"], e["value"]) for e in autopilot.all("param")], [("RTL_ALT", 2500)])

    def test_a_third_of_the_list_lost_is_asked_for_again(self):
        autopilot, _ = self.vehicle("--params", "100", "--rate", "5", "--loss", "0.3")
        client = self.client()
        self.connected(client)
        self.assertEqual(client.call("param/pull", "ParamPull", force_pull=True),
                         {"success": True, "param_received": 100}, f"{client}\n{autopilot}")


if __name__ == "__main__":
    unittest.main()
