"""Records and curves to test with: small real ones, and written ones whose truth is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from switchpoint import Store
from switchpoint.cli.command import app
from switchpoint.store.files import StoreFiles
from typer.testing import CliRunner, Result

RECORDS = Path(__file__).parent / "records"
SIZES = sorted({int(2 ** (third / 3)) for third in range(66)})


@pytest.fixture(scope="session")
def switchpoint() -> Callable[..., Result]:
    """Run the command with arguments, as a user types them."""

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


@contextmanager
def killed_after(steps: int, store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End the command that is run inside after so many writes and removals in a store."""
    left = steps

    def counted(act: Callable[..., object]) -> Callable[..., object]:
        def step(*arguments: object) -> object:
            nonlocal left
            if left == 0:
                raise KeyboardInterrupt
            left -= 1
            return act(*arguments)

        return step

    system = store.files.system
    with monkeypatch.context() as patch:
        patch.setattr(StoreFiles, "write", counted(StoreFiles.write))
        patch.setattr(system, "rm_file", counted(system.rm_file))
        yield


def write_record(
    path: Path,
    *,
    run_id: str = "0123456789abcdef0123456789abcdef",
    labels: dict[str, str] | None = None,
    start_utc: str = "2026-11-21T10:00:00.000000Z",
    sizes: Sequence[int] = SIZES,
    step_at: int | None = 65481,
    passes: int = 3,
    footer: bool = True,
    slower: float = 1.0,
    **changes: Any,
) -> Path:
    """Write a run record as documented, `step_at` being its first slow byte.

    All times are `slower` times those of other records.
    """
    rng = np.random.default_rng(20261121)
    columns = ["mode", "size_bytes", "pass", "sample", "iterations", "time_us"]
    header = {
        "record": "switchpoint",
        "schema": 1,
        "run_id": run_id,
        "start_utc": start_utc,
        "kernel": {
            "name": "pingpong", "version": "0.1.0", "git_commit": "abc", "builder": "cmake",
            "spec_hash": None, "compiler": "GNU 12.2.0", "flags": "-O3",
        },
        "arguments": ["pingpong"],
        "labels": {"site": "here", "placement": "one_node_network"} if labels is None else labels,
        "plan": {"seed": 1, "passes": passes},
        "clock": {"source": "MPI_Wtime", "tick_ns": 1, "step_ns": 20, "overhead_ns": 25},
        "mpi": {
            "library": "Open MPI v4.1.4, package: Debian OpenMPI", "standard": "3.1",
            "cvars": {"btl_tcp_eager_limit": 65536, "btl_vader_eager_limit": 4096},
            "environment": {},
        },
        "slurm": {},
        "ranks": [_rank(0), _rank(1)],
        "columns": columns,
    } | changes  # fmt: skip
    rows = [
        f"send,{size},{turn},{sample},10,{_time(size, step_at) * slower * (1 + noise):.6f}"
        for turn in range(passes)
        for size in rng.permutation(np.asarray(sizes))
        for sample, noise in enumerate(rng.normal(0, 0.01, 4))
    ]
    end = {
        "end": "switchpoint",
        "end_utc": start_utc,
        "samples": len(rows),
        "points": [],
        "verification": {"checks": 8, "errors": 0, "bytes_moved": 10**9},
        "ranks": [{"rank": rank, "after": _conditions(10**9)} for rank in (0, 1)],
    }
    lines = [json.dumps(header), ",".join(columns), *rows, *([json.dumps(end)] if footer else [])]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _time(size: int, step_at: int | None) -> float:
    slow = step_at is not None and size >= step_at
    return 6.0 + size * 4e-4 + (12.0 if slow else 0.0)


def _rank(rank: int) -> dict[str, Any]:
    return {
        "rank": rank, "host": "a1", "topology_address": None, "topology_pattern": None,
        "cpus_allowed": [rank], "cpu": rank, "cpu_model": "model", "cores_online": 2,
        "kernel_release": "6.1", "pid": 10, "net_namespace": 4026531833, "boot_id": "boot",
        "before": _conditions(0),
    }  # fmt: skip


def _conditions(sent: int) -> dict[str, Any]:
    return {
        "load1": 0.1, "steal_ticks": 0, "softirq_ticks": 0, "voluntary_switches": 1,
        "involuntary_switches": 1, "cpu_khz": None, "cpu": 0,
        "interfaces": [{"name": "lo", "mtu": 65536, "rx_bytes": sent, "tx_bytes": sent}],
    }  # fmt: skip


def curve_table(
    sizes: Sequence[int] | np.ndarray,
    times: np.ndarray,
    noise: float,
    seed: int,
    repeats: int = 5,
) -> pd.DataFrame:
    """Samples of one curve: each time with normal noise, `repeats` passes of one sample each."""
    sizes = np.asarray(sizes)
    factors = 1 + np.random.default_rng(seed).normal(0, noise, (repeats, len(sizes)))
    return pd.DataFrame(
        {
            "size_bytes": np.tile(sizes, repeats),
            "pass": np.repeat(np.arange(repeats), len(sizes)),
            "sample": 0,
            "iterations": 1,
            "time_us": (times * factors).ravel(),
        }
    )


def write_osu_latency(path: Path, times: str) -> Path:
    """Write the output of osu_latency with these times at powers of two."""
    lines = [f"{2**power}  {time}" for power, time in enumerate(times.split())]
    path.write_text("\n".join(["# OSU MPI Latency Test v7.4", "# Size  Latency (us)", *lines, ""]))
    return path


@pytest.fixture
def s3_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A local S3 server, which stores on `s3://` use; yield its address."""
    import s3fs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    for name, value in {
        "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": address,
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()  # which still has the server of an earlier test
    yield address
    server.stop()
