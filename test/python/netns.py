"""Hosts of their own for tests: network namespaces joined by a switch, from which nothing can leave this machine.

    network = Network("a", "b")            # a: 10.77.0.1, fd77::1; b: 10.77.0.2, fd77::2, each on its eth0
    network["a"].run("ping", "-c1", "10.77.0.2")
    network["b"].run("ip", "link", "set", "eth0", "down")
    program = Program(network["a"].command("rostrans", "-c", "..."))
    network.close()

A host lives as long as a keeper process, which ends with the test process, however that ends; the kernel then removes
its namespaces and links. Every host has a /dev/shm of its own, as Fast DDS names shared memory by port number. It takes
root or a kernel that lets users make user namespaces.
"""
import os
import subprocess
import sys
import time

from peers import PROGRAMS, PeerTest

KEEPER = """
mount -t tmpfs tmpfs /dev/shm
ip link set lo up
for conf in all default; do echo 0 > /proc/sys/net/ipv6/conf/$conf/accept_dad; done
echo up
exec cat
"""


class Host:
    """One host: a network namespace, named like a computer. Make it through Network."""

    def __init__(self, name, owner=None):
        self.name = name
        # Whoever is not root owns the namespaces through one user namespace, which all hosts must share.
        self.user = [] if os.geteuid() == 0 else ["-U", "--preserve-credentials"]
        inside = ["nsenter", "-t", str(owner.pid), *self.user] if owner and self.user else []
        own = ["-r"] if self.user and not owner else []
        self.keeper = subprocess.Popen([*inside, "unshare", *own, "-n", "-m", "sh", "-ec", KEEPER],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.keeper.pid
        if self.keeper.stdout.readline() != "up\n":
            raise RuntimeError(f"cannot make a network namespace for host {name}; run as root")

    def command(self, *command):
        """The command line that runs `command` on this host."""
        return ["nsenter", "-t", str(self.pid), *self.user, "-n", "-m", "--wd=" + os.getcwd(),
                *(str(c) for c in command)]

    def run(self, *command):
        """Runs a command on this host to its end; returns its output."""
        done = subprocess.run(self.command(*command), capture_output=True, text=True, timeout=30)
        if done.returncode:
            raise AssertionError(f"{self.name}: {' '.join(map(str, command))}: {done.stdout}{done.stderr}")
        return done.stdout

    def wait_up(self, interface):
        """Waits until an interface counts as running; programs of others overlook it before.

        The kernel looks at new carriers once a second.
        """
        deadline = time.monotonic() + 10
        while " state UP " not in self.run("ip", "-o", "link", "show", interface):
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.name}: {interface} does not come up")
            time.sleep(0.02)

    def close(self):
        """Ends the keeper; programs still running on the host keep it alive."""
        self.keeper.stdin.close()
        self.keeper.stdout.close()
        self.keeper.wait()


class Network:
    """Hosts on one Ethernet switch. The first is 10.77.0.1 and fd77::1, the next 10.77.0.2 and fd77::2, and so on."""

    def __init__(self, *names, v4=True, v6=True):
        self.switch = Host("switch")
        self.hosts = {}
        self.switch.run("ip", "link", "add", "bridge", "type", "bridge", "mcast_snooping", "0")
        self.switch.run("ip", "link", "set", "bridge", "up")
        for number, name in enumerate(names, 1):
            self.hosts[name] = Host(name, self.switch)
            addresses = [f"10.77.0.{number}/24"] * v4 + [f"fd77::{number:x}/64"] * v6
            self.plug(name, "eth0", *addresses)

    def __getitem__(self, name):
        return self.hosts[name]

    def plug(self, name, interface, *addresses, up=True):
        """Gives a host one more interface on the switch, with these addresses (with prefix length)."""
        host = self.hosts[name]
        port = f"{name[:6]}.{interface}"[:15]
        self.switch.run("ip", "link", "add", port, "type", "veth", "peer", "name", interface, "netns", host.pid)
        self.switch.run("ip", "link", "set", port, "master", "bridge", "up")
        for address in addresses:
            host.run("ip", "addr", "add", address, "dev", interface, *["nodad"] * (":" in address))
        if up:
            host.run("ip", "link", "set", interface, "up")
            host.wait_up(interface)

    def unswitch(self, *names):
        """Takes the eth0 of hosts off the switch, for a program on `network.switch` to join them by other means.

        Returns what their ends are called there.
        """
        ports = [f"{name[:6]}.eth0" for name in names]
        for name, port in zip(names, ports):
            self.switch.run("ip", "link", "set", port, "nomaster")
            # What hardware would complete, nobody does now.
            self.hosts[name].run(sys.executable, PROGRAMS / "lossy_link.py", "--no-offload", "eth0")
        return ports

    def cable(self, one, other, interface, one_address, other_address):
        """Joins two hosts by a cable of their own, in addition to the switch."""
        one, other = self.hosts[one], self.hosts[other]
        one.run("ip", "link", "add", interface, "type", "veth", "peer", "name", interface, "netns", other.pid)
        for host, address in ((one, one_address), (other, other_address)):
            host.run("ip", "addr", "add", address, "dev", interface)
            host.run("ip", "link", "set", interface, "up")
        for host in (one, other):
            host.wait_up(interface)

    def unplug(self, name, interface):
        """Removes an interface of a host."""
        self.hosts[name].run("ip", "link", "del", interface)

    def close(self):
        """Ends every host."""
        for host in [*self.hosts.values(), self.switch]:
            host.close()


class NetworkTest(PeerTest):
    """A test case whose programs run on hosts of a network of their own, with the defaults of ROS 2."""

    def network(self, *names, **kwargs):
        network = Network(*names, **kwargs)
        self.addCleanup(network.close)
        return network

    def env(self):
        # Nothing can leave the switch, so every range is free to use.
        return {"ROS_DOMAIN_ID": str(self.domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "CYCLONEDDS_URI": ""}

    def start(self, *command, host=None, **kwargs):
        """Starts a program, on a host if one is given."""
        return super().start(*(host.command(*command) if host else command), **kwargs)

    def bad_cable(self, network, left, right, *options):
        """Joins two hosts by test/peers/lossy_link.py instead of the switch; returns the running program."""
        for name in (left, right):
            # Fast DDS and Cyclone DDS leave cutting big datagrams to IP. One lost piece in 45 spoils a datagram, and with
            # the default settings the pieces of spoiled ones fill the kernel's store for 30 s. This is ROS 2's own advice.
            network[name].run("sysctl", "-w", "net.ipv4.ipfrag_time=3", "net.ipv4.ipfrag_high_thresh=134217728")
        cable = self.on(network.switch, sys.executable, PROGRAMS / "lossy_link.py", *network.unswitch(left, right), *options,
                        limit=200)
        cable.wait("ready")
        return cable

    def on(self, host, *command, env=None, limit=60.0):
        """Starts a program on a host."""
        return self.start(*command, host=host, env=env, limit=limit)
