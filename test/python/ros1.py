"""What tests beside ROS 1 share: a roscore of their own, rospy peers, the ros... tools, rostrans in that graph."""
import os
import re
import socket
import subprocess

from daemon import DaemonTest
from peers import PROGRAMS, ROOT, Program, eventually

PYTHON = "/usr/bin/python3"
STRING, IMAGE = "std_msgs/String", "sensor_msgs/Image"
# Of a 1280 x 720 bgr8 image, and of the pattern that peers fill it with.
IMAGE_BYTES, IMAGE_FIELDS = 2764800, '{"width": 1280, "height": 720, "encoding": "bgr8", "step": 3840}'


def free_tcp_port():
    """A TCP port of 127.0.0.1 that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Ros1Test(DaemonTest):
    """A test case with a ROS 1 master for each test."""

    def setUp(self):
        super().setUp()
        self.master_port = free_tcp_port()
        self.home = self.folder()
        self.packages = ROOT / "ros1"
        self.core = self.roscore()

    def env(self):
        ros1 = {"ROS_MASTER_URI": f"http://127.0.0.1:{self.master_port}", "ROS_IP": "127.0.0.1"}
        return {**super().env(), **ros1, "ROS_HOME": str(self.home), "ROS_LOG_DIR": str(self.home)}

    def ros1_env(self):
        return {"PYTHONPATH": str(self.packages), "PYTHONUNBUFFERED": "1", "ROS_DISTRO": "noetic"}

    def roscore(self):
        """roscore of the distribution, running."""
        core = self.start("roscore", "-p", self.master_port, env=self.ros1_env(), limit=120)
        # It ends its children, which have sessions of their own, when it is asked to, not when it is killed.
        self.addCleanup(core.stop)
        core.wait_text("started core service [/rosout]", 40)
        return core

    def rospy(self, *args, packages=None, **kwargs):
        """test/peers/ros1_peer.py with the arguments."""
        env = {**self.ros1_env(), **({"PYTHONPATH": str(packages)} if packages else {})}
        return self.start(PYTHON, PROGRAMS / "ros1_peer.py", *args, env=env, **kwargs)

    def rostrans(self, *options, version="ros1", env=None, **kwargs):
        """rostrans in the ROS 1 graph, once it has joined."""
        program = super().rostrans(f"--ros_version={version}", *options, env={"PYTHONPATH": "", **(env or {})}, **kwargs)
        if self.core is not None:
            program.wait_text("joined the ROS 1 graph")
        return program

    def tool(self, *command, limit=20.0, good=True):
        """What a tool such as `rostopic list` prints; it ends by itself, or is ended after `limit` seconds."""
        env = {**os.environ, **self.env(), **self.ros1_env()}
        with subprocess.Popen([str(c) for c in command], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as process:
            try:
                text, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                process.kill()
                text, _ = process.communicate()
                self.fail(f"{command} did not end: {text}")
        if good:
            self.assertEqual(process.returncode, 0, f"{command}: {text}")
        return text

    def lines(self, program, text):
        """Lines of a program's output with that text."""
        return [line for line in list(program.noise) if text in line]

    def until_ended(self, programs, action, timeout=30):
        """Repeats an action until all programs have ended by themselves, and well."""
        def ended():
            action()
            return all(program.process.poll() is not None for program in programs)

        eventually(ended, timeout)
        for program in programs:
            self.assertEqual(program.finish(), 0, str(program))

    def registered(self, kind, name):
        """Waits until the master knows a `Publications` (or `Subscriptions`, `Services`) of our node."""
        pattern = rf"{kind}:(?:[^:]|:(?!\s*$))*?\* {re.escape(name)}\b"
        return eventually(lambda: re.search(pattern, self.tool("rosnode", "info", "/rostrans", good=False), re.M), 20, 0.2)


def text_to_topic(port, topic, qos="reliable"):
    """A rule that publishes datagrams as strings."""
    return f"""
- rule_id: in{topic.replace("/", "_")}
  direction: udp_to_rostopic
  udp_listen_ip: 127.0.0.1
  udp_listen_port: {port}
  links:
    - {{codec: string, topic: {topic}, msg_type: std_msgs/msg/String, qos: {qos}}}
"""


def topic_to_udp(port, topic, msg_type="std_msgs/msg/String", codec="string"):
    """A rule that sends messages of a topic as datagrams."""
    return f"""
- rule_id: out{topic.replace("/", "_")}
  direction: rostopic_to_udp
  links:
    - {{codec: {codec}, topic: {topic}, msg_type: {msg_type}, udp_dst_ip: 127.0.0.1, udp_dst_port: {port}}}
"""


__all__ = ["IMAGE", "IMAGE_BYTES", "IMAGE_FIELDS", "PYTHON", "STRING", "Program", "Ros1Test", "free_tcp_port",
           "text_to_topic", "topic_to_udp"]
