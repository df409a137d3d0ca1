"""A vehicle's parameters: the list, single ones, and setting them."""
from pymavlink import mavutil

M = mavutil.mavlink
# Parameters sent at each tick of a list, so that 1,000 take about a second and no receive buffer runs over.
BURST = 10
KNOWN = {"px4": {"SYS_AUTOSTART": 4001, "COM_OF_LOSS_T": 1.0, "MPC_XY_VEL_MAX": 12.0, "MPC_Z_VEL_MAX_UP": 3.0,
                 "MIS_TAKEOFF_ALT": 2.5, "COM_RC_IN_MODE": 1, "NAV_RCL_ACT": 2},
         "ardupilot": {"FRAME_CLASS": 1, "WPNAV_SPEED": 500.0, "RTL_ALT": 1500, "ARMING_CHECK": 1, "LOG_BITMASK": 176126}}


def table(flavour, count):
    """Names and values of so many parameters: integers and floats in turn, with odd values among them."""
    values = dict(KNOWN[flavour])
    for i in range(count - len(values)):
        values[f"TST_{i:04d}" + ("_LONG_NAME"[:7] if i % 50 == 0 else "")] = \
            (i * 7919 - 4_000_000 if flavour == "px4" else i - 500) if i % 2 else i * 0.37 - 20.125
    return values


class Params:
    def __init__(self, vehicle, flavour, count):
        self.vehicle, self.flavour = vehicle, flavour
        self.values = table("px4" if flavour.autopilot == M.MAV_AUTOPILOT_PX4 else "ardupilot", count)
        self.names = list(self.values)
        self.listing = iter(())

    def tick(self):
        for _, name in zip(range(BURST), self.listing):
            self.send(name)

    def send(self, name):
        wire, kind = self.flavour.encode(self.values[name])
        self.vehicle.mav.param_value_send(name.encode(), wire, kind, len(self.names), self.names.index(name))

    def on_param_request_list(self, _msg):
        self.listing = iter(self.names)

    def on_param_request_read(self, msg):
        name = msg.param_id
        if msg.param_index >= 0:
            name = self.names[msg.param_index] if msg.param_index < len(self.names) else ""
        if name in self.values:
            self.send(name)

    def on_param_set(self, msg):
        name = msg.param_id
        if name not in self.values:
            return
        value = self.flavour.decode(msg.param_value, msg.param_type, self.values[name])
        if value is None:
            self.vehicle.status(f"param types mismatch param: {name}", M.MAV_SEVERITY_CRITICAL)
            return
        self.values[name] = value
        self.vehicle.emit("param", name=name, value=value)
        self.send(name)
