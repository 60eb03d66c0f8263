"""The package as it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from conftest import needs

import phibatch

BIN = Path(sys.executable).parent


def run(*arguments: Any, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(one) for one in arguments], capture_output=True, text=True, check=False, timeout=600, **more
    )


def test_program_and_module_are_the_same() -> None:
    version = f"phibatch {phibatch.__version__}\n"
    assert run(BIN / "phibatch", "--version").stdout == version
    assert run(sys.executable, "-m", "phibatch", "--version").stdout == version
    wrong = run(BIN / "phibatch", "run", "/no/such/job.yaml")
    assert wrong.returncode == 66 and "/no/such/job.yaml" in wrong.stderr
    assert os.access(phibatch.program(), os.X_OK) and Path(phibatch.__file__).parent in Path(phibatch.program()).parents


def test_metadata() -> None:
    found = metadata.metadata("phibatch")
    assert found["Name"] == "phibatch" and found["Summary"] and "phibatch" in str(found.get_payload())
    assert not [one for one in metadata.requires("phibatch") or [] if "extra ==" not in one]
    files = [str(one) for one in metadata.files("phibatch") or []]
    assert "phibatch/py.typed" in files and any(one.endswith("phibatch.fish") for one in files)


def test_importing_it_imports_nothing_else() -> None:
    text = "import sys, phibatch; print([m for m in ('pandas', 'polars', 'pyarrow', 'pydantic', 'tqdm') if m in sys.modules])"
    assert run(sys.executable, "-c", text).stdout == "[]\n"


def test_demo(tmp_path: Path, model: str) -> None:
    # The model is there already; the package that carries it is tried by hand, and in CI.
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "smollm2-demo").symlink_to(model)
    done = run(
        BIN / "phibatch", "demo", "--output", tmp_path / "demo", env={**os.environ, "PHIBATCH_CACHE": str(tmp_path / "cache")}
    )
    assert done.returncode == 0, done.stderr
    assert "-- What is gravity?" in done.stdout and (tmp_path / "demo" / "answers.jsonl").exists()


def test_types() -> None:
    """pyright's strict mode finds nothing in the package."""
    needs("pyright")
    sources = Path(__file__).parents[2] / "Sources" / "Python"
    done = run(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", sources)
    if "0 errors" not in done.stdout and "error:" not in done.stdout:
        pytest.skip("pyright could not get its own parts (no network?)")
    assert done.returncode == 0, done.stdout


def test_wheel_is_whole() -> None:
    for path in (Path(__file__).parents[2] / ".build" / "wheel").glob("*.whl"):
        assert zipfile.ZipFile(path).testzip() is None
