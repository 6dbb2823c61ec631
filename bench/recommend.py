"""Holds recommended rules beside a library's own choice: broadcast and exchange on slow links.

A model is fitted to ping-pongs between two of four nodes with links of 100 Mbit/s. What
`model recommend` writes from it is then used by every second launch. With --keep the records stay
in FOLDER, with the model, so that `switchpoint model recommend --checked` can read them.
Usage: ``.venv/bin/python bench/recommend.py [LAUNCHES] [MPI...] [--keep FOLDER] [--smoke]``, three
or more; with --smoke few and short messages.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from arguments import add_count, add_mpis, parser
from on_testbed import ROOT, kernel, measured, run, sharing_cores, srun_words, testbed
from switchpoint import InputError, check_advice, fit_model, recommend, save_model, write_advice
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
#: The largest message of a smoke run.
SMALL = 16384
MPICH_LIBRARY = Path("/usr/lib/x86_64-linux-gnu/libmpich.so.12")

_FEW = ("--passes=3", "--samples=1", "--warmup=1")

#: What the model is fitted to: nodes of the two ranks, the kernel's options, the largest size.
PING_PONGS = [
    ("AA", ("--mode=send,stream", "--window=16"), 1 << 20),
    ("AB", ("--mode=send",), 1 << 20),
    ("AB", ("--mode=stream,bistream", "--window=16"), 64 << 10),
]
KERNELS = {"broadcast": "broadcast", "exchange": "alltoall"}


class Site:
    """The running testbed, the folder of its records, and whether it only shows that all works."""

    def __init__(self, name: str, mpi: str, folder: Path, smoke: bool) -> None:
        self.name, self.mpi, self.folder = name, mpi, folder
        self.largest = SMALL if smoke else max(SIZES)
        self.sizes = [size for size in SIZES if size <= self.largest]
        self.few = (*_FEW, f"--pass-time={1 if smoke else 50}")

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
            | (sharing_cores(self.mpi) if len(process_map) > 2 else {})
            | (settings or {}),
            ROOT,
        )

    def fit(self, launches: int) -> SiteModel:
        """Measure ping-pongs, and fit."""
        folder = self.folder / "model"
        folder.mkdir()
        for turn in range(launches):
            for number, (process_map, modes, most) in enumerate(PING_PONGS):
                sizes = f"--sizes=1:{min(most, self.largest)}/2"
                options = (*modes, sizes, *self.few)
                self.launch("pingpong", process_map, options, f"model/{number}-{turn}.record")
        return fit_model(measured([folder]), SITE)

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
                        "--mode=library", f"--sizes={','.join(map(str, self.sizes))}",
                        *self.few, *labels,
                    )  # fmt: skip
                    record = f"checked/{operation}-{side}-{turn}.record"
                    self.launch(program, "ABCD", options, record, values)


def examine(name: str, mpi: str, folder: Path, launches: int, smoke: bool) -> None:
    """Fit, recommend, write, check, and print what won."""
    folder.mkdir(parents=True)
    site = Site(name, mpi, folder, smoke)
    model = site.fit(launches)
    save_model(model, folder / "site-model.yaml")
    try:
        found = recommend(
            model, placement=FAR, about=["broadcast", "exchange"], ranks=[len(NODES)],
            nodes=len(NODES), sizes_bytes=site.sizes,
        )  # fmt: skip
    except InputError as error:  # other work on the cores can leave curves without a line
        print(f"{mpi}: nothing can be recommended: {error}")
        return
    rules = folder / "rules"
    library = MPICH_LIBRARY if MPICH_LIBRARY.exists() else None
    written = write_advice(found, rules, library)
    print_written(written)
    if written:
        site.compare(read_rules(rules), launches)
        found = check_advice(found, measured([folder / "checked"]), folder / "checked", library)
    print_recommendation(found)


def main() -> None:
    """Print what was recommended, and what of it won."""
    options = parser(__doc__)
    add_count(options, "launches", 5, least=LEAST_LAUNCHES)
    add_mpis(options)
    options.add_argument("--keep", type=Path, metavar="FOLDER")
    options.add_argument("--smoke", action="store_true", help="as little as possible")
    given = options.parse_args()
    with testbed(shape=SHAPE) as name, tempfile.TemporaryDirectory(dir=".") as scratch:
        for mpi in given.mpis:
            folder = (given.keep or Path(scratch)).resolve() / mpi
            examine(name, mpi, folder, given.launches, given.smoke)
    print("a recommendation that does not win is withdrawn")


if __name__ == "__main__":
    main()
