"""MAVROS's fcu_url and gcs_url: every form, with ground stations beside ROS, and several vehicles."""
import unittest

from daemon import free_port
from peers import PROGRAMS, TOOLS
from vehicles import VehicleTest, ask_for_waypoints

PARAMS = 100
MAVSDK_ID, MAVPROXY_ID = [1, 195], [255, 230]


class MavrosSetup(VehicleTest):
    def mavproxy(self, master):
        """MAVProxy's console, told on stdin."""
        folder = self.folder()
        return self.start(TOOLS, TOOLS.parent / "mavproxy.py", f"--master={master}", "--streamrate=-1",
                          "--default-modules=param,wp,mode", f"--state-basedir={folder}", env={"HOME": str(folder)})

    def mavsdk(self, link, steps):
        return self.start(TOOLS, PROGRAMS / "mavsdk_peer.py", "--link", link, "--steps", steps)

    def poses(self, prefix="/mavros", states=("state",)):
        client = self.client(prefix=prefix)
        for state in states:
            client.watch(state, "State")
            client.until(state, lambda m: m["connected"])
        return client

    def test_udp_with_a_remote_that_speaks_only_when_spoken_to(self):
        here, there = free_port(), free_port()
        self.autopilot("--link", f"udpin:127.0.0.1:{there}")
        self.rostrans(params=f"fcu_url=udp://127.0.0.1:{here}@localhost:{there}\n")
        self.poses()

    def test_serial_and_a_ground_station_that_listens(self):
        autopilot = self.autopilot("--link", "pty", "--params", str(PARAMS))
        station = free_port()
        self.rostrans(params=f"fcu_url=serial://{autopilot.device}:921600\n"
                             f"gcs_url=udp://127.0.0.1:{free_port()}@127.0.0.1:{station}\n")
        mavproxy = self.mavproxy(f"udpin:127.0.0.1:{station}")
        self.poses()
        mavproxy.wait_text(f"Received {PARAMS} parameters", 30)

    def test_tcp_both_ways_with_stations_on_udp_and_tcp_while_a_program_flies(self):
        fcu, udp, tcp = free_port(), free_port(), free_port()
        autopilot = self.autopilot("--link", f"tcpin:127.0.0.1:{fcu}", "--params", str(PARAMS))
        rostrans = self.rostrans(params=f"fcu_url=tcp://127.0.0.1:{fcu}\n"
                                        f"gcs_url=udp://127.0.0.1:{udp}@, tcp-l://127.0.0.1:{tcp}\n")
        client = self.poses()
        mavsdk = self.mavsdk(f"udpout://127.0.0.1:{udp}", "telemetry,params,mission,params")
        mavproxy = self.mavproxy(f"tcp:127.0.0.1:{tcp}")
        everything = lambda: "\n".join(map(str, (autopilot, rostrans, mavsdk, mavproxy)))
        mavproxy.wait_text(f"Received {PARAMS} parameters", 30)
        mavsdk.wait("step", 40, lambda e: e["step"] == "mission")
        ask_for_waypoints(mavproxy, 5)
        self.assertEqual(mavsdk.finish(), 0, everything())
        client.watch("local_position/pose", "geometry_msgs/msg/PoseStamped", "sensor_data")
        client.until("local_position/pose", lambda m: True)
        senders = {tuple(s["id"]): s["lost"] for s in self.report(autopilot)["senders"]}
        for program in (MAVSDK_ID, MAVPROXY_ID):
            self.assertEqual(senders.get(tuple(program)), 0, everything())

    def test_vehicles_that_connect_and_one_stations_port_for_all(self):
        fcu, udp = free_port(), free_port()
        self.rostrans(params=f"fcu_url=tcp-l://127.0.0.1:{fcu}\nmavros_copter_count=2\n"
                             f"mavros_prefix=/uav{{id}}/mavros\ngcs_url=udp://127.0.0.1:{udp}@\n")
        for sysid in ("1", "2"):
            self.autopilot("--link", f"tcpout:127.0.0.1:{fcu}", "--sysid", sysid, "--params", str(PARAMS))
        self.poses(prefix="", states=("uav1/mavros/state", "uav2/mavros/state"))
        mavproxy = self.mavproxy(f"udpout:127.0.0.1:{udp}")
        mavproxy.wait_text("Detected vehicle 2", 30)
        mavproxy.say("vehicle 2")
        mavproxy.say("param fetch")
        mavproxy.wait_text(f"Received {PARAMS} parameters", 30)


if __name__ == "__main__":
    unittest.main()
