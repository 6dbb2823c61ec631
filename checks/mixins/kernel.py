"""What every check of our kernels does: build, run a sweep, keep the record, verify it."""

import re
import shlex
import shutil
from pathlib import Path

import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import (
    deferrable,
    fixture,
    run_after,
    run_before,
    sanity_function,
    variable,
)
from reframe.core.exceptions import SanityError
from reframe.core.logging import getlogger
from switchpoint.records.record import RecordError, read_facts

from .build import BuildsEnded, KernelBuild
from .image import image_of, in_image
from .placement import PlacementMixin


class KernelMixin(PlacementMixin):
    """One run of a kernel: a sweep over modes and sizes in one job.

    A child defines ``modes`` in its class body, ``kernel`` and ``num_tasks`` by the end of its
    init phase, and adds its performance variables after the sanity phase.
    """

    #: Name of the kernel's program.
    #:
    #: :type: :class:`str`
    kernel = variable(str)

    #: Modes to measure, in one random order with the sizes.
    #:
    #: :type: :class:`List[str]`
    modes = variable(typ.List[str])

    #: Message sizes in bytes.
    #:
    #: :type: :class:`List[int]`
    sizes_bytes = variable(typ.List[int])

    #: Passes over all points, so that drift affects all points in the same way.
    #:
    #: :type: :class:`int`
    passes = variable(int, value=5)

    #: Timed blocks per point and pass.
    #:
    #: :type: :class:`int`
    samples = variable(int, value=6)

    #: Minimum duration of a timed block in microseconds.
    #:
    #: :type: :class:`int`
    block_time_us = variable(int, value=200)

    #: Time limit of a point in one pass, in milliseconds.
    #:
    #: :type: :class:`int`
    pass_time_ms = variable(int, value=20)

    #: Later passes skip a point when its blocks have taken this long together, in milliseconds;
    #: 0: never.
    #:
    #: :type: :class:`int`
    point_time_ms = variable(int, value=0)

    #: Time limit for one mode at one size in seconds, as passes of `pass_time_ms`; 0: `passes`.
    #:
    #: :type: :class:`int`
    size_time_s = variable(int, value=0)

    #: Later passes skip a point when its median is known to this many percent; 0: never.
    #:
    #: :type: :class:`int`
    precision_percent = variable(int, value=0)

    #: How the calls of a collective start: ``agreed`` or ``barrier``. Empty: as the kernel decides.
    #:
    #: :type: :class:`str`
    start = variable(str, value="")

    #: Whose time counts in a collective: ``slowest``, ``mean`` or ``root``. Empty: the mode's.
    #:
    #: :type: :class:`str`
    time_of = variable(str, value="")

    #: Counters of the MPI library to record, by name, separated by commas.
    #:
    #: :type: :class:`str`
    mpi_counters = variable(str, value="")

    #: Record which protocols UCX chose.
    #:
    #: :type: :class:`bool`
    ucx_protocols = variable(bool, value=False)

    #: Size in MiB of the send buffers, and of the receive buffers, that are used in turn. With more
    #: than the last-level cache, messages are cold. 0 always uses the same buffers.
    #:
    #: :type: :class:`int`
    rotate_mib = variable(int, value=0)

    #: How many bytes after the start of a page the send buffer and the receive buffer begin.
    #:
    #: :type: :class:`int`
    buffer_offset_bytes = variable(int, value=0)

    #: Idle time in microseconds before each timed block, in which a link that throttles recovers.
    #:
    #: :type: :class:`int`
    pause_us = variable(int, value=0)

    #: Seed of the order; 0 uses a new one, which the record contains.
    #:
    #: :type: :class:`int`
    seed = variable(int, value=0)

    #: The kernels, built once for each programming environment.
    build = fixture(KernelBuild, scope="environment")

    #: Nothing is measured beside a build.
    builds_ended = fixture(BuildsEnded, scope="session")

    @run_after("init", always_last=True)
    def describe(self):
        """Describe the test in the listing."""
        self.descr = f"{self.kernel} ({', '.join(self.modes)}) on {self.placement}"

    @run_before("run")
    def prepare_run(self):
        """Pass the sweep to the kernel, with labels that name the run in the record."""
        self.record = f"{self.kernel}.record"
        self.keep_files = [self.record, *self.build.files_to_keep]
        self.executable = self.started(self.build)
        labels = self.run_labels | self.build.provenance
        if image_of(self):
            labels |= {"container_image": image_of(self)}
        self.executable_opts = [
            f"--mode={','.join(self.modes)}",
            f"--sizes={','.join(map(str, self.sizes_bytes))}",
            f"--passes={self.most_passes}",
            f"--samples={self.samples}",
            f"--block-time={self.block_time_us}",
            f"--pass-time={self.pass_time_ms}",
            f"--point-time={self.point_time_ms}",
            f"--precision={self.precision_percent}",
            f"--time-budget={self.time_budget_s}",
            f"--rotate={self.rotate_mib}",
            f"--buffer-offset={self.buffer_offset_bytes}",
            f"--pause={self.pause_us}",
            f"--record={self.record}",
            *(f"--label={key}={value}" for key, value in labels.items()),
        ]
        if self.start:
            self.executable_opts.append(f"--start={self.start}")
        if self.time_of:
            self.executable_opts.append(f"--time-of={self.time_of}")
        if self.mpi_counters:
            self.executable_opts.append(f"--mpi-counters={self.mpi_counters}")
        if self.ucx_protocols:
            self.executable_opts.append("--ucx-protocols")
        if self.seed:
            self.executable_opts.append(f"--seed={self.seed}")

    def started(self, build):
        """The command of the kernel that a build made, in the environment's image if it has one."""
        program = shlex.quote(build.program(self.kernel))
        return in_image(self, program, build.programs)

    @run_before("run", always_last=True)
    def tell_how_it_is_started(self):
        """Write what is needed to start the ranks again as labels of the record.

        Then the arguments are complete. Each is one word of the job script, whatever it contains:
        ``-S`` sets some of them, and a label may quote others. ReFrame gives the job its numbers
        of tasks only after these hooks, but launchers such as ``mpiexec`` write them.
        """
        job, launcher = self.job, self.job.launcher
        job.num_tasks = self.num_tasks
        job.num_tasks_per_node = self.num_tasks_per_node
        job.num_cpus_per_task = self.num_cpus_per_task
        words = {
            "launch": [*launcher.command(job), *launcher.options],
            "scheduler_options": [
                option for option in [*job.sched_access, *job.options] if option.startswith("-")
            ],
            "modules": [*self.current_partition.local_env.modules, *self.current_environ.modules],
        }
        labels = {
            name: shlex.join(word for option in options for word in shlex.split(option))
            for name, options in words.items()
        }
        self.executable_opts += [f"--label={key}={value}" for key, value in labels.items() if value]
        self.executable_opts = [shlex.quote(word) for word in self.executable_opts]

    @property
    def most_passes(self):
        """Passes that fit into `size_time_s`, or otherwise `passes`."""
        if self.size_time_s == 0:
            return self.passes
        return max(1, self.size_time_s * 1000 // self.pass_time_ms)

    @property
    def time_budget_s(self):
        """Seconds for the sweep: the step's limit without its start and end.

        On a machine with other users a sweep may then end early with a complete record.
        """
        return max(1, self.step_limit_s * 3 // 4)

    @run_after("setup")
    def take_references(self):
        """Set the site's references for the performance variables, if it has any."""
        references = self.current_partition.extras.get("references", {})
        expected = references.get(self.current_environ.name, {}).get(self.placement, {})
        self.reference = {self.current_partition.fullname: expected}

    @run_after("sanity")
    def keep_the_record(self):
        """Copy the record of a successful run to the output folder at once.

        ReFrame itself copies ``keep_files`` only at the end. It never copies those of a check if
        another check that depends on it is skipped or fails.
        """
        if not self.is_dry_run():
            shutil.copy2(Path(self.stagedir, self.record), self.outputdir)

    @sanity_function
    def validate_run(self):
        """Assert the end marker, the record, every point, the payload and the placement.

        ReFrame prints the first failure as the reason, so the assertions are ordered from cause to
        effect.
        """
        self.facts = sn.evaluate(self.read_complete_record())
        self.points = {(p["mode"], p["size_bytes"]): p for p in self.facts.footer["points"]}
        missing = self.missing_points()
        verification = self.facts.footer["verification"]
        refuted = self.refutations(self.facts.header, self.facts.footer)
        return sn.all(
            [
                sn.assert_eq(verification["errors"], 0, "{0} payloads arrived damaged"),
                sn.assert_gt(verification["checks"], 0, "no payload was checked"),
                sn.assert_false(
                    missing, f"points without a sample: {', '.join(missing[:8])}{self.shortage}"
                ),
                sn.assert_false(
                    refuted, f"placement '{self.placement}' is refuted: {'; '.join(refuted)}"
                ),
            ]
        )

    @property
    def shortage(self):
        """Why points may be missing, if the record shows it."""
        if not self.facts.footer.get("shortened"):
            return ""
        return (
            f"; {self.time_budget_s} s are not enough for one pass: end other programs here, or "
            f"raise -S step_limit_s={self.step_limit_s}"
        )

    def missing_points(self):
        """Names of points that have no sample: of the modes asked for, and those of algorithms."""
        planned = self.facts.header["plan"]["modes"]
        return [
            f"{mode} {size} B"
            for mode in dict.fromkeys([*self.modes, *planned])
            for size in self.sizes_bytes
            if not self.points.get((mode, size), {"count": 0})["count"]
        ]

    def median_us(self, mode, size_bytes):
        """Median time per message of a point; only after sanity."""
        return self.points[mode, size_bytes]["median_us"]

    @deferrable
    def read_complete_record(self):
        """Header and footer of the record, or the reason why there is none.

        If a step was ended and its record is complete, it hung in ``MPI_Finalize``, as MPICH
        sometimes does over UCX's TCP (openucx issue 8738). Its measurements count.
        """
        stdout = Path(sn.evaluate(self.stdout)).read_text(errors="replace")
        if not re.search(r"^switchpoint: complete ", stdout, re.MULTILINE):
            sn.evaluate(self.assert_ended_in_time())
            raise SanityError(f"no end marker; exit code {self.job.exitcode}; {self.complaint}")
        if self.ended_by:
            getlogger().warning(
                f"{self.display_name}: {self.ended_by}, after its record was complete: MPI hung in "
                f"MPI_Finalize; the record counts"
            )
        try:
            facts = read_facts(self.record)
        except RecordError as error:
            raise SanityError(str(error)) from error
        if not facts.complete:
            what = "; ".join(warning.message for warning in facts.warnings)
            raise SanityError(f"{self.record}: {what}")
        return facts
