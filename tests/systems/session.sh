#!/usr/bin/env bash
# Does what a new user of a system does, in three accounts: one with sudo, one without, and root.
# Runs as root in a new userland with the checkout at /src. The output of each step goes to /results.
set -uo pipefail

# as ACCOUNT STEP COMMANDS: runs the commands in a new clone of the account; stores the exit code.
as() {
    local account=$1 step=$2 home
    home=$(getent passwd "$account" | cut -d: -f6)
    rm -rf "$home/switchpoint"
    local start=$SECONDS
    su "$account" -s /bin/bash -c "set -e; cd; git clone --quiet /src switchpoint; cd switchpoint; $3" \
        >"/results/$step.log" 2>&1
    echo "$? $((SECONDS - start))" >"/results/$step.exit"
}

useradd --create-home someone
useradd --create-home colleague
echo 'someone ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/someone
git config --system --add safe.directory '*'

explain='.venv/bin/switchpoint explain --json'
smoke="make up measure TAG=smoke; make down"
as someone run "make run; $explain >switches.json"
cp ~someone/switchpoint/switches.json /results/ 2>/dev/null
as colleague colleague "$smoke"
as root root "$smoke"

for command in 'slurmd -V' 'mpiexec.openmpi --version' mpichversion 'python3 --version'; do
    echo "${command%% *}: $($command 2>&1 | grep -m1 -oE '[0-9]+\.[0-9]+(\.[0-9]+)?')"
done >/results/versions
