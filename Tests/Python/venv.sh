#!/bin/sh
# Makes the venv in which the Python package is tested, or says why there is none. usage: venv.sh VENV
# What can't be installed is left out, and the tests that need it say so. Bytecode is made of what is imported only: all
# of it would take as long as the tests.
set -eu
venv=$1
python=${PYTHON:-python3}
packages="pytest pydantic pandas polars pyarrow duckdb-cli datasets pyright lm-eval[api] transformers llm openai moto[server] huggingface_hub"
if ! [ -x "$venv/bin/python" ] && ! "$python" -m venv "$venv" 2>/dev/null; then
    rm -rf "$venv"
    echo "==> skipped the Python package: $python can't make a venv (python3-venv)"
    exit 0
fi
[ -f "$venv/.has-all" ] && exit 0
pip() { "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-compile "$@" 2>/dev/null; }
if pip $packages; then
    touch "$venv/.has-all"
    exit 0
fi
for each in $packages; do
    pip "$each" || echo "==> pip can't install $each (no network?)"
done
