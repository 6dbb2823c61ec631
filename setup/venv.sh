#!/bin/sh
# Makes .venv with the locked Python packages and this checkout, editable.
# Argument: the Python to use, 3.10 to 3.13.
set -eu

python=${1:-python3}
log=${SWITCHPOINT_SETUP_LOG:-build/setup.log}

if ! "$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))'; then
    echo "setup: $("$python" --version) will not do; give one from 3.10 to 3.13: make PYTHON=python3.12" >&2
    exit 2
fi
# uv lives in the environment too: once there, it installs the rest in seconds.
uv_version=$(sed -n 's/^uv==\([0-9.]*\).*/\1/p' requirements/dev.lock)

mkdir -p "$(dirname "$log")"
if ! {
    "$python" -m venv .venv &&
        .venv/bin/python -m pip install --disable-pip-version-check "uv==$uv_version" &&
        .venv/bin/uv pip sync --python .venv/bin/python --require-hashes requirements/dev.lock &&
        .venv/bin/uv pip install --python .venv/bin/python --no-deps --editable .
} >"$log" 2>&1; then
    echo "setup: making .venv failed; the end of $log:" >&2
    tail -n 5 "$log" >&2
    exit 2
fi
