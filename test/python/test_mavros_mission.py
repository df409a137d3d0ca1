"""Missions, fences and rally points through MAVROS's services, also over a bad link."""
import unittest

from vehicles import VehicleTest

GLOBAL_RELATIVE_ALT, NAV_WAYPOINT = 3, 16
FENCE_VERTEX, RALLY_POINT = 5001, 5100
MISSION, FENCE, RALLY = 0, 1, 2


def items(count, command=NAV_WAYPOINT):
    """So many items that differ in every field worth checking."""
    return [{"frame": GLOBAL_RELATIVE_ALT, "command": command, "is_current": command == NAV_WAYPOINT and i == 0,
             "autocontinue": True, "param1": float(count if command == FENCE_VERTEX else i), "param2": 2.5, "param3": 0.0,
             "param4": 0.5 * i, "x_lat": 47.3977 + i * 1.7e-5, "y_long": 8.5455 - i * 2.3e-5, "z_alt": 10.0 + i * 0.25}
            for i in range(count)]


class MavrosMission(VehicleTest):
    def same(self, got, want):
        self.assertEqual(len(got), len(want))
        for i, (a, b) in enumerate(zip(got, want)):
            for key, value in b.items():
                self.assertAlmostEqual(a[key], value, 6, f"{key} of item {i}")

    def round_trip(self, client, autopilot, plugin, topic, kind, plan):
        """Uploads a plan, reads it back from the topic and from the vehicle, and clears it."""
        client.watch(f"{plugin}/{topic}", "WaypointList", "latched", full=True)
        pushed = client.call(f"{plugin}/push", "WaypointPush", start_index=0, waypoints=plan)
        self.assertEqual(pushed, {"success": True, "wp_transfered": len(plan)}, f"{client}\n{autopilot}")
        self.assertEqual(self.report(autopilot)["plans"][str(kind)], len(plan))
        pulled = client.call(f"{plugin}/pull", "WaypointPull")
        self.assertEqual(pulled, {"success": True, "wp_received": len(plan)}, f"{client}\n{autopilot}")
        self.same(client.until(f"{plugin}/{topic}", lambda m: len(m["waypoints"]) == len(plan))["waypoints"], plan)
        self.assertEqual(client.call(f"{plugin}/clear", "WaypointClear"), {"success": True})
        client.until(f"{plugin}/{topic}", lambda m: not m["waypoints"])
        self.assertEqual(self.report(autopilot)["plans"][str(kind)], 0)

    def test_200_items_go_both_ways_with_a_tenth_of_all_packets_lost(self):
        autopilot, _ = self.vehicle("--loss", "0.1", "--loss-in", "0.1", "--rate", "5")
        client = self.client()
        self.connected(client)
        self.round_trip(client, autopilot, "mission", "waypoints", MISSION, items(200))

    def test_fence_and_rally_points_are_plans_of_their_own(self):
        autopilot, _ = self.vehicle()
        client = self.client()
        self.connected(client)
        client.call("mission/push", "WaypointPush", start_index=0, waypoints=items(3))
        self.round_trip(client, autopilot, "geofence", "fences", FENCE, items(5, FENCE_VERTEX))
        self.round_trip(client, autopilot, "rallypoint", "rallypoints", RALLY, items(2, RALLY_POINT))
        self.assertEqual(self.report(autopilot)["plans"][str(MISSION)], 3)

    def test_ardupilot_asks_in_its_own_way(self):
        autopilot, _ = self.vehicle("--autopilot", "ardupilot")
        client = self.client()
        self.connected(client)
        self.round_trip(client, autopilot, "mission", "waypoints", MISSION, items(12))


if __name__ == "__main__":
    unittest.main()
