#!/bin/sh
# Tests the Python package in a venv made from the wheel. usage: run.sh WHEEL MODEL VENV [pytest's arguments]
set -eu
wheel=$1 model=$2 venv=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
case $venv in /*) ;; *) venv="$PWD/$venv" ;; esac
"$here/venv.sh" "$venv"
[ -x "$venv/bin/python" ] || exit 0
if ! "$venv/bin/python" -c 'import pytest' 2>/dev/null; then
    echo "==> skipped the Python package: pip can't install pytest (no network?)"
    exit 0
fi
"$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --force-reinstall "$wheel"
PHIBATCH_DEMO_MODEL=$(cd "$model" && pwd)
PYTHONPYCACHEPREFIX="$venv/pycache"
export PHIBATCH_DEMO_MODEL PYTHONPYCACHEPREFIX
unset PHIBATCH_PROGRAM
cd "$here"
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider -rs "$@" .
