"""Compares rostrans' CDR, JSON and ROS 1 bytes with those of rosbags, an independent implementation.

Random values of every bundled ROS 2 type (messages, service requests and responses) go through the example program
`cdr_tool`: JSON to CDR must equal rosbags' CDR, and reading that CDR back, from rosbags' bytes too, must give the same
bytes again. Where ROS 1 has the type, the ROS 1 body must equal rosbags' and convert back to the same CDR.

    cargo build -p rostrans-schema --example cdr_tool
    python test/python/test_rosbags.py [--seed N] [--rounds N]     # needs rosbags and numpy

The last line is `N passed, N failed`; the exit code is 1 if any failed.
"""

import argparse
import base64
import json
import math
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

REPO = Path(__file__).resolve().parents[2]
INTERFACES = REPO / "config" / "interfaces"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target"))
BASE, NAME, ARRAY, SEQUENCE = 1, 2, 3, 4
INTEGERS = {
    "byte": (0, 255), "octet": (0, 255), "char": (0, 255), "uint8": (0, 255), "int8": (-128, 127),
    "int16": (-(2**15), 2**15 - 1), "uint16": (0, 2**16 - 1), "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1), "int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1),
}
OCTETS = ("byte", "octet", "char", "uint8")
TEXTS = ["", "a", "base_link", "with space and \"quotes\"", "äöü ß", "日本語テキスト", "🚁 emoji", "x" * 1000, "\n\t\\"]


class Types:
    """The bundled definitions of one ROS, in a rosbags store of their own."""

    def __init__(self, folder):
        self.store = get_typestore(Stores.EMPTY)
        self.names = []
        found = {}
        for path in sorted((INTERFACES / folder).rglob("*")):
            package = path.parent.parent.name
            if path.suffix == ".msg":
                self.add(found, f"{package}/msg/{path.stem}", path.read_text())
            elif path.suffix == ".srv":
                lines, parts = path.read_text().splitlines(), [[]]
                for line in lines:
                    parts.append([]) if line.rstrip() == "---" else parts[-1].append(line)
                for part, kind in zip(parts, ("Request", "Response"), strict=True):
                    # rosbags knows messages only: the parts go by names that keep their package.
                    self.add(found, f"{package}/msg/{path.stem}_{kind}", "\n".join(part), f"{package}/srv/{path.stem}_{kind}")
        known = set(self.store.fielddefs)
        self.store.register({name: fields for name, fields in found.items() if name not in known})

    def add(self, found, name, text, ours=None):
        found.update(get_types_from_msg(text + "\n", name))
        self.names.append((name, ours or name))


class Random:
    """Random values of a type, as plain Python values."""

    def __init__(self, types, seed):
        self.types = types
        self.rng = random.Random(seed)

    def message(self, name, depth=0):
        return {
            field: self.value(kind, detail, depth)
            for field, (kind, detail) in self.types.store.fielddefs[name][1]
            if field != "structure_needs_at_least_one_member"
        }

    def value(self, kind, detail, depth):
        if kind == BASE:
            return self.base(*detail)
        if kind == NAME:
            return self.message(detail, depth + 1)
        (inner_kind, inner), size = detail
        if kind == SEQUENCE:
            longest = {0: 12, 1: 4}.get(depth, 2)
            size = self.rng.choice([0, size]) if size else self.rng.randint(0, longest)
        return [self.value(inner_kind, inner, depth + 1) for _ in range(size)]

    def base(self, name, bound):
        if name in INTEGERS:
            low, high = INTEGERS[name]
            return self.rng.choice([low, high, 0, self.rng.randint(low, high)])
        if name == "bool":
            return self.rng.random() < 0.5
        if name in ("float32", "float64"):
            odd = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-40]
            value = self.rng.choice(odd) if self.rng.random() < 0.2 else self.rng.uniform(-1e6, 1e6)
            return struct.unpack("f", struct.pack("f", value))[0] if name == "float32" else value
        text = self.rng.choice(TEXTS)
        while bound and len(text.encode()) > bound:
            text = text[:-1]
        return text


