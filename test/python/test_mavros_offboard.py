"""A program written for MAVROS flies a square, unchanged, with vehicles like PX4's and ArduPilot's."""
import unittest

from vehicles import VehicleTest

ARM_DISARM, OWN_ID = 400, [1, 191]


class MavrosOffboard(VehicleTest):
    def fly(self, autopilot, *others, options=()):
        flight = self.flight(*options)
        status = flight.finish(55)
        everything = "\n".join(map(str, (flight, autopilot, *others)))
        self.assertEqual(status, 0, everything)
        summary, report = flight.all("summary")[0], self.report(autopilot)
        self.assertEqual(len(flight.all("reached")), 5, everything)
        self.assertEqual([name for name, count in summary["counts"].items() if not count], [], everything)
        self.assertEqual([e["armed"] for e in autopilot.all("armed")], [True, False], everything)
        self.assertEqual(autopilot.all("failsafe"), [], everything)
        arming = [e for e in autopilot.all("command") if e["command"] == ARM_DISARM]
        self.assertEqual([(e["result"], e["source"]) for e in arming], [(0, OWN_ID)], everything)
        # As many setpoints as were published, none invented; some of the first precede the match.
        setpoints = report["setpoints"]["SET_POSITION_TARGET_LOCAL_NED"]["count"]
        self.assertLessEqual(setpoints, summary["sent"])
        self.assertGreater(setpoints, summary["sent"] * 0.8)
        [ours] = [s for s in report["senders"] if s["id"] == OWN_ID]
        self.assertEqual(ours["lost"], 0, everything)

    def serial(self, *options):
        autopilot = self.autopilot("--link", "pty", *options)
        return autopilot, self.rostrans(params=f"fcu_url=serial://{autopilot.device}:921600\n")

    def test_offboard_on_udp(self):
        self.fly(*self.vehicle())

    def test_offboard_on_a_serial_line(self):
        self.fly(*self.serial())

    def test_guided_on_udp(self):
        self.fly(*self.vehicle("--autopilot", "ardupilot"), options=["--guided"])

    def test_nobody_flies_on_for_a_program_that_died(self):
        autopilot, _ = self.vehicle()
        flight = self.flight()
        flight.wait("reached", 40)
        flight.kill()
        autopilot.wait("failsafe")
        self.assertEqual(autopilot.wait("mode")["mode"], "HOLD")


if __name__ == "__main__":
    unittest.main()
