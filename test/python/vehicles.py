"""MAVLink vehicles behind rostrans, and ROS programs that talk to them as they would to MAVROS."""
import json

from daemon import DaemonTest, free_port
from peers import JAZZY, PROGRAMS, TOOLS, eventually

# Longest that a vehicle's servers may take for one call, in seconds.
CALL = 40.0


def ask_for_waypoints(mavproxy, count):
    """Lets MAVProxy read the mission. It asks once and waits for ever when a packet of another reader answers it."""
    for _ in range(4):
        mavproxy.say("wp list")
        try:
            return mavproxy.wait_text(f"Requesting {count} waypoints", 8)
        except AssertionError:
            continue
    return mavproxy.wait_text(f"Requesting {count} waypoints", 1)


class Client:
    """test/peers/ros2_client.py: an rclpy program that does what it is told."""

    def __init__(self, program, prefix):
        self.program, self.prefix = program, prefix

    def tell(self, **command):
        self.program.say(json.dumps(command))

    def begin(self, service, kind, fill=None, **request):
        """Starts a call of a service below the prefix."""
        name = service if service.startswith("/") else f"{self.prefix}/{service}"
        self.tell(do="call", service=name, type=kind if "/" in kind else f"mavros_msgs/srv/{kind}", request=request,
                  **({"fill": fill} if fill else {}))
        return name

    def answer(self, name, timeout=CALL):
        """The answer to a call that was begun."""
        found = self.program.wait("response", timeout, lambda e: e["service"] == name)
        if found["msg"] is None:
            raise AssertionError(f"{name}: {found['error']}")
        return found["msg"]

    def call(self, service, kind, fill=None, timeout=CALL, **request):
        """Calls a service and returns its answer."""
        return self.answer(self.begin(service, kind, fill, **request), timeout)

    def watch(self, topic, kind, qos="default", show=False, full=False):
        """Subscribes; `show` makes each message an event, `full` does not cut long arrays."""
        self.tell(do="watch", topic=f"{self.prefix}/{topic}", type=kind if "/" in kind else f"mavros_msgs/msg/{kind}",
                  qos=qos, print=show, full=full)

    def publish(self, topic, kind, **msg):
        """Publishes a message once, as soon as rostrans reads the topic."""
        name = topic if topic.startswith("/") else f"{self.prefix}/{topic}"
        self.tell(do="publish", topic=name, type=kind if "/" in kind else f"mavros_msgs/msg/{kind}", msg=msg)
        found = self.program.wait("published", where=lambda e: e["topic"] == name)
        if not found["subscribers"]:
            raise AssertionError(f"nobody reads {name}\n{self}")

    def seen(self, topic):
        """How many messages a watched topic brought and the last of them (None before the first)."""
        self.tell(do="seen")
        row = self.program.wait("seen")["topics"][f"{self.prefix}/{topic}"]
        return row["count"], row["last"]

    def until(self, topic, good, timeout=30.0):
        """The first message of a watched topic that is good; asks for the last one again and again."""
        def probe():
            last = self.seen(topic)[1]
            return last if last is not None and good(last) else None

        try:
            return eventually(probe, timeout)
        except AssertionError:
            raise AssertionError(f"'{topic}' stayed {self.seen(topic)}\n{self.program}") from None

    def parameters(self, call, names=None, values=None, timeout=CALL):
        """A call of rclpy's AsyncParameterClient to the node `param` below the prefix."""
        self.tell(do="parameters", node=f"{self.prefix}/param", call=call, names=names, values=values)
        found = self.program.wait("parameters", timeout)
        if found["result"] is None:
            raise AssertionError(found["error"])
        return found["result"]

    def __str__(self):
        return str(self.program)


class VehicleTest(DaemonTest):
    """A test case with vehicles, rostrans and ROS programs."""

    def autopilot(self, *options, **kwargs):
        """test/peers/fake_autopilot.py, running; `device` is its pseudo terminal, if --link made one."""
        program = self.start(TOOLS, PROGRAMS / "fake_autopilot.py", *options, **kwargs)
        program.device = program.wait("ready")["device"]
        return program

    def vehicle(self, *options, params="", env=None):
        """A vehicle on UDP and rostrans for it: both programs."""
        port = free_port()
        autopilot = self.autopilot("--link", f"udpout:127.0.0.1:{port}", *options)
        return autopilot, self.rostrans(params=f"enable_mavros=true\nmavros_listen_port={port}\n{params}", env=env)

    def client(self, prefix="/mavros", **kwargs):
        program = self.start(JAZZY, PROGRAMS / "ros2_client.py", **kwargs)
        program.wait("ready")
        return Client(program, prefix)

    def connected(self, client):
        """Waits until the vehicle is there, as every MAVROS program does first."""
        client.watch("state", "State")
        return client.until("state", lambda m: m["connected"])

    def flight(self, *options):
        """test/peers/ros2_flight.py, running."""
        program = self.start(JAZZY, PROGRAMS / "ros2_flight.py", *options)
        program.wait("ready")
        return program

    def report(self, autopilot, sysid=1):
        """What a vehicle says about itself."""
        autopilot.say(f"{sysid} report")
        return autopilot.wait("report", where=lambda e: e["sysid"] == sysid)
