"""What goes and comes back: roscore, rospy nodes, rostrans itself; and what roscore says about simulated time."""
import os
import re
import signal
import unittest

from daemon import free_port
from peers import eventually
from ros1 import STRING, Ros1Test, text_to_topic, topic_to_udp
from test_ros1_services import ARM, called, served


class Restarts(Ros1Test):
    def setUp(self):
        super().setUp()
        self.inward, self.sender, self.receiver, self.server = free_port(), self.udp(), self.udp(), self.udp()
        self.calls = free_port()
        self.rules = (text_to_topic(self.inward, "/heard") + topic_to_udp(self.receiver.port, "/say")
                      + served(self.server.port) + called(self.calls, "/theirs"))

    def kill_roscore(self):
        """Kills the master with no chance to say anything; the rest of roscore ends by itself."""
        command = self.tool("rosnode", "info", "/rosout")
        [pid] = re.findall(r"Pid: (\d+)", command)
        master = eventually(lambda: self.children("rosmaster"))
        os.kill(int(pid), signal.SIGKILL)
        os.kill(master, signal.SIGKILL)
        self.core.finish(30)

    def children(self, name):
        """The process of that name which our roscore has started."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as text:
                    words = text.read().split(b"\0")
            except OSError:
                continue
            if any(word.endswith(name.encode()) for word in words) and str(self.master_port).encode() in words:
                return int(pid)
        return None

    def hear(self, count=3):
        """A new rospy subscriber hears us."""
        sub = self.rospy("sub", STRING, "/heard", "--count", str(count), "--timeout", "30")
        self.until_ended([sub], lambda: self.sender.send(b"heard", self.inward))

    def say(self, text):
        """We hear a new rospy publisher."""
        pub = self.rospy("pub", STRING, "/say", "--json", f'{{"data": "{text}"}}', "--count", "3", "--timeout", "30")
        for _ in range(3):
            self.assertEqual(self.receiver.receive()[0].decode(), text, str(pub))
        self.assertEqual(pub.finish(), 0, str(pub))

    def serve(self):
        """A new rospy client calls a service of ours."""
        client = self.rospy("call", ARM, "/arm", "--json", '{"value": true}', "--timeout", "30")
        _, port = self.server.receive()
        self.server.send(b'{"success": true, "result": 3}', port)
        self.assertEqual(client.finish(20), 0, str(client))

    def call(self):
        """We call a service of a new rospy node."""
        server = self.rospy("serve", ARM, "/theirs", "--json", '{"success": true}', "--count", "1", "--timeout", "30")
        server.wait("ready")

        def answered():
            self.sender.send(b'{"value": true}', self.calls)
            return server.process.poll() is not None

        eventually(answered, period=0.5)
        self.assertEqual(server.finish(), 0, str(server))

    def everything(self, text):
        self.hear()
        self.say(text)
        self.serve()
        self.call()

    def test_roscore_is_killed_and_comes_back(self):
        rostrans = self.rostrans(rules=self.rules)
        self.everything("before")
        old = self.rospy("sub", STRING, "/heard", "--timeout", "55")
        old.wait("matched")
        for round_ in range(2):
            self.kill_roscore()
            eventually(lambda seen=round_: len(self.lines(rostrans, "cannot be reached")) == seen + 1)
            # Who is connected stays connected.
            before = len(old.all("msg"))
            eventually(lambda at=before: self.sender.send(b"no master", self.inward) or len(old.all("msg")) > at + 3)
            self.core = self.roscore()
            eventually(lambda seen=round_: len(self.lines(rostrans, "joined the ROS 1 graph")) == seen + 2)
            self.everything(f"after {round_}")

    def test_roscore_comes_late(self):
        self.core.stop()
        self.core = None
        rostrans = self.rostrans(rules=self.rules)
        rostrans.wait_text("cannot be reached")
        self.core = self.roscore()
        self.everything("late")
        self.assertEqual(len(self.lines(rostrans, "cannot be reached")), 1)

    def test_rospy_nodes_are_killed_and_come_back(self):
        self.rostrans(rules=self.rules)
        for text in ("one", "two"):
            sub = self.rospy("sub", STRING, "/heard", "--node", "listener", "--timeout", "50")
            sub.wait("matched")
            eventually(lambda s=sub: self.sender.send(b"x", self.inward) or s.all("msg"))
            pub = self.rospy("pub", STRING, "/say", "--node", "talker", "--json", f'{{"data": "{text}"}}', "--rate", "50",
                             "--count", "5000", "--timeout", "50")
            eventually(lambda t=text: self.receiver.receive()[0].decode() == t)
            sub.kill()
            pub.kill()
            sub.finish(), pub.finish()

    def test_rostrans_is_killed_and_comes_back(self):
        rostrans = self.rostrans(rules=self.rules)
        sub = self.rospy("sub", STRING, "/heard", "--timeout", "55")
        pub = self.rospy("pub", STRING, "/say", "--json", '{"data": "on"}', "--rate", "20", "--count", "5000",
                         "--timeout", "55")
        for _ in range(2):
            before = len(sub.all("msg"))
            eventually(lambda at=before: self.sender.send(b"x", self.inward) or len(sub.all("msg")) > at)
            self.assertEqual(self.receiver.receive()[0], b"on", str(pub))
            rostrans.kill()
            rostrans.finish()
            self.drain()
            rostrans = self.rostrans(rules=self.rules)
        before = len(sub.all("msg"))
        eventually(lambda: self.sender.send(b"x", self.inward) or len(sub.all("msg")) > before)
        self.assertEqual(self.receiver.receive()[0], b"on", str(pub))

    def drain(self):
        """Throws away what has come for the receiver."""
        self.receiver.socket.setblocking(False)
        try:
            while True:
                self.receiver.receive()
        except BlockingIOError:
            self.receiver.socket.settimeout(20)


if __name__ == "__main__":
    unittest.main()
