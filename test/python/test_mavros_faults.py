"""What goes wrong in the field: reboots, clocks that jump, bad links, two of one name, forgery."""
import os
import time
import unittest

from daemon import free_port
from peers import eventually
from vehicles import VehicleTest

ARM_DISARM, SET_MESSAGE_INTERVAL = 400, 511
# A stamp is of this time, not of another hour (seconds).
NOW = 60.0
HOUR = 3600
# Time sync that is done within a second.
QUICK_SYNC = "mavros_time_timesync_rate=50\nmavros_time_convergence_window=20\n"


class MavrosFaults(VehicleTest):
    def watched(self, *options, params="", **kwargs):
        """A vehicle, rostrans, and a client that has seen it connected and knows its position and attitude."""
        autopilot, rostrans = self.vehicle(*options, params=params, **kwargs)
        client = self.client()
        client.watch("local_position/pose", "geometry_msgs/msg/PoseStamped", "sensor_data")
        self.connected(client)
        self.more_poses(client)
        return autopilot, rostrans, client

    def more_poses(self, client, more=20):
        """Waits for further poses; checks that the last one's stamp is of now."""
        start = client.seen("local_position/pose")[0]
        client.until("local_position/pose", lambda _: client.seen("local_position/pose")[0] >= start + more)
        stamp = client.seen("local_position/pose")[1]["header"]["stamp"]["sec"]
        self.assertLess(abs(stamp - time.time()), NOW, "the stamp is of another time")

    def reboots(self, autopilot, event, where=lambda e: True):
        vehicle, _, client = self.watched("--autopilot", autopilot, "--uptime", "7200")
        vehicle.say("reboot 2")
        vehicle.wait("reboot")
        vehicle.wait(event, 30, where)
        self.more_poses(client)

    def test_a_rebooted_px4_is_asked_for_its_rates_again(self):
        self.reboots("px4", "command", lambda e: e["command"] == SET_MESSAGE_INTERVAL)

    def test_a_rebooted_ardupilot_is_asked_for_its_streams_again(self):
        self.reboots("ardupilot", "streams")

    def test_clocks_that_jump_an_hour_do_not_take_the_stamps_along(self):
        autopilot, rostrans, client = self.watched("--uptime", "7200", params=QUICK_SYNC)
        client.watch("imu/data", "sensor_msgs/msg/Imu", "sensor_data", show=True)
        rostrans.wait_text("clock of the vehicle is known")
        self.more_poses(client)
        autopilot.say(f"jump {HOUR}")
        rostrans.wait_text("clock of the vehicle jumped")
        self.more_poses(client)
        autopilot.say(f"jump {-HOUR}")
        rostrans.wait_text("clock of the vehicle started anew")
        self.more_poses(client)
        stamps = [e["msg"]["header"]["stamp"]["sec"] for e in client.program.all("msg")]
        self.assertLess(max(stamps) - min(stamps), NOW, "a stamp is of another time")

    def test_a_third_of_all_packets_lost(self):
        autopilot, _, client = self.watched("--loss", "0.3", "--loss-in", "0.3", "--seed", "5")
        self.assertTrue(client.call("cmd/arming", "CommandBool", value=True)["success"], f"{client}\n{autopilot}")
        self.more_poses(client)
        self.assertTrue(client.seen("state")[1]["connected"])

    def test_packets_up_to_half_a_second_late(self):
        autopilot, rostrans, client = self.watched("--jitter", "0.5", "--uptime", "7200", params=QUICK_SYNC)
        self.assertTrue(client.call("cmd/arming", "CommandBool", value=True)["success"], f"{client}\n{autopilot}")
        self.more_poses(client, 100)
        self.assertTrue(client.seen("state")[1]["connected"])
        rostrans.wait_text("longer round trips are used to synchronise clocks")

    def test_packets_that_come_twice_and_out_of_order(self):
        autopilot, _, client = self.watched("--duplicate", "0.3", "--reorder", "0.3", "--jitter", "0.05")
        plan = [{"frame": 3, "command": 16, "autocontinue": True, "x_lat": 47.0 + i, "y_long": 8.0, "z_alt": 10.0 + i}
                for i in range(20)]
        self.assertEqual(client.call("mission/push", "WaypointPush", start_index=0, waypoints=plan),
                         {"success": True, "wp_transfered": 20}, f"{client}\n{autopilot}")
        self.assertEqual(client.call("mission/pull", "WaypointPull"), {"success": True, "wp_received": 20})
        self.assertTrue(client.call("cmd/arming", "CommandBool", value=True)["success"], f"{client}\n{autopilot}")
        self.assertEqual(len([e for e in autopilot.all("command") if e["command"] == ARM_DISARM]), 1)
        self.more_poses(client)

    def test_two_autopilots_with_one_system_id_are_named(self):
        port = free_port()
        for autopilot in ("px4", "ardupilot"):
            self.autopilot("--link", f"udpout:127.0.0.1:{port}", "--autopilot", autopilot)
        rostrans = self.rostrans(params=f"enable_mavros=true\nmavros_listen_port={port}\n")
        rostrans.wait_text("two autopilots use one system id")

    def test_unsigned_packets_on_a_signed_link_are_refused(self):
        key = self.folder() / "mavlink.key"
        key.write_bytes(os.urandom(32))
        autopilot, rostrans, client = self.watched("--key", str(key), params=f"mavros_signing_key={key}\n")
        client.watch("statustext/recv", "StatusText", "sensor_data", show=True)
        # Ours are signed: the vehicle takes none that is not.
        self.assertTrue(client.call("cmd/arming", "CommandBool", value=True)["success"], f"{client}\n{autopilot}")

        def heard():
            autopilot.say("status hello")
            return client.seen("statustext/recv")[0]

        eventually(heard, period=0.5)
        autopilot.say("unsigned forged")
        autopilot.say("status genuine")
        client.program.wait("msg", where=lambda e: e["msg"]["text"] == "genuine")
        self.assertNotIn("forged", [e["msg"]["text"] for e in client.program.all("msg")])
        rostrans.wait_text("not signed, but 'mavros_signing_key' is set")
        # Frames that wait in queues while newer ones are checked are no forgeries.
        self.assertEqual([line for line in rostrans.noise if "refused" in line and "not signed" not in line], [])


if __name__ == "__main__":
    unittest.main()
