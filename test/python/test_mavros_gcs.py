"""Ground stations beside ROS: MAVSDK and MAVProxy on gcs_url while an rclpy program flies the vehicle."""
import unittest

from daemon import free_port
from peers import PROGRAMS, TOOLS
from vehicles import VehicleTest, ask_for_waypoints

PARAMS = 100
MAVSDK_ID, MAVPROXY_ID = [1, 195], [255, 230]


class MavrosGroundStations(VehicleTest):
    def mavproxy(self, port):
        """MAVProxy's console, told on stdin."""
        folder = self.folder()
        return self.start(TOOLS, TOOLS.parent / "mavproxy.py", f"--master=udpin:127.0.0.1:{port}", "--streamrate=-1",
                          "--default-modules=param,wp,mode", f"--state-basedir={folder}", env={"HOME": str(folder)})

    def test_three_programs_share_a_vehicle(self):
        vehicle, sdk, proxy = (free_port() for _ in range(3))
        autopilot = self.autopilot("--link", f"udpout:127.0.0.1:{vehicle}", "--params", str(PARAMS))
        stations = ",".join(f"udp://127.0.0.1:{free_port()}@127.0.0.1:{port}" for port in (sdk, proxy))
        rostrans = self.rostrans(params=f"fcu_url=udp://127.0.0.1:{vehicle}@\ngcs_url={stations}\n")
        flight = self.flight("--side", "4")
        mavsdk = self.start(TOOLS, PROGRAMS / "mavsdk_peer.py", "--link", f"udpin://127.0.0.1:{sdk}", "--steps",
                            "telemetry,params,mission,params,mission")
        mavproxy = self.mavproxy(proxy)
        mavproxy.wait_text(f"Received {PARAMS} parameters", 30)
        mavproxy.say("param show MPC_XY_VEL_MAX")
        mavproxy.wait_text("MPC_XY_VEL_MAX   12.0")
        mavsdk.wait("step", 40, lambda e: e["step"] == "mission")
        ask_for_waypoints(mavproxy, 5)
        everything = lambda: "\n".join(map(str, (autopilot, rostrans, flight, mavsdk, mavproxy)))
        self.assertEqual(mavsdk.finish(), 0, everything())
        self.assertEqual(flight.finish(50), 0, everything())
        mavproxy.wait_text("OFFBOARD>")
        self.assertEqual(autopilot.all("failsafe"), [], everything())
        senders = {tuple(s["id"]): s["lost"] for s in self.report(autopilot)["senders"]}
        for program in (MAVSDK_ID, MAVPROXY_ID):
            self.assertEqual(senders.get(tuple(program)), 0, everything())


if __name__ == "__main__":
    unittest.main()
