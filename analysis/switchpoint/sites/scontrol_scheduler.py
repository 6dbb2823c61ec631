"""A ReFrame scheduler for Slurm without accounting: it reads ``scontrol show job``.

Unlike ``squeue`` it knows a finished job's exit code, node list and reason, and unlike ``slurm``
it needs no slurmdbd. An abnormal end becomes an error message.

A scheduler sets a job's ``_state``, ``_nodespec``, ``_exitcode`` and ``_exception``, as those of
ReFrame do: ReFrame 4.10 has public properties that read them, and none that set them.
"""

from __future__ import annotations

import os
import re
import time
from typing import Any

import reframe.utility.osext as osext
from reframe.core.backends import register_scheduler
from reframe.core.exceptions import JobError
from reframe.core.schedulers.slurm import (
    SlurmJobScheduler,
    slurm_state_completed,
    slurm_state_pending,
)

#: How often to ask Slurm while a job prints nothing. Every question starts a program on the head
#: node, which on the testbed is the machine that is being measured.
QUIET_INTERVAL_S = 2.0
#: A kernel prints when it is done: ask without delay for this long after new output.
LIVELY_S = 1.5

#: States that a sanity function should not guess from a missing pattern.
ABNORMAL = ("BOOT_FAIL", "CANCELLED", "DEADLINE", "NODE_FAIL", "OUT_OF_MEMORY", "TIMEOUT")


@register_scheduler("scontrol")
class ScontrolJobScheduler(SlurmJobScheduler):  # type: ignore[misc]
    """Slurm jobs, polled rarely with ``scontrol -o show job``."""

    def __init__(self) -> None:
        super().__init__()
        self._asked_at: dict[str, float] = {}
        self._moved_at: dict[str, float] = {}
        self._output_bytes: dict[str, int] = {}
        self._reasons: dict[str, str] = {}

    def poll(self, *jobs: Any) -> None:
        """Update the state of the jobs that are due."""
        for job in jobs:
            if job is not None and self._is_due(job):
                self._asked_at[job.jobid] = time.monotonic()
                self._update(job)
        self._cancel_if_pending_too_long([job for job in jobs if job is not None])

    def _cancel_if_pending_too_long(self, jobs: Any) -> None:
        """Report why a cancelled job did not start, which ReFrame itself does not."""
        super()._cancel_if_pending_too_long(jobs)
        for job in jobs:
            if job.is_cancelling and slurm_state_pending(job.state) and job.exception is None:
                job._exception = JobError(
                    f"Slurm did not start the job within {job.max_pending_time:g} s "
                    f"(Reason={self._reasons.get(job.jobid)})",
                    job.jobid,
                )

    def wait(self, job: Any) -> None:
        """Wait for one job, as ReFrame's serial execution policy does."""
        while not self.finished(job):
            self.poll(job)
            time.sleep(0.05)

    def _is_due(self, job: Any) -> bool:
        now = time.monotonic()
        # If asked by name for a file that does not exist yet, NFS answers for half a minute that it
        # does not. A folder that is listed is read again.
        with os.scandir(job.workdir) as entries:
            output = sum(
                entry.stat().st_size for entry in entries if entry.name in (job.stdout, job.stderr)
            )
        if output != self._output_bytes.get(job.jobid, 0):
            self._output_bytes[job.jobid] = output
            self._moved_at[job.jobid] = now
        lively = now - self._moved_at.get(job.jobid, -LIVELY_S) < LIVELY_S
        return lively or now - self._asked_at.get(job.jobid, 0.0) >= QUIET_INTERVAL_S

    def _update(self, job: Any) -> None:
        completed = osext.run_command(f"scontrol -o show job {job.jobid}", log=False)
        fields = dict(re.findall(r"(\w+)=(\S*)", completed.stdout))
        if "JobState" not in fields:
            # slurmctld forgets finished jobs after MinJobAge; if the end of a job was not seen,
            # the job must not count as successful.
            if "Invalid job id" in completed.stderr:
                job._state = "CANCELLED"
                job._exception = JobError("Slurm no longer knows the job", job.jobid)
            return
        job._state = fields["JobState"]
        job._nodespec = fields.get("NodeList", "")
        self._reasons[job.jobid] = fields.get("Reason", "unknown")
        if not slurm_state_completed(job.state):
            self._cancel_if_blocked([job], {job.jobid: [fields.get("Reason", "")]})
            return
        exit_code, _, signal = fields.get("ExitCode", "0:0").partition(":")
        job._exitcode = int(exit_code) or (128 + int(signal) if int(signal) else 0)
        if job.state in ABNORMAL and not job.is_cancelling:
            job._exception = JobError(
                f"Slurm ended the job with {job.state} (Reason={fields.get('Reason')}) "
                f"on {job._nodespec}",
                job.jobid,
            )
