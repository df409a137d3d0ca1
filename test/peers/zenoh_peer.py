#!/usr/bin/env python3
"""A ROS 2 peer that speaks rmw_zenoh's wire form (zenoh-ros2-sdk, no ROS).

  zenoh_peer.py router - - --port 7447                 (a Zenoh router, loopback only)
  zenoh_peer.py sub   std_msgs/msg/String /chatter --count 5
  zenoh_peer.py pub   std_msgs/msg/String /chatter --json '{"data": "hi {i}"}' --count 5
  zenoh_peer.py serve std_srvs/srv/SetBool /set --json '{"success": true}'
  zenoh_peer.py call  std_srvs/srv/SetBool /set --json '{"data": true}'

Peers are in Zenoh peer mode with multicast scouting off and connect to --port (or
ZENOH_PORT) on 127.0.0.1, where a router or any peer that listens there will do. --listen makes this
peer the one that listens. Domain: ROS_DOMAIN_ID.
Definitions come from --msg-dir (PACKAGE/msg/*.msg and PACKAGE/srv/*.srv), by default
those that rostrans has itself.
"""
import json
import os
import time
from pathlib import Path

import zenoh

import peerlib
import rostypes


OWN = Path(__file__).resolve().parents[2] / "config/interfaces/ros2"


def config(args, mode, listen):
    conf = zenoh.Config()
    conf.insert_json5("mode", json.dumps(mode))
    conf.insert_json5("scouting/multicast/enabled", "false")
    key = "listen" if listen else "connect"
    conf.insert_json5(f"{key}/endpoints", json.dumps([f"tcp/127.0.0.1:{args.port}"]))
    if not listen:
        conf.insert_json5("listen/endpoints", '["tcp/127.0.0.1:0"]')
    return conf


def convert(sdk, field, value):
    """A JSON value for one field, given its description in the SDK's type store."""
    import numpy as np
    kind, arg = field
    if kind.name == "NAME":
        return make(sdk, arg, value)
    if kind.name in ("ARRAY", "SEQUENCE"):
        item = arg[0]
        if item[0].name == "BASE" and item[1][0] != "string":
            dtype = {"byte": "uint8", "char": "uint8"}.get(item[1][0], item[1][0])
            if isinstance(value, (bytes, bytearray)):
                return np.frombuffer(value, dtype=dtype)
            return np.array(value if value is not None else [0] * arg[1], dtype=dtype)
        return [convert(sdk, item, v) for v in value or []]
    zero = {"string": "", "bool": False}.get(arg[0], 0.0 if arg[0].startswith("float") else 0)
    return zero if value is None else type(zero)(value)


def fields(sdk, name, values):
    return {f: convert(sdk, d, (values or {}).get(f)) for f, d in sdk.fielddefs[name][1]}


def make(sdk, name, values):
    return sdk.types[name](**fields(sdk, name, values))


def to_dict(v):
    if hasattr(v, "__dataclass_fields__"):
        return {f: to_dict(getattr(v, f)) for f in v.__dataclass_fields__ if f != "__msgtype__"}
    if isinstance(v, list):
        return [to_dict(x) for x in v]
    return v


def qos(args):
    from zenoh_ros2_sdk import qos as q
    return q.QosProfile(reliability=q.QosReliability[args.reliability.upper()],
                        durability=q.QosDurability[args.durability.upper()],
                        history_depth=args.depth)


def wait_for(session, args, kind, timeout):
    """Wait for a liveliness token of an endpoint kind (MP, MS, SS) on this name."""
    mangled = args.name if args.name.startswith("/") else "/" + args.name
    key = f"@ros2_lv/{os.environ.get('ROS_DOMAIN_ID', '0')}/**/{kind}/**"
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        seen = [str(r.ok.key_expr) for r in session.liveliness().get(key, timeout=1.0) if r.ok]
        seen = [k for k in seen if k.split("/")[9] == mangled.replace("/", "%")]
        if seen:
            return len(seen)
        time.sleep(0.05)
    return 0


def publish(sdk, mgr, args, name, deadline):
    from zenoh_ros2_sdk import ROS2Publisher
    pub, sizes = ROS2Publisher(args.name, name, router_port=args.port, qos=qos(args)), peerlib.fills(args)
    peerlib.emit("ready", kind="pub", topic=args.name, type=name, key=pub.keyexpr)
    if args.wait:
        n = wait_for(mgr.session, args, "MS", deadline - time.monotonic())
        peerlib.emit("matched", subscribers=n)
        time.sleep(args.settle)
    counter, pace = peerlib.Counter(args.count, quiet=True), peerlib.Pacer(args.rate)
    while not counter.done and time.monotonic() < deadline:
        values = peerlib.payload(args.json, counter.n)
        values.update({f: peerlib.pattern(n) for f, n in sizes.items()})
        if args.stamp:
            sec, nanosec = divmod(time.time_ns(), 10**9)
            values.setdefault("header", {})["stamp"] = {"sec": sec, "nanosec": nanosec}
        pub.publish(**fields(sdk, name, values))
        counter.add("sent", None)
        pace.tick()
        time.sleep(pace.remaining())
    time.sleep(args.linger)
    return counter.finish()


