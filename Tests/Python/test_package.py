"""The package as it is installed."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from conftest import needs

import phibatch
from phibatch._parameters import JobKeywords

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
    text = "import sys, phibatch; print([m for m in ('pandas', 'polars', 'pyarrow', 'pydantic') if m in sys.modules])"
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


def test_types(tmp_path: Path) -> None:
    """pyright's strict mode finds nothing in the package."""
    needs("pyright")
    sources = Path(__file__).parents[2] / "Sources" / "Python"
    done = run(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", sources)
    if "0 errors" not in done.stdout and "error:" not in done.stdout:
        pytest.skip("pyright could not get its own parts (no network?)")
    assert done.returncode == 0, done.stdout
    wrong = [
        'llm.generate("Hello", temprature=1)', 'llm.generate("Hello", max_tokens="5")', 'phibatch.run("j", max_tokns=5)',
        'phibatch.map(["a"], model="m", on_eror="raise")', 'phibatch.map([{"a": 1}], "{{ a }}", model="m")[0].text',
        'text: str = llm.generate("Hello", max_tokens=5).text + llm.chat([{"role": "user", "content": "Hello"}]).text',
        'rows: list[dict[str, object]] = phibatch.map([{"a": "b"}], "{{ a }}", model="m", max_tokens=5)',
    ]  # fmt: skip
    head = "# pyright: strict\nimport phibatch\nllm = phibatch.LLM('x')\n"
    (tmp_path / "wrong.py").write_text(head + "\n".join(wrong) + "\n")
    found = run(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, tmp_path / "wrong.py").stdout
    assert [line for line in range(2, 12) if f"wrong.py:{line}:" in found] == [4, 5, 6, 7, 8], found


def test_examples_run_as_they_stand(tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "smollm2-demo").symlink_to(model)
    monkeypatch.chdir(tmp_path)
    names: Any = {"phibatch": phibatch, "asyncio": asyncio}
    for name in ("", "._llm", "._run", "._map"):
        for test in doctest.DocTestFinder().find(importlib.import_module("phibatch" + name)):
            for example in test.examples:
                exec(compile(example.source, test.name, "single"), names)
    assert (tmp_path / "answers.jsonl").exists() and (tmp_path / "reviews.jsonl").exists()


def test_readme_runs_as_it_stands(tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    top = Path(__file__).parents[2]
    job, program = re.findall("```(?:yaml|python)\n(.*?)```", (top / "README.md").read_text(), re.S)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "smollm2-demo").symlink_to(model)
    (tmp_path / "samples").symlink_to(top / "samples")
    (tmp_path / "job.yaml").write_text(job)
    monkeypatch.chdir(tmp_path)
    names: Any = {}
    exec(program, names)
    assert names["run"].status == "complete" and names["rows"][0]["answer"] in ("good", "bad")


def test_settings_are_those_of_the_program() -> None:
    listed = re.findall("^- `([a-z_]+)`:", run(BIN / "phibatch", "help", "job").stdout, re.M)
    assert set(listed) == set(JobKeywords.__annotations__)

