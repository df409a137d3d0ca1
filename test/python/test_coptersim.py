"""Programs written for MAVROS fly vehicles of CopterSim; what goes over the wire is read by an independent decoder."""
import math
import os
import signal
import unittest

from copters import CopterTest, RospyCopterTest, ned, turned

ARM, DISARM, VELOCITY, POSITION, LAND = (7, 0), (3, 0), (7, 18), (519, 8201), (1031, 0)
CORNERS = 5


class Squares:
    """Flights of one vehicle and of ten; what carries ROS is for those that inherit it."""

    def spawn(self, vehicle, first=1):
        """Where the demo puts a vehicle: NED, from the centre of the map."""
        return [0.0, 2.0 * (vehicle - first), 0.0]

    def near(self, found, wanted, within, *more):
        """Lists of numbers, or numbers."""
        pairs = zip(found, wanted) if isinstance(wanted, list) else [(found, wanted)]
        for a, b in pairs:
            self.assertLess(abs(a - b), within, (found, wanted, *map(str, more)))

    def flown(self, flight, tap, vehicles, *programs):
        """Waits for a flight to end well, and compares all that ROS said with what CopterSim sent."""
        status = flight.finish(58)
        everything = "\n".join(map(str, (flight, *programs)))
        self.assertEqual(status, 0, everything)
        for vehicle in vehicles:
            of = lambda event: [e for e in flight.all(event) if e["vehicle"] == vehicle]
            [summary], [square], [landed] = of("summary"), of("square"), of("landed")
            self.assertEqual((summary["backwards"], summary["negative_zeros"]), (0, 0), summary)
            self.assertTrue(all(summary["counts"].values()), summary)
            reached = of("reached")
            self.assertEqual(len(reached), CORNERS, everything)
            for corner in reached:
                truth = tap.truth(vehicle, corner["stamp"])
                # Nothing moves faster than 5 m/s.
                within = 0.02 + 5 * abs(truth["t"] - corner["stamp"])
                local = [a - b for a, b in zip(truth["position"], self.spawn(vehicle))]
                self.near(ned(corner["position"]), local, within, corner, truth)
                self.near(math.remainder(turned(corner["yaw"]) - truth["euler"][2], math.tau), 0, within, corner, truth)
            self.near(landed["z"], 0, 0.3, landed)
            # Between the corners neither arming nor mode changes.
            gaps = square["state_gaps"]
            self.assertGreater(len(gaps), 4, square)
            self.near(sorted(gaps)[len(gaps) // 2], 1, 0.1, square)
        return flight

    def corners(self, flight, vehicle):
        return [e["corner"] for e in flight.all("reached") if e["vehicle"] == vehicle]

    def told(self, commands, what):
        return [c for c in commands if (c["cmd"], c["offboard"]) == what]

    def test_square_through_mavros(self):
        simulator, tap = self.simulator(), self.tap()
        daemon = self.copters()
        flight = self.flown(self.flight(), tap, [1], simulator, daemon)
        commands = tap.commands(1)
        self.assertEqual({c["copter"] for c in commands}, {1})
        self.assertTrue(self.told(commands, ARM) and self.told(commands, LAND) and self.told(commands, DISARM), commands)
        climbs = [c for c in self.told(commands, VELOCITY) if c["velocity"][2]]
        self.assertEqual([(c["velocity"], c["yaw_rate"]) for c in climbs], [([0, 0, -1], 0)], commands)
        positions = self.told(commands, POSITION)
        self.assertEqual(len(positions), CORNERS, commands)
        for command, (x, y, z, yaw) in zip(positions, self.corners(flight, 1)):
            self.near(command["position"], ned([x, y, z]), 1e-3, commands)
            self.near(command["yaw"], turned(yaw), 1e-3, commands)
        kinds = tap.kinds(1)
        self.assertEqual([k for k in kinds if k.startswith("unknown")], [], kinds)
        self.assertIn("SOut2Simulator", kinds)

    def test_ten_vehicles_at_once(self):
        simulator, tap = self.simulator("-n", "10", "--rate", "50"), self.tap()
        daemon = self.copters("--coptersim_count=10")
        vehicles = range(1, 11)
        flight = self.flown(self.flight("--vehicles", "10", "--few"), tap, vehicles, simulator, daemon)
        for vehicle in vehicles:
            commands = tap.commands(vehicle)
            self.assertEqual({c["copter"] for c in commands}, {vehicle})
            for command, corner in zip(self.told(commands, POSITION), self.corners(flight, vehicle)):
                # Positions count from the spawn point: each vehicle gets the same.
                self.near(command["position"], ned(corner[:3]), 1e-3, commands)


class Rospy(Squares, RospyCopterTest):
    pass


class CopterSim(Squares, CopterTest):
    def test_square_while_the_packets_change_all_the_time(self):
        simulator, tap = self.simulator("-n", "2", "--packets", "mixed", "--udp-mode", "0"), self.tap()
        daemon = self.copters("--coptersim_startid=2", "--dllmodel_ctrl=dll_map")
        flight = self.flown(self.flight("--first", "2", "--land-by-mode"), tap, [2], simulator, daemon)
        kinds = tap.kinds(2)
        for kind in "SOut2Simulator", "SOut2SimulatorSimpleTime", "netDataShort", "SimpleTimeV1", "SimpleTimeV0":
            self.assertIn(kind, kinds)
        # From the centre of the map: bit 13 is clear, and the spawn point is in the numbers.
        positions = self.told(tap.commands(2), (POSITION[0], POSITION[1] & ~8192))
        for command, corner in zip(positions, self.corners(flight, 2)):
            wanted = [a + b for a, b in zip(ned(corner[:3]), self.spawn(2))]
            self.near(command["position"], wanted, 1e-3, positions)
        self.assertEqual(len(positions), CORNERS)

    def connected(self, client, value, timeout=30.0):
        return client.until("state", lambda m: m["connected"] == value, timeout)

    def watching(self, *prefixes):
        clients = [self.client(prefix) for prefix in prefixes]
        for client in clients:
            client.watch("state", "State")
            client.watch("local_position/pose", "geometry_msgs/msg/PoseStamped", qos="sensor_data")
        return clients

    def test_vehicle_that_falls_silent_is_not_connected_until_it_is_back(self):
        first, second = self.simulator("--rate", "50"), self.simulator("--first", "2", "--rate", "50")
        daemon = self.copters("--coptersim_count=2")
        one, two = self.watching("/mavros", "/mavros2")
        for client in (one, two):
            self.connected(client, True)
        os.kill(second.process.pid, signal.SIGSTOP)
        self.connected(two, False)
        self.assertTrue(one.seen("state")[1]["connected"])
        answer = two.call("cmd/arming", "CommandBool", value=True)
        self.assertEqual((answer["success"], answer["result"]), (False, 1))
        os.kill(second.process.pid, signal.SIGCONT)
        self.connected(two, True)
        before = two.seen("local_position/pose")[0]
        two.until("local_position/pose", lambda _: two.seen("local_position/pose")[0] > before)
        daemon.wait_text("lost CopterSim")
        self.assertEqual(one.seen("state")[1]["connected"], True)
        self.assertIsNone(first.process.poll())

    def test_killed_daemon_comes_back_on_its_ports_and_one_that_is_taken_is_told(self):
        self.simulator("--rate", "50")
        first = self.copters()
        [client] = self.watching("/mavros")
        self.connected(client, True)
        first.kill()
        first.process.wait()
        self.copters()
        self.connected(client, True)
        second = self.copters()
        self.assertIn("another program has that port", second.wait_text("cannot listen on 0.0.0.0:30101"))

    def test_commands_that_go_to_another_computer_are_told(self):
        self.simulator("--rate", "50")
        daemon = self.copters("--coptersim_targetip=192.0.2.1")
        self.assertIn("coptersim_targetip", daemon.wait_text("states come from another address than commands go to"))

    def test_second_simulator_on_one_port_is_told_and_waits_for_the_first_to_end(self):
        first = self.simulator()
        daemon = self.copters()
        [client] = self.watching("/mavros")
        self.connected(client, True)
        second = self.simulator("--listen", "127.0.0.2")
        line = daemon.wait_text("two simulators send this vehicle's state")
        for address in "127.0.0.1:30100", "127.0.0.2:30100":
            self.assertIn(address, line)
        first.kill()
        first.process.wait()
        before = client.seen("local_position/pose")[0]
        client.until("local_position/pose", lambda _: client.seen("local_position/pose")[0] > before + 20)
        self.connected(client, True)
        self.assertIsNone(second.process.poll())

    def test_simulator_restart_begins_anew(self):
        simulator = self.simulator()
        daemon = self.copters()
        flight = self.flight("--hover")
        flight.wait("reached", 40)
        simulator.kill()
        simulator.process.wait()
        flight.kill()
        [client] = self.watching("/mavros")
        self.connected(client, False)
        again = self.simulator()
        daemon.wait_text("started anew")
        state = client.until("state", lambda m: m["connected"] and not m["armed"])
        self.assertEqual(state["mode"], "MANUAL")
        client.until("local_position/pose", lambda m: abs(m["pose"]["position"]["z"]) < 0.01)
        # It flies again.
        self.assertEqual(self.flight("--side", "1").finish(50), 0, str(again))


if __name__ == "__main__":
    unittest.main()
