"""What PX4 and ArduPilot do differently: modes, streams, parameter encoding, take-off, external setpoints."""
import struct

from pymavlink import mavutil

M = mavutil.mavlink


class Px4:
    """PX4: everything streams from the start, OFFBOARD needs a setpoint stream, integers travel bytewise."""

    autopilot = M.MAV_AUTOPILOT_PX4
    # (main, sub) of each mode
    modes = {"MANUAL": (1, 0), "ALTCTL": (2, 0), "POSCTL": (3, 0), "TAKEOFF": (4, 2), "HOLD": (4, 3), "MISSION": (4, 4),
             "RTL": (4, 5), "LAND": (4, 6), "ACRO": (5, 0), "OFFBOARD": (6, 0), "STABILIZED": (7, 0)}
    at_start, external, take_off, land, home_again, mission = "HOLD", "OFFBOARD", "TAKEOFF", "LAND", "RTL", "MISSION"
    capabilities = M.MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_BYTEWISE
    version = 0x010F0000                             # 1.15.0
    item_request = "mission_request_int_send"
    # Hz of all that the onboard link sends unasked; None is the rate that --rate gives.
    streams = {"HEARTBEAT": 1, "SYS_STATUS": 1, "EXTENDED_SYS_STATE": 2, "ATTITUDE": None, "ATTITUDE_QUATERNION": None,
               "LOCAL_POSITION_NED": None, "ODOMETRY": None, "HIGHRES_IMU": None, "GLOBAL_POSITION_INT": 10,
               "GPS_RAW_INT": 5, "VFR_HUD": 5, "BATTERY_STATUS": 1, "HOME_POSITION": 0.5, "SYSTEM_TIME": 1,
               "MISSION_CURRENT": 1, "ALTITUDE": 5, "TIMESYNC": 1, "RC_CHANNELS": 5}
    groups = {}

    def custom_mode(self, name):
        main, sub = self.modes[name]
        return main << 16 | sub << 24

    def mode_of(self, custom):
        return self.mode_named(custom >> 16 & 0xFF, custom >> 24 & 0xFF)

    def mode_named(self, main, sub):
        return next((name for name, numbers in self.modes.items()
                     if numbers == (main, sub) or main != 4 and numbers[0] == main), None)

    def base_mode(self, vehicle):
        guided = M.MAV_MODE_FLAG_GUIDED_ENABLED if vehicle.mode in ("OFFBOARD", "MISSION", "HOLD") else 0
        return M.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | guided

    def refuses_mode(self, vehicle, name, now):
        if name == "OFFBOARD" and now - vehicle.last_setpoint > 0.5:
            return "no setpoint stream"
        return None

    def refuses_take_off(self, vehicle):
        return None if vehicle.armed else "not armed"

    # Value and MAVLink type of a parameter on the wire, and back.
    def encode(self, value):
        if isinstance(value, int):
            return struct.unpack("<f", struct.pack("<i", value))[0], M.MAV_PARAM_TYPE_INT32
        return value, M.MAV_PARAM_TYPE_REAL32

    def decode(self, wire, kind, known):
        """The value set, or None if PX4 would refuse it because its type is another one."""
        if kind != self.encode(known)[1]:
            return None
        return struct.unpack("<i", struct.pack("<f", wire))[0] if isinstance(known, int) else wire


class ArduPilot:
    """ArduCopter: nothing streams until it is asked for, GUIDED obeys setpoints, integers travel as floats."""

    autopilot = M.MAV_AUTOPILOT_ARDUPILOTMEGA
    modes = {"STABILIZE": 0, "ACRO": 1, "ALT_HOLD": 2, "AUTO": 3, "GUIDED": 4, "LOITER": 5, "RTL": 6, "LAND": 9,
             "POSHOLD": 16, "BRAKE": 17}
    at_start, external, take_off, land, home_again, mission = "STABILIZE", "GUIDED", "GUIDED", "LAND", "RTL", "AUTO"
    capabilities = M.MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_C_CAST
    version = 0x04050700                             # 4.5.7
    item_request = "mission_request_send"
    streams = {"HEARTBEAT": 1}
    # Groups of REQUEST_DATA_STREAM.
    groups = {1: ("RAW_IMU", "SCALED_PRESSURE"), 2: ("SYS_STATUS", "GPS_RAW_INT", "MISSION_CURRENT"), 3: ("RC_CHANNELS",),
              6: ("GLOBAL_POSITION_INT", "LOCAL_POSITION_NED"), 10: ("ATTITUDE",), 11: ("VFR_HUD",),
              12: ("SYSTEM_TIME", "BATTERY_STATUS")}

    def custom_mode(self, name):
        return self.modes[name]

    def mode_of(self, custom):
        return next((name for name, number in self.modes.items() if number == custom), None)

    def mode_named(self, main, _sub):
        return self.mode_of(main)

    def base_mode(self, vehicle):
        guided = M.MAV_MODE_FLAG_GUIDED_ENABLED if vehicle.mode in ("GUIDED", "AUTO", "RTL", "LAND") else 0
        return (M.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | M.MAV_MODE_FLAG_STABILIZE_ENABLED
                | M.MAV_MODE_FLAG_MANUAL_INPUT_ENABLED | guided)

    def refuses_mode(self, _vehicle, _name, _now):
        return None

    def refuses_take_off(self, vehicle):
        if not vehicle.armed:
            return "not armed"
        return None if vehicle.mode == "GUIDED" else "not in GUIDED"

    def encode(self, value):
        if isinstance(value, int):
            return float(value), M.MAV_PARAM_TYPE_INT8 if -128 <= value < 128 else \
                M.MAV_PARAM_TYPE_INT16 if -32768 <= value < 32768 else M.MAV_PARAM_TYPE_INT32
        return value, M.MAV_PARAM_TYPE_REAL32

    def decode(self, wire, _kind, known):
        return round(wire) if isinstance(known, int) else wire


FLAVOURS = {"px4": Px4, "ardupilot": ArduPilot}
