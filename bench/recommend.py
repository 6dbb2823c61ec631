"""Holds recommended rules beside a library's own choice: broadcast and exchange on slow links.

A model is fitted to ping-pongs between two of four nodes with links of 100 Mbit/s. What
`model recommend` writes from it is then used by every second launch. With --keep the records stay
in FOLDER, with the model, so that `switchpoint model recommend --checked` can read them.
Usage: ``.venv/bin/python bench/recommend.py [LAUNCHES] [MPI...] [--keep FOLDER]``, three or more.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from arguments import add_count, add_mpis, parser
from on_testbed import ROOT, kernel, run, srun_words, testbed
from switchpoint import check_advice, fit_model, read_files, recommend, save_model, write_advice
from switchpoint.models.repeats import LEAST_LAUNCHES
from switchpoint.models.rules_files import (
    DIGEST_LABEL,
    RULES_LABEL,
    WITH,
    WITHOUT,
    RulesFolder,
    read_rules,
)
from switchpoint.models.site_model import SiteModel
from switchpoint.reporting.terminal.recommend import print_recommendation, print_written

SHAPE = ROOT / "bench" / "shapes" / "slow-links.yaml"
SITE, NEAR, FAR = "bench", "one_node", "between_nodes"
NODES = ["a1", "b1", "c1", "d1"]
SIZES = [1024, 16384, 65536, 262144, 1048576]
MPICH_LIBRARY = Path("/usr/lib/x86_64-linux-gnu/libmpich.so.12")

_FEW = ("--passes=3", "--samples=1", "--warmup=1", "--pass-time=50")

#: What the model is fitted to: the kernel's options, by nodes of the two ranks.
PING_PONGS = [
    ("AA", ("--mode=send,stream", "--window=16", "--sizes=1:1M/2", *_FEW)),
    ("AB", ("--mode=send", "--sizes=1:1M/2", *_FEW)),
    ("AB", ("--mode=stream,bistream", "--window=16", "--sizes=1:64K/2", *_FEW)),
]
KERNELS = {"broadcast": "broadcast", "exchange": "alltoall"}


class Site:
    """The running testbed, and the folder of its records."""

    def __init__(self, name: str, mpi: str, folder: Path) -> None:
        self.name, self.mpi, self.folder = name, mpi, folder

    def launch(
        self, program: str, process_map: str, options: tuple[str, ...], record: str,
        settings: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Run a kernel with each rank on its node."""
        hosts = self.folder / f"{self.mpi}.hosts"
        hosts.write_text("".join(f"{NODES[ord(letter) - ord('A')]}\n" for letter in process_map))
        nodes = len(set(process_map))
        words = srun_words(self.mpi, nodes, len(process_map))
        run(
            self.name,
            [
                *(word for word in words if "per-node" not in word),
                "--distribution=arbitrary",
                kernel(self.mpi, program),
                *options,
                *(f"--label=site={SITE}", f"--label=environ={self.mpi}"),
                f"--label=placement={NEAR if nodes == 1 else FAR}",
                f"--record={self.folder / record}",
            ],
            {"SLURM_HOSTFILE": str(hosts), "UCX_TLS": "tcp,self"}
            | ({"OMPI_MCA_mpi_yield_when_idle": "1"} if len(process_map) > 2 else {})
            | (settings or {}),
            ROOT,
        )

    def fit(self, launches: int) -> SiteModel:
        """Measure ping-pongs, and fit."""
        folder = self.folder / "model"
        folder.mkdir()
        for turn in range(launches):
            for number, (process_map, options) in enumerate(PING_PONGS):
                self.launch("pingpong", process_map, options, f"model/{number}-{turn}.record")
        return fit_model(_read(folder), SITE)

    def compare(self, rules: RulesFolder, launches: int) -> None:
        """Measure each operation with the rules and without, in turn."""
        (self.folder / "checked").mkdir()
        with_rules = (f"--label={RULES_LABEL}={WITH}", f"--label={DIGEST_LABEL}={rules.digest}")
        without = (f"--label={RULES_LABEL}={WITHOUT}",)
        for turn in range(launches):
            for operation, program in KERNELS.items():
                sides = [(WITH, with_rules, rules.variables), (WITHOUT, without, {})]
                for side, labels, values in sides if turn % 2 else reversed(sides):
                    options = (
                        "--mode=library", f"--sizes={','.join(map(str, SIZES))}", *_FEW,
                        *labels,
                    )  # fmt: skip
                    record = f"checked/{operation}-{side}-{turn}.record"
                    self.launch(program, "ABCD", options, record, values)


def _read(folder: Path):
    found = read_files([folder]).measurements
    assert found is not None
    return found


def examine(name: str, mpi: str, folder: Path, launches: int) -> None:
    """Fit, recommend, write, check, and print what won."""
    folder.mkdir(parents=True)
    site = Site(name, mpi, folder)
    model = site.fit(launches)
    save_model(model, folder / "site-model.yaml")
    found = recommend(
        model, placement=FAR, about=["broadcast", "exchange"], ranks=[len(NODES)],
        nodes=len(NODES), sizes_bytes=SIZES,
    )  # fmt: skip
    rules = folder / "rules"
    library = MPICH_LIBRARY if MPICH_LIBRARY.exists() else None
    written = write_advice(found, rules, library)
    print_written(written)
    if written:
        site.compare(read_rules(rules), launches)
        found = check_advice(found, _read(folder / "checked"), folder / "checked", library)
    print_recommendation(found)


def main() -> None:
    """Print what was recommended, and what of it won."""
    options = parser(__doc__)
    add_count(options, "launches", 5, least=LEAST_LAUNCHES)
    add_mpis(options)
    options.add_argument("--keep", type=Path, metavar="FOLDER")
    given = options.parse_args()
    with testbed(shape=SHAPE) as name, tempfile.TemporaryDirectory(dir=".") as scratch:
        for mpi in given.mpis:
            examine(name, mpi, (given.keep or Path(scratch)).resolve() / mpi, given.launches)
    print("a recommendation that does not win is withdrawn")


if __name__ == "__main__":
    main()
