"""Compares the session with those before it, when all its other checks have ended.

ReFrame's own report then says what became slower, and with what confidence.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import reframe as rfm
import reframe.core.runtime as rt
from reframe.core.builtins import deferrable, run_after, run_before, sanity_function, variable
from reframe.core.exceptions import ReframeError, SanityError
from reframe.core.logging import getlogger

from .mixins.session import OwnStageMixin, SessionEnd, leave_slots, session_name

#: Exit codes of `switchpoint gate`.
PASSES, FAILS = 0, 1


@rfm.simple_test
class Gate(rfm.RunOnlyRegressionTest, OwnStageMixin, special=True):
    """Imports what the session measured, and fails if `switchpoint gate` fails.

    It also fails if a check of the session failed or was skipped: what was not measured cannot be
    compared.
    """

    descr = "compare this session with those before it"
    tags = {"nightly"}
    sourcesdir = None
    local = True
    executable = "true"

    #: The store, a folder or an fsspec URL; a relative folder is in the folder where ReFrame runs.
    #:
    #: :type: :class:`str`
    store = variable(str, value="results")

    #: More options of ``switchpoint gate``, separated by spaces, such as ``--history=60``.
    #:
    #: :type: :class:`str`
    gate_options = variable(str, value="")

    @run_after("init")
    def choose_one_partition(self):
        """Run once in a session, in any partition and environment."""
        offered = rt.valid_sysenv_comb(["*"], ["*"])
        for partition, environs in offered.items():
            if environs:
                self.valid_systems = [partition.fullname]
                self.valid_prog_environs = [environs[0].name]
                break
        if "://" not in self.store:
            self.store = str(Path(self.store).absolute())

    @run_before("run")
    def meet_the_others(self):
        """Look up the session's other checks."""
        self.skip_if(self.is_dry_run(), "needs measurements, and a dry run makes none")
        leave_slots(2)  # this check, and the wait for the builds
        self.session_end = SessionEnd(self)

    def run_complete(self):
        """Return whether there is nothing more to wait for; ReFrame asks again and again."""
        return super().run_complete() and self.session_end.has_come()

    @sanity_function
    def validate_session(self):
        """Assert that all checks passed, and that nothing became worse."""
        return self.assert_no_finding()

    @deferrable
    def assert_no_finding(self):
        """Fail with one sentence for each finding."""
        outcomes = [one for one in self.session_end.outcomes() if one.result != "fail_deps"]
        folders = [outcome.folder for outcome in outcomes if outcome.folder]
        if not folders:
            reasons = [f"{one.name}: {one.reason}" for one in outcomes if one.reason]
            raise SanityError("; ".join(["the session measured nothing", *reasons]))
        self.call("import", *folders)
        judged = self.call(
            *("gate", f"--session={session_name()}", "--json"),
            *self.reports(outcomes),
            *self.gate_options.split(),
        )
        verdict = json.loads(judged.stdout)
        for warning in verdict["warnings"]:
            getlogger().warning(warning)
        failing = [finding["sentence"] for finding in verdict["findings"] if finding["fails"]]
        if failing:
            raise SanityError("; ".join(failing))
        return True

    def reports(self, outcomes):
        """Options that name the other checks, and that write the findings for other programs.

        The others are named as in ReFrame's run report, which does not exist yet.
        """
        cases = [
            {"display_name": one.name, "result": one.result, "fail_reason": one.reason}
            for one in outcomes
        ]
        report, folder = Path(self.stagedir, "session.json"), Path(self.outputdir)
        report.write_text(json.dumps({"runs": [{"testcases": cases}]}))
        return [
            f"--reframe-report={report}",
            f"--junit={folder / 'gate.xml'}",
            f"--markdown={folder / 'gate.md'}",
        ]

    def call(self, verb, *words):
        """Run a verb of the command on the store; its one line of complaint is the reason."""
        done = subprocess.run(
            [sys.executable, "-m", "switchpoint", verb, f"--store={self.store}", *words],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "NO_COLOR": "1"},
        )
        if done.returncode not in (PASSES, FAILS):
            raise ReframeError(f"switchpoint {verb}: {last_line(done.stderr)}")
        return done


def last_line(text):
    """The last line that a command printed, without its name."""
    lines = text.strip().splitlines() or ["no message"]
    return lines[-1].removeprefix("switchpoint: ")
