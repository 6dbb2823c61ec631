#!/usr/bin/env bash
# Makes or updates a Python environment with the locked packages and this checkout (editable).
# Arguments: the folder of the environment, and the Python to use (3.10 to 3.13).
# An environment that this script did not make is used unchanged.
set -euo pipefail

venv=$1
python=${2:-python3}
log=${SWITCHPOINT_SETUP_LOG:-build/setup.log}
made_here=$venv/.made-by-switchpoint
installed=$venv/.installed

if [[ -e $venv && ! -e $made_here && ! -e $installed ]]; then
    for program in switchpoint testbed reframe; do
        if [[ ! -x $venv/bin/$program ]]; then
            echo "setup: this Makefile did not make $venv and does not change it, but it has no $program;" >&2
            echo "  install it there with: $venv/bin/python -m pip install --editable '.[checks]'" >&2
            echo "  or use another folder: make VENV=.venv-switchpoint" >&2
            exit 2
        fi
    done
    exit 0
fi
if [[ $installed -nt pyproject.toml && $installed -nt requirements/dev.lock ]]; then
    exit 0
fi

if ! "$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))'; then
    echo "setup: Python 3.10 to 3.13 is needed, but $python is $("$python" --version 2>&1);" >&2
    echo "  choose another one: make PYTHON=python3.12" >&2
    exit 2
fi
# uv is installed first, into the environment. It installs the rest in seconds.
uv_version=$(sed -n 's/^uv==\([0-9.]*\).*/\1/p' requirements/dev.lock)

failed() {
    echo "setup: could not make $venv; the end of $log:" >&2
    tail -n 5 "$log" >&2
    exit 2
}

echo "== Python packages into $venv"
mkdir -p "$(dirname "$log")" "$venv"
touch "$made_here"
{
    "$python" -m venv "$venv" &&
        "$venv/bin/python" -m pip install --disable-pip-version-check "uv==$uv_version" &&
        "$venv/bin/uv" pip sync --python "$venv/bin/python" --require-hashes requirements/dev.lock &&
        "$venv/bin/uv" pip install --python "$venv/bin/python" --no-deps --editable .
} >"$log" 2>&1 || failed
# Ubuntu 24.04's MPICH 4.2.0 is built with PMIx. With PMIx Slurm starts it on one node only.
interface_of=$("$venv/bin/python" -c \
    'from switchpoint.sites.launching import interface_of; print(interface_of("mpicc.mpich"))')
if [[ $interface_of == pmix ]]; then
    echo "== MPICH from PyPI, because this system's MPICH does not start on two nodes under Slurm"
    "$venv/bin/uv" pip install --python "$venv/bin/python" --require-hashes \
        --requirements requirements/mpich.lock >>"$log" 2>&1 || failed
fi
touch "$installed"
