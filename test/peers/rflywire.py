"""The packets between CopterSim and its clients, read and written in plain Python, to check rostrans from outside.

Written from the vendor's structures alone, with nothing of rostrans in it. A packet is known by the port it goes to, its
length and its first number. Everything is NED and FRD: metres, m/s, radians; positions of truths count from the centre of
the map.
"""
import math
import struct

TRUTH, ESTIMATE, MODEL, CONTROL = "truth", "estimate", "model", "control"
# Series by the port of vehicle 1; the next vehicle has it two higher.
SERIES = {30101: TRUTH, 20101: ESTIMATE, 30100: MODEL, 20100: CONTROL}

# series, length, magic (None: there is none) -> name, format
LAYOUTS = {
    (TRUTH, 168, 123456789): ("SOut2Simulator", "<4i24f7d"),
    (TRUTH, 112, 1234567891): ("SOut2SimulatorSimpleTime", "<6i14f4d"),
    (TRUTH, 200, None): ("netDataShort", "<4id27f4x3d40x"),
    (TRUTH, 104, 1234567890): ("SimpleTimeV1", "<3i14f4x4d"),
    (TRUTH, 88, 1234567890): ("SimpleTimeV0", "<3i17fd"),
    (TRUTH, 32, 1234567890): ("Ue4CMDGPS", "<2i3d"),
    (TRUTH, 12, 1234567890): ("CopterSimCrash", "<3i"),
    (ESTIMATE, 52, 1234567890): ("outHILStateShort", "<4i9f"),
    (ESTIMATE, 52, 1234567891): ("EKF fixed", "<4i9f"),
    (ESTIMATE, 120, None): ("outHILStateData", "<2i2I14i12f"),
    (MODEL, 120, 1234567897): ("PX4SILIntFloat", "<10i20f"),
    (MODEL, 232, 1234567897): ("DllInDoubCtrls", "<2i28d"),
    (CONTROL, 24, 1234567890): ("inOffboardShortData", "<2i4f"),
}


def place(port):
    """Series and vehicle of a port, or None."""
    for base, series in SERIES.items():
        if base <= port < base + 510 and (port - base) % 2 == 0:
            return series, (port - base) // 2 + 1
    return None


def decode(series, data):
    """A packet's name and numbers; None when it is none of this series."""
    if len(data) < 12:
        return None
    magic = struct.unpack_from("<i", data)[0]
    found = LAYOUTS.get((series, len(data), magic)) or LAYOUTS.get((series, len(data), None))
    if found is None or struct.calcsize(found[1]) != len(data):
        return None
    return found[0], struct.unpack(found[1], data)


def state(name, v):
    """Position, velocity and Euler angles of a packet that has them; None otherwise."""
    at = {  # where position, velocity and angles begin
        "SOut2Simulator": (29, 4, 7), "SOut2SimulatorSimpleTime": (20, 14, 17), "netDataShort": (8, 5, 11),
        "SimpleTimeV1": (17, 11, 14), "SimpleTimeV0": (11, 14, 17), "outHILStateShort": (7, 10, 4),
        "outHILStateData": (21, 24, 18),
    }.get(name)
    return at and tuple(list(v[i:i + 3]) for i in at)


def command(name, v):
    """What a packet tells a vehicle to do, with only the numbers that its bits say count; None otherwise."""
    if name == "inOffboardShortData":
        return {"mode": v[1], "controls": [round(n, 4) for n in v[2:6]]}
    if name not in ("PX4SILIntFloat", "DllInDoubCtrls"):
        return None
    ints, floats = [int(n) for n in v[2:10]], [round(n, 4) for n in v[10:30]]
    said = {"copter": v[1], "cmd": ints[0], "offboard": ints[1]}
    for bit, key, numbers in ((1, "position", floats[0:3]), (2, "velocity", floats[3:6]), (4, "acceleration", floats[6:9]),
                              (8, "yaw", floats[11]), (16, "yaw_rate", floats[14]), (256, "attitude", floats[9:12])):
        if ints[1] & bit:
            said[key] = numbers
    # Takeoff, land, return: the height.
    if ints[0] & (256 | 1024 | 2048):
        said["z"] = floats[2]
    return said


def truth(copter, position, velocity=(0, 0, 0), yaw=0.0, time=0.0, gps=(40.15, 116.26, 50.0)):
    """A SOut2Simulator of a vehicle that stands upright."""
    return struct.pack("<4i24f7d", 123456789, copter, 3, 0, *velocity, 0, 0, yaw, math.cos(yaw / 2), 0, 0,
                       math.sin(yaw / 2), *[0] * 8, 0, 0, -9.81, 0, 0, 0, time, *position, *gps)
