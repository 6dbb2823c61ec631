#!/usr/bin/env bash
# Installs the missing Debian packages of the lists in the given files.
# It needs root, or sudo without a password. Otherwise it prints the missing packages and exits with 2.
# On other systems it installs nothing and prints which programs are missing.
set -euo pipefail

log=${SWITCHPOINT_SETUP_LOG:-build/setup.log}

if ! command -v dpkg-query >/dev/null; then
    missing=
    for program in make git cmake cc mpicc ip tc unshare nsenter munged slurmctld slurmd srun; do
        PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || missing="$missing $program"
    done
    [ -n "$missing" ] || exit 0
    echo "setup: this target starts the testbed. It needs these programs, which are missing here:$missing" >&2
    echo "  This system is not Debian or Ubuntu: install them with your package manager." >&2
    echo "  You do not need them to measure on an existing cluster: see docs/how-to/new-site.md." >&2
    exit 2
fi

# A name with a trailing '?' is an optional package; the others are required.
names=$(sed 's/#.*//' "$@" | tr -s '[:space:]' '\n')
required=$(echo "$names" | grep -v '?$' || true)
optional=$(echo "$names" | sed -n 's/?$//p')

# Installed packages and the names that they provide (libpmix2t64 provides libpmix2).
installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}, ${Provides}\n' |
    sed -n 's/^installed //p' | sed 's/([^)]*)//g' | tr -d ' ' | tr ',' '\n' | sort -u)

# lacking NAMES: prints those that no installed package provides, one per line.
lacking() {
    echo "$1" | while read -r name; do
        # no pipe: grep ends at the name, and what feeds it would fail
        [ -z "$name" ] || grep -qxF "$name" <<<"$installed" || echo "$name"
    done
}

missing=$(lacking "$required")
wished=$(lacking "$optional")

# Packages that the system does not have are looked up once, until the lists here change.
unavailable=build/setup.unavailable
for list in "$@" setup/packages.sh; do
    [ "$unavailable" -nt "$list" ] || rm -f "$unavailable"
done
if [ -e "$unavailable" ]; then
    wished=$(echo "$wished" | grep -vxFf "$unavailable" || true)
fi
[ -n "$missing$wished" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root=sudo
elif [ -z "$missing" ]; then
    exit 0
else
    echo "setup: these Debian packages are missing; ask root to run" >&2
    echo "  apt-get install --no-install-recommends $(echo "$missing" | paste -sd' ')" >&2
    exit 2
fi

# apt WORDS: runs apt-get as root, and waits until another apt-get has ended.
apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
        apt-get --option=DPkg::Lock::Timeout=600 --yes "$@"
}

failed() {
    echo "setup: apt-get failed; the end of $log:" >&2
    tail -n 5 "$log" >&2
    exit 2
}

mkdir -p "$(dirname "$log")" build
if ! apt update >"$log" 2>&1; then
    [ -n "$missing" ] || exit 0 # optional packages can wait for a network
    failed
fi
for name in $wished; do
    if apt-cache show "$name" >/dev/null 2>&1; then
        missing="$missing $name"
    else
        echo "$name" >>"$unavailable"
        echo "== optional package $name: this system does not have it"
    fi
done
missing=$(echo "$missing" | paste -sd' ')
case $missing in *[!\ ]*) ;; *) exit 0 ;; esac

echo "== Debian packages: $missing"
# The testbed starts Slurm and munge in its own namespaces, so the packages must not start them.
# shellcheck disable=SC2086  # the list must be split into words
apt install --no-install-recommends $missing >>"$log" 2>&1 || failed