def build(types, name, value):
    """The rosbags object for a plain value; a field it lacks (`seq`) is 0."""
    fields = {}
    for field, (kind, detail) in types.store.fielddefs[name][1]:
        inner = value.get(field, value.get(field.lower(), 0))
        if kind == BASE and detail[0] == "byte":
            inner = signed(inner)
        elif kind == NAME:
            inner = build(types, detail, inner)
        elif kind in (ARRAY, SEQUENCE):
            inner_kind, inner_type = detail[0]
            if inner_kind == NAME:
                inner = [build(types, inner_type, item) for item in inner]
            elif inner_type[0] == "byte":
                inner = np.array([signed(item) for item in inner], dtype="int8")
            elif inner_type[0] != "string":
                inner = np.array(inner, dtype={"char": "uint8"}.get(inner_type[0], inner_type[0]))
        fields[field] = inner
    return types.store.types[name](**fields)


def signed(octet):
    """rosbags takes `byte` as signed."""
    return octet - 256 if octet > 127 else octet


def to_json(types, name, value, rng):
    """The same value as rostrans takes it; arrays of octets sometimes as base64."""
    out = {}
    for field, (kind, detail) in types.store.fielddefs[name][1]:
        if field not in value:
            continue
        inner = value[field]
        if kind == NAME:
            inner = to_json(types, detail, inner, rng)
        elif kind in (ARRAY, SEQUENCE):
            inner_kind, inner_type = detail[0]
            if inner_kind == NAME:
                inner = [to_json(types, inner_type, item, rng) for item in inner]
            elif inner_type[0] in OCTETS and rng.random() < 0.5:
                inner = base64.b64encode(bytes(inner)).decode()
            else:
                inner = [number(item) for item in inner]
        out[field] = number(inner)
    return out


def number(value):
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


class Tool:
    """The program under test."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=10)


def difference(ours, theirs):
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs))) // 2 * 2
    start = max(0, at - 32)
    return f"at octet {at // 2}:\n  ours    {ours[start:at + 64]}\n  rosbags {theirs[start:at + 64]}"


def check(tool, ros2, ros1, name, ours, value, rng):
    """What is wrong with `value` of type `name`, and whether ROS 1 was compared."""
    want = bytes(ros2.store.serialize_cdr(build(ros2, name, value), name)).hex()
    answer = tool.ask(type=ours, json=to_json(ros2, name, value, rng))
    if "error" in answer:
        return f"refused: {answer['error']}", False
    if answer["cdr"] != want:
        return f"CDR differs {difference(answer['cdr'], want)}", False
    if answer["dynamic"] != want:
        return "reading into a dynamic value and writing that differs", False
    for back in (tool.ask(type=ours, cdr=want), tool.ask(type=ours, json=answer["json"])):
        if back.get("cdr") != want or back.get("json") != answer["json"]:
            return f"round trip differs: {str(back)[:400]}", False
    if answer["ros1"] is None:
        return None, False
    body = ros1.store.serialize_ros1(build(ros1, name, value), name)
    if answer["ros1"] != bytes(body).hex():
        return f"ROS 1 differs {difference(answer['ros1'], bytes(body).hex())}", False
    back = tool.ask(type=ours, ros1=answer["ros1"])
    if back.get("ros1") != answer["ros1"]:
        return f"ROS 1 round trip differs: {str(back)[:400]}", False
    return None, True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5, help="values of each type")
    parser.add_argument("--tool", type=Path, default=TARGET / "debug" / "examples" / "cdr_tool")
    args = parser.parse_args()
    ros2, ros1, tool = Types("ros2"), Types("ros1"), Tool(args.tool)
    passed = failed = both = 0
    for name, ours in ros2.names:
        values = Random(ros2, f"{args.seed} {name}")
        compared = False
        for _ in range(args.rounds):
            wrong, with_ros1 = check(tool, ros2, ros1, name, ours, values.message(name), values.rng)
            compared = compared or with_ros1
            if wrong:
                print(f"FAIL {ours}: {wrong}")
                break
        failed += bool(wrong)
        passed += not wrong
        both += compared
    tool.close()
    print(f"{passed + failed} ROS 2 types, {args.rounds} values each; {both} of them in ROS 1 too")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or both < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
