"""The network between the nodes: a switch per host, extra hops, and a shaped link to the core.

    a1 a2 -- host_a -- a_hop1 .. a_hop4 -- a_uplink ==rate== a_core -- core (the controller)

All switches are in the controller's network namespace. The other end of a node's eth0 is `a1` in
`host_a`. If the uplinks are shared, what all hosts send to the core passes one queue, `cable`, in
place of the rate of each link.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from ipaddress import ip_address
from itertools import pairwise
from pathlib import Path
from typing import Any

from testbed.errors import TestbedError
from testbed.shape import Shape

CONTROLLER_ADDRESS = "10.0.0.1"
_PREFIX = 16

#: An interface answers only for the addresses that it has itself (Linux's ip-sysctl, arp_ignore).
_ONLY_THE_CORE_ANSWERS = Path("/proc/sys/net/ipv4/conf/all/arp_ignore")


#: The one queue of shared uplinks.
_CABLE = "cable"
_NO_IFB = "uplink.shared: this kernel has no ifb (module ifb); remove shared, or load the module"


@dataclass(frozen=True)
class UplinkState:
    """The current state of one host's uplink; rate and delay in tc's units, mtu in bytes."""

    cut: bool
    rate: str
    delay: str | None
    mtu: int


class Fabric:
    """The switches and links of a shape, made in the network namespace of this process."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        as_shaped = UplinkState(False, shape.uplink.rate, shape.uplink.delay, shape.mtu)
        self._uplinks = dict.fromkeys(shape.hosts, as_shaped)

    def build(self) -> None:
        """Make the switches of all hosts, and the core, which the controller is connected to."""
        # Every switch is an interface of the controller, and would answer for its address. What a
        # node then sends goes past the uplink, and is lost once a port changes the switch's own
        # hardware address, as the cable of a node that starts again does.
        _ONLY_THE_CORE_ANSWERS.write_text("1")
        lines = ["link set lo up", *_bridge("core", self._shape.mtu)]
        lines.append(f"addr add {CONTROLLER_ADDRESS}/{_PREFIX} dev core")
        if self._shape.uplink.shared:
            lines += [f"link add {_CABLE} mtu {self._shape.mtu} type ifb", f"link set {_CABLE} up"]
        for host in self._shape.hosts:
            lines += self._host_lines(host)
        try:
            _batch("ip", lines)
        except TestbedError as error:
            if self._shape.uplink.shared and "Unknown device type" in str(error):
                raise TestbedError(_NO_IFB) from None
            raise
        self._shape_traffic("add", *self._shape.hosts)

    def _host_lines(self, host: str) -> list[str]:
        mtu, hops = self._shape.mtu, self._shape.uplink.hops
        switches = [f"host_{host}", *(f"{host}_hop{number}" for number in range(1, hops + 1))]
        lines = [line for switch in switches for line in _bridge(switch, mtu)]
        for number, (near, far) in enumerate(pairwise(switches)):
            lines += _link(f"{host}_out{number}", near, f"{host}_in{number}", far, mtu)
        return lines + _link(f"{host}_uplink", switches[-1], f"{host}_core", "core", mtu)

    def plug(self, pids: dict[str, int]) -> None:
        """Connect each node's eth0 to its host's switch; `pids` are processes in the nodes."""
        lines = []
        for node, pid in pids.items():
            host = self._shape.host_of(node)
            mtu = self._uplinks[host].mtu
            peer = f"peer name eth0 address {self._mac(node)} mtu {mtu} netns {pid}"
            lines.append(f"link add {node} mtu {mtu} type veth {peer}")
            lines.append(f"link set {node} addrgenmode none master host_{host} up")
        _batch("ip", lines)

    def _mac(self, node: str) -> str:
        """Return a hardware address, the same each time that this node is plugged in.

        A machine that starts again keeps its own. With a new one, nodes that remember the old one
        could not connect to it for seconds.
        """
        return f"02:00:{ip_address(self._shape.address(node)).packed.hex(':')}"

    def unplug(self, node: str) -> None:
        """Remove the node's cable, which may be gone because the node died."""
        try:
            _batch("ip", [f"link delete {node}"])
        except TestbedError:
            if f" {node}@" in _run(["ip", "-o", "link", "show", "type", "veth"]):
                raise

    def change(self, host: str, pids: Iterable[int], **changes: Any) -> None:
        """Set `cut`, `rate`, `delay` or `mtu` of a host's uplink.

        The mtu applies to everything on the host, including its nodes' eth0; `pids` are in the
        nodes.
        """
        before, after = self._uplinks[host], replace(self._uplinks[host], **changes)
        if self._shape.uplink.shared and (after.rate, after.delay) != (before.rate, before.delay):
            raise TestbedError("rate, delay: all hosts share one link; change the shape instead")
        self._uplinks[host] = after
        try:
            if (after.rate, after.delay) != (before.rate, before.delay):
                self._shape_traffic("replace", host)
        except TestbedError:
            self._uplinks[host] = before
            raise
        if after.mtu != before.mtu:
            self._set_mtu(host, pids, after.mtu)
        if after.cut != before.cut:
            _batch("ip", [f"link set {host}_uplink {'down' if after.cut else 'up'}"])

    def restore(self, host: str, pids: Iterable[int]) -> None:
        """Restore the host's uplink to what the shape says."""
        shape = self._shape
        shaped = {"rate": shape.uplink.rate, "delay": shape.uplink.delay, "mtu": shape.mtu}
        self.change(host, pids, cut=False, **shaped)

    def status(self) -> list[dict[str, Any]]:
        """One entry per host, with the fields of `UplinkState`."""
        return [{"host": host, **asdict(state)} for host, state in self._uplinks.items()]

    def _shape_traffic(self, verb: str, *hosts: str) -> None:
        lines = [line for host in hosts for line in self._traffic_lines(verb, host)]
        try:
            _batch("tc", lines)
        except TestbedError as error:
            if " netem " not in "".join(lines) or "qdisc kind is unknown" not in str(error):
                raise
            raise TestbedError(
                "delay: this kernel has no netem (module sch_netem); remove delay and use hops"
            ) from None

    def _traffic_lines(self, verb: str, host: str) -> list[str]:
        state, uplink = self._uplinks[host], self._shape.uplink
        limits = f"rate {state.rate} burst {uplink.burst} latency {uplink.latency}"
        lines, devices = [], [f"{host}_uplink", f"{host}_core"]
        if uplink.shared:
            # A packet of this host waits for the cable before the core receives it.
            lines = [
                f"qdisc add dev {host}_core ingress",
                f"filter add dev {host}_core parent ffff: protocol all u32 match u32 0 0"
                f" action mirred egress redirect dev {_CABLE}",
            ]
            devices = [_CABLE] if host == self._shape.hosts[0] else []
        for device in devices:
            lines.append(f"qdisc {verb} dev {device} root handle 1: tbf {limits}")
            if state.delay is not None:
                # A queue of 100,000 packets is long enough that the delay drops none.
                delay = f"netem delay {state.delay} limit 100000"
                lines.append(f"qdisc replace dev {device} parent 1:1 handle 10: {delay}")
        return lines

    def _set_mtu(self, host: str, pids: Iterable[int], mtu: int) -> None:
        hops = self._shape.uplink.hops
        devices = [f"host_{host}", f"{host}_uplink", f"{host}_core"]
        for number in range(hops):
            devices += [f"{host}_hop{number + 1}", f"{host}_out{number}", f"{host}_in{number}"]
        switch = _run(["ip", "-o", "link", "show", "master", f"host_{host}"])
        devices += [node for node in self._shape.nodes_of(host) if f" {node}@" in switch]
        _batch("ip", [f"link set {device} mtu {mtu}" for device in devices])
        for pid in pids:
            _run(["nsenter", "-t", str(pid), "-n", "ip", "link", "set", "eth0", "mtu", str(mtu)])


def set_up_node(address: str) -> None:
    """Configure the network of the node of this process."""
    lines = ["link set lo up", "link set eth0 addrgenmode none"]
    lines += [f"addr add {address}/{_PREFIX} dev eth0", "link set eth0 up"]
    _batch("ip", lines)


def _bridge(name: str, mtu: int) -> list[str]:
    # No multicast snooping and no IPv6 addresses: their packets would disturb measurements.
    return [
        f"link add {name} mtu {mtu} type bridge mcast_snooping 0",
        f"link set {name} addrgenmode none up",
    ]


def _link(near: str, near_switch: str, far: str, far_switch: str, mtu: int) -> list[str]:
    return [
        f"link add {near} mtu {mtu} type veth peer name {far} mtu {mtu}",
        f"link set {near} addrgenmode none master {near_switch} up",
        f"link set {far} addrgenmode none master {far_switch} up",
    ]


def _batch(program: str, lines: Iterable[str]) -> None:
    _run([program, "-batch", "-"], "\n".join(lines) + "\n")


def _run(command: list[str], text: str = "") -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        said = " ".join(done.stderr.split())
        raise TestbedError(f"{' '.join(command)}: {said or f'exit code {done.returncode}'}")
    return done.stdout
