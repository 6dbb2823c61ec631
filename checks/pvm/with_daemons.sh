#!/bin/sh
# with_daemons.sh COMMAND...: runs COMMAND inside a Slurm job while a PVM daemon runs on each of the
# job's nodes, together one virtual machine. Exits as COMMAND does, or with 2 if PVM does not start.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
export PVM_ROOT="${PVM_ROOT:-/usr/lib/pvm3}"
export PVM_RSH="$here/start_daemon.sh" # Slurm starts the daemons, where PVM would use rsh
export PVM_VMID="$SLURM_JOB_ID"        # apart from other jobs' daemons on the same node
export PVM_ALLOW_ROOT=1                # PVM asks for it where root runs jobs, as in containers
patience_s=20

scontrol show hostnames "$SLURM_JOB_NODELIST" >pvm.hosts
wanted=$(wc -l <pvm.hosts)
pvmd pvm.hosts >pvmd.out 2>&1 &
trap '(echo halt | pvm) >pvm.halt 2>&1 || true' EXIT

joined() {
    # Before the daemon has named its socket, the console would start one of its own.
    [ -s pvmd.out ] && echo conf | pvm 2>/dev/null | sed -n 's/^\([0-9]*\) hosts\{0,1\}, .*/\1/p'
}

waited=0
until [ "$(joined)" = "$wanted" ]; do
    sleep 0.2
    waited=$((waited + 1))
    if [ "$waited" -ge $((5 * patience_s)) ]; then
        echo "PVM: $(joined) of $wanted hosts joined in $patience_s s: $(tail -n 1 pvmd.out)" >&2
        exit 2
    fi
done

"$@"
