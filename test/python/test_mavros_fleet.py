"""Ten vehicles in one process, behind one port and on ports of their own: one that goes or comes disturbs nobody."""
import unittest

from daemon import free_port
from vehicles import VehicleTest

COUNT = 10
CHANGED, NEW = 3, COUNT + 1


class MavrosFleet(VehicleTest):
    def prefix(self, number):
        return "/mavros" if number == 1 else f"/mavros{number}"

    def start_fleet(self, *options, params):
        autopilots = self.autopilot("--vehicles", str(COUNT), "--rate", "10", *options)
        self.rostrans(params=f"enable_mavros=true\nmavros_copter_count={NEW}\nmavros_sys_conn_timeout=4\n{params}")
        client = self.client(prefix="")
        for number in range(1, NEW + 1):
            client.watch(f"{self.prefix(number)}/state"[1:], "State")
            client.watch(f"{self.prefix(number)}/local_position/pose"[1:], "geometry_msgs/msg/PoseStamped", "sensor_data")
        return autopilots, client

    def counts(self, client):
        client.tell(do="seen")
        topics = client.program.wait("seen")["topics"]
        return {n: topics[f"{self.prefix(n)}/local_position/pose"]["count"] for n in range(1, NEW + 1)}

    def is_connected(self, client, number, value=True):
        client.until(f"{self.prefix(number)}/state"[1:], lambda m: m["connected"] == value)

    def goes_and_comes(self, autopilots, client):
        for number in range(1, COUNT + 1):
            self.is_connected(client, number)
        self.assertEqual(client.seen(f"{self.prefix(NEW)}/local_position/pose"[1:])[0], 0)
        autopilots.say(f"{CHANGED} leave")
        autopilots.say(f"{NEW} join")
        self.is_connected(client, NEW)
        self.is_connected(client, CHANGED, False)
        before = self.counts(client)
        others = [n for n in before if n != CHANGED]
        client.until(f"{self.prefix(1)}/local_position/pose"[1:],
                     lambda _: all(self.counts(client)[n] > before[n] + 20 for n in others))
        self.assertEqual(self.counts(client)[CHANGED], before[CHANGED])
        for number in others:
            self.assertTrue(client.seen(f"{self.prefix(number)}/state"[1:])[1]["connected"])

    def test_behind_one_port(self):
        port = free_port()
        autopilots, client = self.start_fleet("--link", f"udpout:127.0.0.1:{port}", params=f"mavros_listen_port={port}\n")
        self.goes_and_comes(autopilots, client)

    def test_on_ports_of_their_own(self):
        port = free_port()
        autopilots, client = self.start_fleet("--link", f"udpout:127.0.0.1:{port}", "--step", "2",
                                              params=f"mavros_listen_port={port}\nmavros_listen_step=2\n")
        self.goes_and_comes(autopilots, client)


if __name__ == "__main__":
    unittest.main()
