"""The embedded model, loaded once for all tests."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any, Callable, Iterator, List

import pytest

import phibatch


@pytest.fixture(scope="session")
def model() -> str:
    return os.environ["PHIBATCH_DEMO_MODEL"]


@pytest.fixture(scope="session")
def llm(model: str) -> Iterator[phibatch.LLM]:
    with phibatch.LLM(model) as one:
        yield one


@pytest.fixture
def lines(tmp_path: Path) -> Callable[[List[Any]], Path]:
    """Writes lines of an input."""

    def write(rows: List[Any]) -> Path:
        path = tmp_path / "in.jsonl"
        path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="module")
def server(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from serving import Server

    one = Server(model, tmp_path_factory.mktemp("serve"))
    yield one
    assert one.end() == 128 + signal.SIGTERM


def bare(raw: Any) -> Any:
    """A result without what differs between two runs, or between a result alone and one among others."""
    return {name: value for name, value in raw.items() if name not in ("timing", "sum")}


def needs(library: str) -> Any:
    """A library that run.sh installs where it can."""
    return pytest.importorskip(library, reason=f"{library} could not be installed (no network?)")
