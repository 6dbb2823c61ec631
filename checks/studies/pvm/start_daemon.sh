#!/bin/sh
# start_daemon.sh HOST [-l USER] COMMAND...: PVM calls this instead of rsh to start a slave daemon.
# -f keeps the daemon in the job step. Otherwise Slurm would regard the step as ended.
set -eu

host=$1
shift
[ "$1" != -l ] || shift 2
exec srun --overlap --nodes=1 --ntasks=1 --nodelist="$host" sh -c "$* -f"