def subscribe(args, name, deadline):
    from zenoh_ros2_sdk import ROS2Subscriber
    counter = peerlib.Counter(args.count, args.quiet, args.full)

    def on_message(msg):
        if not counter.done:
            stamp = getattr(getattr(msg, "header", None), "stamp", None)
            sent = stamp.sec + stamp.nanosec * 1e-9 if stamp and stamp.sec else None
            counter.add("msg", None if args.quiet else to_dict(msg), stamp=sent)

    sub = ROS2Subscriber(args.name, name, on_message, router_port=args.port, qos=qos(args))
    peerlib.emit("ready", kind="sub", topic=args.name, type=name, key=sub.keyexpr)
    while not counter.done and time.monotonic() < deadline:
        time.sleep(0.02)
    return counter.finish()


def serve(sdk, args, deadline):
    from zenoh_ros2_sdk import ROS2ServiceServer
    counter = peerlib.Counter(args.count)

    def on_request(request):
        values = peerlib.payload(args.json, counter.n)
        counter.add("request", to_dict(request))
        return make(sdk, server.response_store_type, values)

    server = ROS2ServiceServer(args.name, args.type, on_request, router_port=args.port)
    peerlib.emit("ready", kind="serve", service=args.name, type=args.type, key=server.keyexpr)
    while not counter.done and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    return counter.finish()


def call(sdk, mgr, args, deadline):
    from zenoh_ros2_sdk import ROS2ServiceClient
    client = ROS2ServiceClient(args.name, args.type, router_port=args.port, timeout=args.timeout)
    peerlib.emit("ready", kind="call", service=args.name, type=args.type, key=client.keyexpr)
    peerlib.emit("matched", service=bool(wait_for(mgr.session, args, "SS", deadline - time.monotonic())))
    counter, pace = peerlib.Counter(args.count), peerlib.Pacer(args.rate)
    while not counter.done and time.monotonic() < deadline:
        start = time.time()
        values = peerlib.payload(args.json, counter.n)
        reply = client.call(**fields(sdk, client.request_store_type, values))
        if reply is None:
            break
        counter.add("response", to_dict(reply), stamp=start)
        pace.tick()
        time.sleep(pace.remaining())
    return counter.finish()


def router(args, deadline):
    with zenoh.open(config(args, "router", True)) as session:
        peerlib.emit("ready", kind="router", port=args.port, zid=str(session.info.zid()))
        while time.monotonic() < deadline:
            time.sleep(0.1)
    return 0


def run():
    top, subs = peerlib.parser(__doc__, ("pub", "sub", "call", "serve", "router"))
    for p in subs.values():
        p.add_argument("--port", type=int, default=int(os.environ.get("ZENOH_PORT", "7447")))
        p.add_argument("--listen", action="store_true", help="listen on the port, not connect")
        p.add_argument("--msg-dir", default=str(OWN), help="definitions: a directory of PACKAGE/msg/*.msg")
    args = top.parse_args()
    deadline = time.monotonic() + args.timeout
    if args.kind == "router":
        return router(args, deadline)
    if args.listen:                                    # the SDK always sets connect; win over it
        os.environ["ZENOH_CONFIG_OVERRIDE"] = (
            f'listen/endpoints=["tcp/127.0.0.1:{args.port}"];connect/endpoints=[]')
    else:
        os.environ.setdefault("ZENOH_CONFIG_OVERRIDE", 'listen/endpoints=["tcp/127.0.0.1:0"]')
    from zenoh_ros2_sdk.message_registry import get_registry
    from zenoh_ros2_sdk.session import ZenohSession
    mgr = ZenohSession.get_instance("127.0.0.1", args.port)
    registry = get_registry(args.msg_dir)
    name = rostypes.full_name(args.type)
    try:
        if args.kind in ("pub", "sub"):
            registry.load_message_type(name)
            if args.kind == "pub":
                return publish(mgr.store, mgr, args, name, deadline)
            return subscribe(args, name, deadline)
        if args.kind == "serve":
            return serve(mgr.store, args, deadline)
        return call(mgr.store, mgr, args, deadline)
    finally:
        mgr.close()                # an open session can keep the interpreter from ending


if __name__ == "__main__":
    peerlib.main(run)
