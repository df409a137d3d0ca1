"""The messages a vehicle sends about itself: a function for each kind, from its state."""
import math
import time

from pymavlink import mavutil

M = mavutil.mavlink
NAN = float("nan")
# Degrees, degrees, metres above the sea.
HOME = (47.397742, 8.545594, 488.0)
UNKNOWN_COVARIANCE = [NAN] * 21
CAPABILITIES = (M.MAV_PROTOCOL_CAPABILITY_MAVLINK2 | M.MAV_PROTOCOL_CAPABILITY_MISSION_INT
                | M.MAV_PROTOCOL_CAPABILITY_COMMAND_INT | M.MAV_PROTOCOL_CAPABILITY_FTP
                | M.MAV_PROTOCOL_CAPABILITY_SET_POSITION_TARGET_LOCAL_NED | M.MAV_PROTOCOL_CAPABILITY_MISSION_FENCE
                | M.MAV_PROTOCOL_CAPABILITY_MISSION_RALLY | M.MAV_PROTOCOL_CAPABILITY_SET_ATTITUDE_TARGET)
HEALTHY = 0x1F | M.MAV_SYS_STATUS_PREARM_CHECK | M.MAV_SYS_STATUS_SENSOR_GPS
STATE = {True: M.MAV_STATE_ACTIVE, False: M.MAV_STATE_STANDBY}


def heartbeat(v, m):
    base = v.flavour.base_mode(v) | (M.MAV_MODE_FLAG_SAFETY_ARMED if v.armed else 0)
    m.heartbeat_send(M.MAV_TYPE_QUADROTOR, v.flavour.autopilot, base, v.flavour.custom_mode(v.mode), STATE[v.armed])


def extended_sys_state(v, m):
    m.extended_sys_state_send(0, M.MAV_LANDED_STATE_IN_AIR if v.pos[2] < -0.1 else M.MAV_LANDED_STATE_ON_GROUND)


def attitude_quaternion(v, m):
    m.attitude_quaternion_send(v.ms(), math.cos(v.yaw / 2), 0, 0, math.sin(v.yaw / 2), 0, 0, 0)


def odometry(v, m):
    m.odometry_send(v.us(), M.MAV_FRAME_LOCAL_NED, M.MAV_FRAME_BODY_FRD, *v.pos,
                    [math.cos(v.yaw / 2), 0, 0, math.sin(v.yaw / 2)], *v.vel, 0, 0, 0, UNKNOWN_COVARIANCE,
                    UNKNOWN_COVARIANCE)


def global_position_int(v, m):
    lat, lon, alt = v.geo()
    m.global_position_int_send(v.ms(), lat, lon, int(alt * 1e3), int(-v.pos[2] * 1e3), *(int(x * 100) for x in v.vel),
                               int(math.degrees(v.yaw) * 100) % 36000)


def gps_raw_int(v, m):
    lat, lon, alt = v.geo()
    m.gps_raw_int_send(v.us(), M.GPS_FIX_TYPE_3D_FIX, lat, lon, int(alt * 1e3), 80, 120, 0, 0, 12)


def vfr_hud(v, m):
    m.vfr_hud_send(0, math.hypot(v.vel[0], v.vel[1]), int(math.degrees(v.yaw)) % 360, 50, v.geo()[2], -v.vel[2])


def home_position(v, m):
    m.home_position_send(int(HOME[0] * 1e7), int(HOME[1] * 1e7), int(HOME[2] * 1e3), 0, 0, 0, [1, 0, 0, 0], 0, 0, 0)


def altitude(v, m):
    amsl = v.geo()[2]
    m.altitude_send(v.us(), amsl, amsl, -v.pos[2], -v.pos[2], NAN, NAN)


def autopilot_version(v, m):
    m.autopilot_version_send(CAPABILITIES | v.flavour.capabilities, v.flavour.version, 0, 0, 0, [0] * 8, [0] * 8, [0] * 8,
                             0, 0, 42)


SENDERS = {
    "HEARTBEAT": heartbeat,
    "SYS_STATUS": lambda v, m: m.sys_status_send(HEALTHY, HEALTHY, HEALTHY, 200, 16200, 100, 87, 0, 0, 0, 0, 0, 0),
    "EXTENDED_SYS_STATE": extended_sys_state,
    "ATTITUDE": lambda v, m: m.attitude_send(v.ms(), 0.01, -0.02, v.yaw, 0, 0, 0),
    "ATTITUDE_QUATERNION": attitude_quaternion,
    "LOCAL_POSITION_NED": lambda v, m: m.local_position_ned_send(v.ms(), *v.pos, *v.vel),
    "ODOMETRY": odometry,
    "HIGHRES_IMU": lambda v, m: m.highres_imu_send(v.us(), 0.0, 0.0, -9.81, 0, 0, 0, 0.21, 0.01, 0.42, 955.0, 0, 488.0,
                                                   25.0, 0x1FFF),
    "RAW_IMU": lambda v, m: m.raw_imu_send(v.us(), 0, 0, -1000, 0, 0, 0, 210, 10, 420),
    "SCALED_PRESSURE": lambda v, m: m.scaled_pressure_send(v.ms(), 955.0, 0.0, 2500),
    "GLOBAL_POSITION_INT": global_position_int,
    "GPS_RAW_INT": gps_raw_int,
    "VFR_HUD": vfr_hud,
    "BATTERY_STATUS": lambda v, m: m.battery_status_send(0, 0, 0, 2500, [4050] * 4 + [65535] * 6, 100, 10, -1, 87),
    "HOME_POSITION": home_position,
    "SYSTEM_TIME": lambda v, m: m.system_time_send(time.time_ns() // 1000, v.ms()),
    "MISSION_CURRENT": lambda v, m: m.mission_current_send(v.missions.current),
    "ALTITUDE": altitude,
    "TIMESYNC": lambda v, m: m.timesync_send(0, time.monotonic_ns()),
    "RC_CHANNELS": lambda v, m: m.rc_channels_send(v.ms(), 8, *([1500] * 8), *([65535] * 10), 100),
    "AUTOPILOT_VERSION": autopilot_version,
}
