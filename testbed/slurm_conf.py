"""The configuration of Slurm for a shape, and the script that binds ranks to cores.

They are written into one folder, which only the testbed's processes see as /etc/slurm.
"""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from testbed.errors import TestbedError
from testbed.fabric import CONTROLLER_ADDRESS
from testbed.shape import Shape

CONTROLLER = "ctl"
CONTROLLER_PORT = 6817
PARTITION = "batch"
# Folders in the testbed's own /run
RUN_MUNGE = Path("/run/munge")
RUN_SLURM = Path("/run/slurm")

#: Every node believes that it owns core 0, so mpirun and MPI would bind all ranks there.
NO_BINDING = {
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "I_MPI_PIN": "0",
}

_SLURM_CONF = """\
ClusterName=testbed
SlurmctldHost={controller}({controller_address})
SlurmctldPort={controller_port}
SlurmdPort=6818
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
StateSaveLocation={run}/ctld
SlurmdSpoolDir={run}/%n
SlurmctldPidFile={run}/slurmctld.pid
SlurmdPidFile={run}/slurmd-%n.pid
MailProg=/bin/true

# No accounting and no control groups: this starts fast and leaves nothing behind.
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/none
ProctrackType=proctrack/linuxproc

# A node claims more CPUs than the machine has, so that a job's ranks fit on one node. Every
# node believes that it owns core 0, so Slurm must not bind ranks: the task prolog does.
SlurmdParameters=config_overrides
TaskPlugin=task/none
TaskProlog=/etc/slurm/task-prolog
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none

# A topology of switches. The controller talks to each node directly.
TopologyPlugin=topology/tree
TreeWidth=65533

# Schedule at once.
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=1,sched_interval=1
EpilogMsgTime=0
ScronParameters=enable

# Notice faults early, do not hide them by running a job again, and recover without a person.
SlurmdTimeout=10
MessageTimeout=5
TCPTimeout=2
KillWait=2
OverTimeLimit=0
CompleteWait=0
JobRequeue=0
ReturnToService=2

{nodes}
PartitionName={partition} Nodes=ALL Default=YES MaxTime=60 DefaultTime=10 State=UP
"""

#: PMIx's fences pass from node to node. Over the tree of Slurm 22.05 (its choice for fences
#: without data) ranks leave MPI_Init before others are ready for messages, and Open MPI 4.1.4
#: crashes: in 18 of 58 launches of four ranks on two nodes. It crashes in 2 of 97 with Slurm's
#: mixture, and in none of 61 over the ring.
_MPI_CONF = "PMIxCollFence=ring\n"

_TASK_PROLOG = """\
#!/bin/sh
# Binds the rank that starts ($PPID) to a core of the machine, by its number in the job.
# Slurm adds what this prints to the rank's environment.
@exports@

# Only tasks that an MPI plugin of Slurm made ranks are bound. Batch scripts are not bound, and the
# daemons of mpirun are not: each would keep all its ranks on one core.
[ -n "$PMIX_RANK$PMI_RANK" ] || exit 0
set -- @cpus@
shift $((SLURM_PROCID % $#))
taskset -cp "$1" "$PPID" >/dev/null 2>&1
exit 0
"""


def write(shape: Shape, folder: Path) -> None:
    """Write slurm.conf, mpi.conf, topology.conf, the task prolog and hosts into `folder`."""
    (folder / "slurm.conf").write_text(_slurm_conf(shape))
    (folder / "mpi.conf").write_text(_MPI_CONF)
    (folder / "hosts").write_text(_hosts(shape))
    (folder / "topology.conf").write_text(_topology(shape))
    prolog = folder / "task-prolog"
    prolog.write_text(_task_prolog())
    prolog.chmod(0o755)


def _task_prolog() -> str:
    exports = "\n".join(f"echo export {name}={value}" for name, value in NO_BINDING.items())
    cpus = " ".join(map(str, _cpus_in_order()))
    return _TASK_PROLOG.replace("@exports@", exports).replace("@cpus@", cpus)


def run_folders(shape: Shape) -> list[Path]:
    """Return the folders that munge, the controller and each node need, parents first."""
    names = ["ctld", *shape.nodes()]
    return [RUN_MUNGE, RUN_SLURM, *(RUN_SLURM / name for name in names)]


def _slurm_conf(shape: Shape) -> str:
    nodes = "\n".join(
        f"NodeName={node} NodeAddr={shape.address(node)} CPUs={shape.cpus_per_node} "
        f"Feature=host_{shape.host_of(node)} State=UNKNOWN"
        for node in shape.nodes()
    )
    return _SLURM_CONF.format(
        controller=CONTROLLER,
        controller_address=CONTROLLER_ADDRESS,
        controller_port=CONTROLLER_PORT,
        user=_user(),
        run=RUN_SLURM,
        nodes=nodes,
        partition=PARTITION,
    )


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        raise TestbedError(
            f"user id {os.getuid()} has no name in /etc/passwd, which Slurm needs: add the user"
        ) from None


def _topology(shape: Shape) -> str:
    # Switches by name: Slurm refuses ranges of letters.
    lines = [
        f"SwitchName=host_{host} Nodes={','.join(shape.nodes_of(host))}" for host in shape.hosts
    ]
    switches = ",".join(f"host_{host}" for host in shape.hosts)
    return "\n".join([*lines, f"SwitchName=core Switches={switches}", ""])


def _hosts(shape: Shape) -> str:
    """The /etc/hosts of the controller and all nodes."""
    lines = ["127.0.0.1 localhost", f"{CONTROLLER_ADDRESS} {CONTROLLER}"]
    lines += [f"{shape.address(node)} {node}" for node in shape.nodes()]
    return "\n".join([*lines, ""])


def _cpus_in_order() -> list[int]:
    """Return the CPUs of this process: first one of each core, then their siblings."""
    allowed = sorted(os.sched_getaffinity(0))
    seen: dict[str, int] = {}
    order = []
    for cpu in allowed:
        core = _core(cpu)
        order.append((seen.get(core, 0), cpu))
        seen[core] = seen.get(core, 0) + 1
    return [cpu for _, cpu in sorted(order)]


def _core(cpu: int) -> str:
    topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return topology.read_text().strip() if topology.exists() else str(cpu)
