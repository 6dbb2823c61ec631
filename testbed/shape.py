"""The shape of a testbed: its hosts and nodes, and the links between the hosts.

It is read from a small YAML file. Only `load` needs pydantic, so other commands start fast.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from switchpoint.limits import YAML_BYTES
from switchpoint.regular_files import read_limited

from testbed.errors import TestbedError

if TYPE_CHECKING:
    from pydantic import ConfigDict
    from pydantic_core import ErrorDetails

SHIPPED = Path(__file__).parent / "shapes"
DEFAULT = "two-hosts"

# For pydantic: an unknown field is an error.
_STRICT: ConfigDict = {"extra": "forbid"}

_RATE = re.compile(r"[1-9]\d*(kbit|mbit|gbit)")
_SIZE = re.compile(r"[1-9]\d*(b|kb|mb)")
_TIME = re.compile(r"[1-9]\d*(us|ms|s)")
_HOST = re.compile(r"[a-z]{1,8}")


@dataclass(frozen=True)
class Uplink:
    """The shaped link from a host's switch to the core switch, the same in both directions.

    Attributes
    ----------
    rate : str
        Bandwidth in each direction, such as ``1gbit``: ``kbit``, ``mbit``, ``gbit``.
    burst : str
        Bytes that may pass at full speed: ``b``, ``kb``, ``mb`` (powers of 1024).
    latency : str
        Longest time that a packet waits in the queue before it is dropped: ``us``, ``ms``, ``s``.
    hops : int
        Extra switches between the host's switch and the uplink, 0 to 16; about 1 us each.
    delay : str or None
        Delay by netem in each direction, such as ``50us``; needs a kernel that has it.
    shared : bool
        Whether all hosts and both directions share one link of this rate, as the cable of an old
        Ethernet, without collisions. Nodes of one host do not use it. Needs a kernel with ifb.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    rate: str = "1gbit"
    burst: str = "128kb"
    latency: str = "100ms"
    hops: int = 4
    delay: str | None = None
    shared: bool = False

    def __post_init__(self) -> None:
        check_rate(self.rate)
        _matches("burst", self.burst, _SIZE, "a number with b, kb or mb, such as 128kb")
        _matches("latency", self.latency, _TIME, "a number with us, ms or s, such as 100ms")
        _within("hops", self.hops, 0, 16)
        if self.delay is not None:
            check_delay(self.delay)


@dataclass(frozen=True)
class Shape:
    """Hosts with their nodes, and the network between them.

    Attributes
    ----------
    hosts : tuple of str
        One to sixteen names of one to eight lower-case letters; host ``a`` has ``a1``, ``a2``.
    nodes_per_host : int
        One to 64.
    cpus_per_node : int
        CPUs of each node in Slurm, one to 256; the machine may have fewer.
    mtu : int
        Largest packet in bytes, 576 to 65535, everywhere.
    uplink : Uplink
        The link between each host and the core.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    hosts: tuple[str, ...] = ("a", "b")
    nodes_per_host: int = 2
    cpus_per_node: int = 8
    mtu: int = 1500
    uplink: Uplink = field(default_factory=Uplink)

    def __post_init__(self) -> None:
        for host in self.hosts:
            _matches("hosts", host, _HOST, "one to eight lower-case letters")
        if len(set(self.hosts)) != len(self.hosts):
            raise ValueError("hosts: a name occurs twice; give each host a different name")
        _within("hosts (their number)", len(self.hosts), 1, 16)
        _within("nodes_per_host", self.nodes_per_host, 1, 64)
        _within("cpus_per_node", self.cpus_per_node, 1, 256)
        check_mtu(self.mtu)

    def nodes_of(self, host: str) -> list[str]:
        """Names of the nodes of `host`, in order."""
        return [f"{host}{number}" for number in range(1, self.nodes_per_host + 1)]

    def nodes(self) -> Iterator[str]:
        """Names of all nodes, host by host."""
        for host in self.hosts:
            yield from self.nodes_of(host)

    def host_of(self, node: str) -> str:
        """The host of `node`."""
        return node.rstrip("0123456789")

    def address(self, node: str) -> str:
        """The node's address in 10.0.0.0/16: third byte the host, fourth the node, from 1."""
        host = self.host_of(node)
        return f"10.0.{self.hosts.index(host) + 1}.{node[len(host) :]}"

    def as_data(self) -> dict[str, Any]:
        """Return data from which `from_data` makes the same shape."""
        return asdict(self)


def load(name: str) -> Shape:
    """Read a shape from the file `name`, or the included shape of that name.

    Raises
    ------
    TestbedError
        It names the file, the field or line, and the fix.
    """
    path = _find(name)
    data = _read_yaml(path)
    if not isinstance(data, dict):
        raise TestbedError(f"{path}: contains no fields; start from {SHIPPED / DEFAULT}.yaml")

    from pydantic import TypeAdapter, ValidationError  # takes a tenth of a second, so only here

    try:
        return TypeAdapter(Shape).validate_python(data)
    except ValidationError as error:
        faults = "; ".join(_fault(detail) for detail in error.errors())
        raise TestbedError(f"{path}: {faults}") from None


def _find(name: str) -> Path:
    path = Path(name)
    if path.is_file():
        return path
    shipped = SHIPPED / f"{name}.yaml"
    if "/" not in name and shipped.is_file():
        return shipped
    names = ", ".join(sorted(file.stem for file in SHIPPED.glob("*.yaml")))
    raise TestbedError(f"{name}: this shape file does not exist; give a path, or one of {names}")


def _read_yaml(path: Path) -> Any:
    import yaml

    try:
        return yaml.safe_load(read_limited(path, YAML_BYTES).decode("utf-8"))
    except OSError as error:
        raise TestbedError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TestbedError(f"{path}: is not text; a shape is a YAML file") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise TestbedError(f"{path}: {line}not YAML: {problem}") from None
    except (ValueError, RecursionError) as error:  # numbers, dates, depth that Python cannot have
        problem = str(error).partition(";")[0]
        raise TestbedError(f"{path}: a value is impossible: {problem}") from None


def _fault(detail: ErrorDetails) -> str:
    where = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "unexpected_keyword_argument":
        owner = Uplink if len(detail["loc"]) > 1 else Shape
        return f"{where}: no such field; there are {', '.join(f.name for f in fields(owner))}"
    if detail["type"] == "value_error":  # raised above, and names the field itself
        return ".".join(filter(None, [where, str(detail["ctx"]["error"])]))
    return f"{where}: {detail['msg'][0].lower()}{detail['msg'][1:]}"


def from_data(data: dict[str, Any]) -> Shape:
    """Make the shape that `Shape.as_data` wrote."""
    return Shape(**{**data, "hosts": tuple(data["hosts"]), "uplink": Uplink(**data["uplink"])})


def check_mtu(mtu: int) -> None:
    """Raise ValueError unless `mtu` is one that the testbed's links can have."""
    _within("mtu", mtu, 576, 65535)


def check_rate(rate: str) -> None:
    """Raise ValueError unless `rate` is a bandwidth in tc's units."""
    _matches("rate", rate, _RATE, "a number with kbit, mbit or gbit, such as 1gbit")


def check_delay(delay: str) -> None:
    """Raise ValueError unless `delay` is a time in tc's units."""
    _matches("delay", delay, _TIME, "a number with us, ms or s, such as 50us")


def _matches(field: str, value: str, pattern: re.Pattern[str], wanted: str) -> None:
    if not pattern.fullmatch(value):
        raise ValueError(f"{field}: {value!r} is not {wanted}")


def _within(field: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ValueError(f"{field}: {value} is not between {least} and {most}")
