"""A vehicle's mission, fence and rally points, both ways, with the retries of PX4."""
import time

from pymavlink import mavutil

M = mavutil.mavlink
# A request that got no item is repeated after this, and given up after that (seconds); PX4's numbers.
RETRY, GIVE_UP = 0.25, 5.0
ITEM_FIELDS = ("frame", "command", "autocontinue", "param1", "param2", "param3", "param4", "x", "y", "z")


class Missions:
    def __init__(self, vehicle, flavour):
        self.vehicle, self.flavour = vehicle, flavour
        self.plans = {M.MAV_MISSION_TYPE_MISSION: [], M.MAV_MISSION_TYPE_FENCE: [], M.MAV_MISSION_TYPE_RALLY: []}
        self.current, self.upload = 0, None

    def tick(self, now):
        up = self.upload
        if not up:
            return
        if now - up["heard"] > GIVE_UP:
            self.upload = None
        elif now - up["asked"] > RETRY:
            self.ask(now)

    def ask(self, now):
        up = self.upload
        up["asked"] = now
        getattr(self.vehicle.mav, self.flavour.item_request)(*up["from"], up["first"] + len(up["items"]), up["type"])

    def begin(self, msg, first, count):
        source, now = (msg.get_srcSystem(), msg.get_srcComponent()), time.monotonic()
        if msg.mission_type not in self.plans:
            self.vehicle.mav.mission_ack_send(*source, M.MAV_MISSION_UNSUPPORTED, msg.mission_type)
            return
        self.upload = {"items": [], "first": first, "count": count, "type": msg.mission_type, "from": source,
                       "heard": now, "asked": now}
        if count:
            self.ask(now)
        else:
            self.finish()

    def on_mission_count(self, msg):
        self.begin(msg, 0, msg.count)

    def on_mission_write_partial_list(self, msg):
        self.begin(msg, msg.start_index, msg.end_index - msg.start_index)

    def on_mission_item_int(self, msg):
        up, now = self.upload, time.monotonic()
        source = (msg.get_srcSystem(), msg.get_srcComponent())
        if not up:                                   # our acknowledgement was lost
            if msg.seq == len(self.plans.get(msg.mission_type, ())) - 1:
                self.vehicle.mav.mission_ack_send(*source, M.MAV_MISSION_ACCEPTED, msg.mission_type)
            return
        if msg.mission_type != up["type"] or msg.seq != up["first"] + len(up["items"]):
            return
        up["items"].append(msg)
        up["heard"] = now
        if len(up["items"]) < up["count"]:
            self.ask(now)
        else:
            self.finish()

    def finish(self):
        up, self.upload = self.upload, None
        plan = self.plans[up["type"]]
        if up["first"]:
            plan[up["first"]:up["first"] + up["count"]] = up["items"]
        else:
            self.plans[up["type"]], self.current = up["items"], 0
        self.vehicle.mav.mission_ack_send(*up["from"], M.MAV_MISSION_ACCEPTED, up["type"])
        self.vehicle.emit("mission", items=up["count"], type=up["type"])

    def on_mission_request_list(self, msg):
        self.vehicle.mav.mission_count_send(msg.get_srcSystem(), msg.get_srcComponent(),
                                            len(self.plans.get(msg.mission_type, ())), msg.mission_type)

    def on_mission_request_int(self, msg):
        plan = self.plans.get(msg.mission_type, ())
        if msg.seq < len(plan):
            item = {name: getattr(plan[msg.seq], name) for name in ITEM_FIELDS}
            current = msg.mission_type == M.MAV_MISSION_TYPE_MISSION and msg.seq == self.current
            self.vehicle.mav.mission_item_int_send(msg.get_srcSystem(), msg.get_srcComponent(), msg.seq,
                                                   current=int(current), mission_type=msg.mission_type, **item)

    on_mission_request = on_mission_request_int

    def on_mission_clear_all(self, msg):
        for kind in self.plans:
            if msg.mission_type in (kind, M.MAV_MISSION_TYPE_ALL):
                self.plans[kind] = []
        self.current = 0
        self.vehicle.mav.mission_ack_send(msg.get_srcSystem(), msg.get_srcComponent(), M.MAV_MISSION_ACCEPTED,
                                          msg.mission_type)
        self.vehicle.emit("mission", items=0, type=msg.mission_type)

    def on_mission_set_current(self, msg):
        self.current = msg.seq
        self.vehicle.send("MISSION_CURRENT")
