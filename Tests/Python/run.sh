#!/bin/sh
# Tests the Python package in a venv made from the wheel. usage: run.sh WHEEL MODEL VENV [pytest's arguments]
# What can't be installed is left out, and the tests that need it say so.
set -eu
wheel=$1 model=$2 venv=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
case $venv in /*) ;; *) venv="$PWD/$venv" ;; esac
python=${PYTHON:-python3}
if ! [ -x "$venv/bin/python" ] && ! "$python" -m venv "$venv" 2>/dev/null; then
    rm -rf "$venv"
    echo "==> skipped the Python package: $python can't make a venv (python3-venv)"
    exit 0
fi
pip() { "$venv/bin/python" -m pip install -q --disable-pip-version-check "$@" 2>/dev/null; }
if ! "$venv/bin/python" -c 'import pytest' 2>/dev/null && ! pip pytest; then
    echo "==> skipped the Python package: pip can't install pytest (no network?)"
    exit 0
fi
for each in pydantic tqdm pandas polars pyarrow datasets pyright lm-eval llm; do
    mark="$venv/.has-$each"
    [ -f "$mark" ] && continue
    if pip "$each"; then touch "$mark"; else echo "==> pip can't install $each (no network?)"; fi
done
"$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --force-reinstall "$wheel"
PHIBATCH_DEMO_MODEL=$(cd "$model" && pwd)
export PHIBATCH_DEMO_MODEL
unset PHIBATCH_PROGRAM
cd "$here"
exec "$venv/bin/python" -B -m pytest -q -p no:cacheprovider -rs "$@" .
