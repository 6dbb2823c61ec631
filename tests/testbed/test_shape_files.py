"""Shape files: what they mean, and one clear line for every fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from beds import Bed

from testbed import errors
from testbed.shape import Shape, Uplink, from_data, load

BAD = [
    ("hosts: [a, a]", "hosts: a name occurs twice"),
    ("hosts: [A]", "hosts: 'A' is not one to eight lower-case letters"),
    ("hosts: []", "hosts (their number): 0 is not between 1 and 16"),
    ("hosts: a", "hosts: input should be a valid tuple"),
    ("nodes_per_host: 0", "nodes_per_host: 0 is not between 1 and 64"),
    ("nodes_per_host: many", "nodes_per_host: input should be a valid integer"),
    ("cpus_per_node: -1", "cpus_per_node: -1 is not between 1 and 256"),
    ("mtu: 100", "mtu: 100 is not between 576 and 65535"),
    ("nodes: 2", "nodes: no such field; there are hosts, nodes_per_host"),
    ("uplink: {rate: fast}", "uplink.rate: 'fast' is not a number with kbit, mbit or gbit"),
    ("uplink: {rate: 0mbit}", "uplink.rate: '0mbit' is not a number"),
    ("uplink: {burst: 1}", "uplink.burst: input should be a valid string"),
    ("uplink: {latency: 3h}", "uplink.latency: '3h' is not a number with us, ms or s"),
    ("uplink: {hops: 99}", "uplink.hops: 99 is not between 0 and 16"),
    ("uplink: {delay: 5}", "uplink.delay: input should be a valid string"),
    ("uplink: {speed: 1gbit}", "uplink.speed: no such field; there are rate, burst"),
    ("uplink: {shared: maybe}", "uplink.shared: input should be a valid boolean"),
    ("uplink: [1]", "uplink: "),
    ("hosts: [a", "line 1: not YAML"),
    (f"hosts: {'9' * 5000}", "a value is impossible"),
    ("", "contains no fields"),
    ("- a", "contains no fields"),
]


@pytest.mark.parametrize(("text", "fault"), BAD)
def test_a_bad_shape_is_refused_by_file_and_field(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "my.yaml"
    file.write_text(text)
    with pytest.raises(errors.TestbedError) as refused:
        load(str(file))
    assert str(refused.value).startswith(f"{file}: {fault}")
    assert "\n" not in str(refused.value)


def test_files_that_are_not_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(errors.TestbedError, match="is not text"):
        load(str(file))


def test_the_command_says_it_in_one_line_and_exits_2(parent: Path) -> None:
    done = Bed("unshaped", parent).testbed("up", "--shape", "three-hosts")
    assert done.returncode == 2
    assert done.stderr == (
        "testbed: three-hosts: this shape file does not exist;"
        " give a path, or one of four-hosts, shared-ethernet, slow-uplinks, two-hosts\n"
    )
    assert not (parent / "unshaped").exists()


def test_what_a_file_leaves_out_has_the_default(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("hosts: [x, y, z]\nuplink: {rate: 10gbit}")
    assert load(str(file)) == Shape(hosts=("x", "y", "z"), uplink=Uplink(rate="10gbit"))


def test_the_shipped_default_is_what_an_empty_shape_means() -> None:
    assert load("two-hosts") == Shape()


def test_a_shape_survives_being_written_down() -> None:
    shape = Shape(hosts=("x",), uplink=Uplink(hops=0))
    assert from_data(shape.as_data()) == shape
