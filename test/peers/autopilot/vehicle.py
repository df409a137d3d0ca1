"""A vehicle: identity, clock, motion, modes, commands and external setpoints; the servers do the rest."""
import collections
import json
import math
import time

from pymavlink import mavutil

from .files import Files
from .flavour import FLAVOURS
from .missions import Missions
from .params import Params
from .telemetry import HOME, SENDERS

M = mavutil.mavlink
# MAVLink signatures count 10 microseconds since 2015.
SIGNING_EPOCH = 1420070400


class Mav(M.MAVLink):
    """Encodes for one vehicle and hands frames with their kind to its wire."""

    def __init__(self, wire, sysid, compid, key):
        super().__init__(None, sysid, compid)
        self.wire = wire
        if key:
            self.signing.secret_key, self.signing.sign_outgoing = key, True
            self.signing.timestamp = int((time.time() - SIGNING_EPOCH) * 1e5)

    def send(self, mavmsg, force_mavlink1=False):
        self.wire.send(mavmsg.pack(self, force_mavlink1), mavmsg.get_type())


class Vehicle:
    def __init__(self, wire, args, sysid):
        self.wire, self.args, self.sysid = wire, args, sysid
        self.flavour = FLAVOURS[args.autopilot]()
        self.mav = Mav(wire, sysid, args.compid, args.key)
        self.skew = args.uptime                      # seconds the clock is ahead of the time since start
        self.quiet_until = 0.0
        self.params = Params(self, self.flavour, args.params)
        self.missions, self.files = Missions(self, self.flavour), Files(self, args.file_size)
        self.servers = (self, self.params, self.missions, self.files)
        self.received, self.gaps, self.last_seq = collections.Counter(), collections.Counter(), {}
        self.setpoints = {}                          # kind -> (count, first, last, longest gap)
        self.power_up()

    def power_up(self):
        """What a reboot starts anew; parameters, missions and files stay."""
        self.boot = time.monotonic()
        self.armed, self.mode, self.target = False, self.flavour.at_start, None
        self.pos, self.vel, self.yaw = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 0.0
        self.last_setpoint, self.last_step = -1e9, self.boot
        self.mav.seq = 0
        self.periods, self.due = {}, {}
        for name, hz in self.flavour.streams.items():
            self.stream(name, self.args.rate if hz is None else hz)

    def emit(self, event, **fields):
        line = {"event": event, "t": round(time.time(), 4), "sysid": self.sysid, **fields}
        print(json.dumps(line) + "\n", end="", flush=True)

    # ---- clock, in the time since boot ----
    def ns(self):
        return int((time.monotonic() - self.boot + self.skew) * 1e9)

    def ms(self):
        return self.ns() // 1_000_000 & 0xFFFFFFFF

    def us(self):
        return self.ns() // 1000

    # ---- telemetry ----
    def stream(self, name, hz):
        if hz > 0:
            self.periods[name] = 1 / hz
            self.due.setdefault(name, 0.0)
        else:
            self.periods.pop(name, None)

    def send(self, name):
        SENDERS[name](self, self.mav)

    def status(self, text, severity=M.MAV_SEVERITY_INFO):
        self.mav.statustext_send(severity, text.encode()[:50])
        self.emit("statustext", text=text)

    def geo(self):
        lat = HOME[0] + math.degrees(self.pos[0] / 6378137.0)
        lon = HOME[1] + math.degrees(self.pos[1] / (6378137.0 * math.cos(math.radians(HOME[0]))))
        return int(lat * 1e7), int(lon * 1e7), HOME[2] - self.pos[2]

    def tick(self, now):
        if now < self.quiet_until:
            return
        self.step(min(now - self.last_step, 0.1))
        self.last_step = now
        external = self.flavour.external == "OFFBOARD" and self.mode == "OFFBOARD"
        if external and now - self.last_setpoint > self.params.values["COM_OF_LOSS_T"]:
            self.emit("failsafe", reason="offboard signal lost", after_s=round(now - self.last_setpoint, 3))
            self.status("Failsafe: offboard lost", M.MAV_SEVERITY_CRITICAL)
            self.set_mode(self.flavour.at_start)
        for name, period in self.periods.items():
            if now >= self.due[name]:
                self.due[name] = max(self.due[name] + period, now)
                self.send(name)
        self.params.tick()
        self.missions.tick(now)

    # ---- motion ----
    def step(self, dt):
        if not self.armed or not self.target:
            self.vel = [0.0, 0.0, 0.0]
            return
        kind, goal = self.target
        for i in range(3):
            if goal[i] is None:
                want = 0.0
            else:
                want = goal[i] if kind == "vel" else max(-5.0, min(5.0, 2.0 * (goal[i] - self.pos[i])))
            self.vel[i] += (want - self.vel[i]) * min(1.0, dt / 0.1)
            self.pos[i] += self.vel[i] * dt
        if self.pos[2] > 0:
            self.pos[2], self.vel[2] = 0.0, 0.0
            if self.mode in (self.flavour.land, self.flavour.home_again):
                self.set_armed(False)

    def set_mode(self, name):
        refusal = self.flavour.refuses_mode(self, name, time.monotonic())
        if refusal:
            self.emit("mode", mode=name, refused=refusal)
            return False
        if name != self.mode:
            self.mode = name
            self.emit("mode", mode=name)
        here, f = list(self.pos), self.flavour
        if name in (f.at_start, "LOITER", "BRAKE"):
            self.target = ("pos", here)
        elif name == f.land:
            self.target = ("pos", [here[0], here[1], 1.0])
        elif name == f.home_again:
            self.target = ("pos", [0.0, 0.0, 1.0])
        elif name == "TAKEOFF":
            self.target = ("pos", [here[0], here[1], -float(self.params.values["MIS_TAKEOFF_ALT"])])
        self.send("HEARTBEAT")
        return True

    def set_armed(self, value):
        if value != self.armed:
            self.armed = value
            self.emit("armed", armed=value)
            self.status("Armed by external command" if value else "Disarmed")
            self.send("HEARTBEAT")

    # ---- incoming ----
    def handle(self, msg):
        name = msg.get_type()
        if time.monotonic() < self.quiet_until:
            return
        sender = (msg.get_srcSystem(), msg.get_srcComponent())
        if sender == (self.sysid, self.args.compid) or getattr(msg, "target_system", 0) not in (0, self.sysid):
            return
        seq, last = msg.get_seq(), self.last_seq.get(sender)
        if last is not None:
            self.gaps[sender] += (seq - last - 1) % 256
        self.last_seq[sender] = seq
        self.received[name] += 1
        for server in self.servers:
            handler = getattr(server, "on_" + name.lower(), None)
            if handler:
                handler(msg)

    def setpoint(self, msg):
        now = self.last_setpoint = time.monotonic()
        count, first, last, gap = self.setpoints.get(msg.get_type(), (0, now, now, 0.0))
        self.setpoints[msg.get_type()] = (count + 1, first, now, max(gap, now - last))
        if self.args.verbose:
            self.emit("setpoint", **msg.to_dict())

    def on_set_position_target_local_ned(self, msg):
        self.setpoint(msg)
        if self.mode != self.flavour.external:
            return
        mask = msg.type_mask
        if mask & 7 != 7:
            self.target = ("pos", [None if mask >> i & 1 else x for i, x in enumerate((msg.x, msg.y, msg.z))])
        elif mask >> 3 & 7 != 7:
            self.target = ("vel", [None if mask >> (3 + i) & 1 else x for i, x in enumerate((msg.vx, msg.vy, msg.vz))])
        if not mask & M.POSITION_TARGET_TYPEMASK_YAW_IGNORE:
            self.yaw = msg.yaw

    def on_set_position_target_global_int(self, msg):
        self.setpoint(msg)

    on_set_attitude_target = on_set_position_target_global_int

    def on_set_mode(self, msg):
        result = self.to_mode(self.flavour.mode_of(msg.custom_mode))
        self.mav.command_ack_send(M.MAV_CMD_DO_SET_MODE, result, 0, 0, msg.get_srcSystem(), msg.get_srcComponent())

    def to_mode(self, name):
        if name is None:
            return M.MAV_RESULT_DENIED
        return M.MAV_RESULT_ACCEPTED if self.set_mode(name) else M.MAV_RESULT_TEMPORARILY_REJECTED

    def on_request_data_stream(self, msg):
        for group, names in self.flavour.groups.items():
            if msg.req_stream_id in (0, group):
                for name in names:
                    self.stream(name, msg.req_message_rate if msg.start_stop else 0)
        if self.flavour.groups:
            self.emit("streams", group=msg.req_stream_id, hz=msg.req_message_rate if msg.start_stop else 0)

    def on_timesync(self, msg):
        if msg.tc1 == 0:
            self.mav.timesync_send(self.ns(), msg.ts1)

    def on_command_long(self, msg):
        self.command(msg, [getattr(msg, f"param{i}") for i in range(1, 8)])

    def on_command_int(self, msg):
        self.command(msg, [msg.param1, msg.param2, msg.param3, msg.param4, msg.x, msg.y, msg.z])

    def command(self, msg, p):
        cmd, f, reply = msg.command, self.flavour, None
        result = M.MAV_RESULT_ACCEPTED
        if cmd == M.MAV_CMD_COMPONENT_ARM_DISARM:
            self.set_armed(p[0] > 0.5)
        elif cmd == M.MAV_CMD_DO_SET_MODE:
            result = self.to_mode(f.mode_named(int(p[1]), int(p[2])))
        elif cmd == M.MAV_CMD_NAV_TAKEOFF:
            if f.refuses_take_off(self):
                result = M.MAV_RESULT_TEMPORARILY_REJECTED
            else:
                self.set_mode(f.take_off)
                if p[6] > 0 and f.take_off == "GUIDED":
                    self.target = ("pos", [self.pos[0], self.pos[1], -p[6]])
        elif cmd == M.MAV_CMD_NAV_LAND:
            self.set_mode(f.land)
        elif cmd == M.MAV_CMD_NAV_RETURN_TO_LAUNCH:
            self.set_mode(f.home_again)
        elif cmd == M.MAV_CMD_MISSION_START:
            self.set_mode(f.mission)
        elif cmd == M.MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES:
            reply = "AUTOPILOT_VERSION"
        elif cmd == M.MAV_CMD_GET_HOME_POSITION:
            reply = "HOME_POSITION"
        elif cmd in (M.MAV_CMD_REQUEST_MESSAGE, M.MAV_CMD_SET_MESSAGE_INTERVAL):
            known = M.mavlink_map.get(int(p[0]))
            name = known.msgname if known and known.msgname in SENDERS else None
            if name is None:
                result = M.MAV_RESULT_UNSUPPORTED
            elif cmd == M.MAV_CMD_REQUEST_MESSAGE:
                reply = name
            else:
                self.stream(name, 1e6 / p[1] if p[1] > 0 else -1 if p[1] < 0 else f.streams.get(name) or 1)
        elif cmd == M.MAV_CMD_PREFLIGHT_REBOOT_SHUTDOWN:
            pass                                     # after the acknowledgement, below
        elif cmd not in (M.MAV_CMD_DO_CHANGE_SPEED, M.MAV_CMD_DO_SET_HOME, M.MAV_CMD_DO_REPOSITION):
            result = M.MAV_RESULT_UNSUPPORTED
        self.mav.command_ack_send(cmd, result, 0, 0, msg.get_srcSystem(), msg.get_srcComponent())
        self.emit("command", command=cmd, params=[None if x != x else x for x in p], result=result,
                  source=[msg.get_srcSystem(), msg.get_srcComponent()], kind=msg.get_type())
        if reply:
            self.send(reply)
        if cmd == M.MAV_CMD_PREFLIGHT_REBOOT_SHUTDOWN and p[0] == 1:
            self.reboot(1.0)

    # ---- what a test asks for ----
    def reboot(self, seconds):
        """Silent for a while, then as after power-up, with the clock at zero."""
        self.emit("reboot", seconds=seconds)
        self.skew = -seconds
        self.power_up()
        self.quiet_until = time.monotonic() + seconds

    def report(self, event):
        rates = {name: {"count": count, "rate_hz": round((count - 1) / (last - first), 2) if last > first else None,
                        "max_gap_ms": round(gap * 1e3, 1)} for name, (count, first, last, gap) in self.setpoints.items()}
        self.emit(event, received=dict(self.received), setpoints=rates, params=len(self.params.values),
                  senders=[{"id": list(k), "lost": self.gaps[k]} for k in self.last_seq], tx_dropped=self.wire.dropped,
                  plans={kind: len(plan) for kind, plan in self.missions.plans.items()}, mode=self.mode,
                  armed=self.armed, position=[round(x, 3) for x in self.pos], streams=sorted(self.periods))
