#!/bin/sh
# start_daemon.sh HOST [-l USER] COMMAND...: what PVM calls in place of rsh to start a slave daemon.
# -f keeps the daemon from leaving the job step, which Slurm would take for its end.
set -eu

host=$1
shift
[ "$1" != -l ] || shift 2
exec srun --overlap --nodes=1 --ntasks=1 --nodelist="$host" sh -c "$* -f"
