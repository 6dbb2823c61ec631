#!/bin/sh
# with_daemons.sh COMMAND...: runs COMMAND inside a Slurm job with a PVM daemon on each of its nodes.
# The daemons are one virtual machine. The exit code is that of COMMAND, or 2 if PVM does not start.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
export PVM_ROOT="${PVM_ROOT:-/usr/lib/pvm3}"
export PVM_RSH="$here/start_daemon.sh" # Slurm starts the daemons instead of rsh
export PVM_VMID="$SLURM_JOB_ID"        # separates them from other jobs' daemons on the same node
export PVM_ALLOW_ROOT=1                # PVM needs it if root runs jobs, as in containers
patience_s=20

scontrol show hostnames "$SLURM_JOB_NODELIST" >pvm.hosts
wanted=$(wc -l <pvm.hosts)
pvmd pvm.hosts >pvmd.out 2>&1 &
trap '(echo halt | pvm) >pvm.halt 2>&1 || true' EXIT

joined() {
    # Until the daemon has named its socket, the console would start another daemon.
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
