#!/bin/sh
# Installs the Debian packages listed in the given files, as far as they are missing.
# As root, or with sudo that asks for no password; else says which are missing and exits with 2.
set -eu

log=${SWITCHPOINT_SETUP_LOG:-build/setup.log}

if ! command -v dpkg-query >/dev/null; then
    echo "setup: not Debian or Ubuntu: install what $1 lists in your system's way, then" >&2
    echo "  run the checks as docs/how-to/new-site.md says" >&2
    exit 2
fi

wanted=$(sed 's/#.*//' "$@" | tr -s ' \n' ' ')

missing=
for package in $wanted; do
    case $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) in
    installed) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root=sudo
else
    echo "setup: these Debian packages are missing; have them installed with" >&2
    echo "  apt-get install --no-install-recommends$missing" >&2
    exit 2
fi

echo "== Debian packages:$missing"
mkdir -p "$(dirname "$log")"
# Slurm and munge are to be started by the testbed, in its own namespaces, not by the packages.
# shellcheck disable=SC2086  # both lists are to be split into words
if ! {
    $as_root apt-get update &&
        $as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
            apt-get install --yes --no-install-recommends $missing
} >"$log" 2>&1; then
    echo "setup: apt-get failed; the end of $log:" >&2
    tail -n 5 "$log" >&2
    exit 2
fi
