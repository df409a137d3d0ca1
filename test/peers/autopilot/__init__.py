"""A MAVLink vehicle without a simulator; test/peers/fake_autopilot.py runs it.

`vehicle` is the vehicle: state, telemetry, commands. `flavour` is what PX4 and ArduPilot do differently. `params`, `missions`
and `files` are its parameter, mission and file servers, `wire` the UDP or serial line, with faults by seed.
"""
