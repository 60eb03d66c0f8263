"""Jobs that run to their ends."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from conftest import bare

import phibatch
from phibatch._process import MessageLog

Lines = Callable[[List[Any]], Path]


def job(model: str, path: Path, **more: Any) -> dict[str, Any]:
    return {"model": model, "input": path, "output": path.parent / "out.jsonl", "max_tokens": 6, **more}


def test_a_job_file(model: str, lines: Lines, tmp_path: Path) -> None:
    path = lines([{"id": "a", "prompt": "Hello"}, {"id": "b", "prompt": "Bye"}])
    file = tmp_path / "job.yaml"
    file.write_text(f"model: {json.dumps(model)}\ninput: {path.name}\noutput: out.jsonl\nmax_tokens: 4\n")
    seen: List[phibatch.Progress] = []
    run = phibatch.run(file, on_progress=seen.append, progress=False)
    assert (run.status, run.done, run.failed, run.exit_code) == ("complete", 2, 0, 0)
    assert [result.id for result in run] == ["a", "b"]
    assert seen[-1].results == 2 and run.progress == seen[-1]
    again = phibatch.run(str(file), progress=False)
    assert (again.done, again.skipped) == (0, 2)
    with pytest.raises(phibatch.JobError, match="max_tokens") as caught:
        phibatch.run(file, max_tokens=5, progress=False)
    assert caught.value.exit_code == 65
    assert phibatch.run(file, max_tokens=5, if_changed="restart", progress=False).done == 2


def test_an_array(model: str, tmp_path: Path) -> None:
    path, output = tmp_path / "in.json", tmp_path / "out.json"
    path.write_text(json.dumps([{"id": "a", "prompt": "Hello"}, {"id": "b", "prompt": "Bye"}], indent=2))
    run = phibatch.run(**job(model, path, output=output), progress=False)
    assert [result.id for result in run] == ["a", "b"]
    assert json.loads(output.read_text()) == list(run.raw())
    path.write_text("[]")
    assert list(phibatch.run(**job(model, path, output=tmp_path / "none.json"), progress=False)) == []


def test_keywords_alone(model: str, lines: Lines, tmp_path: Path) -> None:
    path = lines([{"q": "Hello"}])
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}
    run = phibatch.run(**job(model, path, prompt="{{ q }}", schema=schema), progress=False)
    assert [set(json.loads(result.text)) for result in run if isinstance(result, phibatch.Result)] == [{"a"}]


def test_steps(model: str, lines: Lines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = lines([{"id": "a", "q": "Hello"}, {"id": "b", "q": "Bye"}])
    schema = {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"], "additionalProperties": False}
    (tmp_path / "data.json").write_text(json.dumps(schema))
    (tmp_path / "ask.txt").write_text("Is {{ data.n }} much for {{ q }}?")
    (tmp_path / "form.gbnf").write_text('root ::= "so" | "no"')
    monkeypatch.chdir(tmp_path)
    steps: List[Any] = [
        {"name": "data", "prompt": "{{ q }}", "schema": "data.json", "max_tokens": 20},
        {"name": "logprob", "prompt_file": "ask.txt", "task": "score", "completion": "Yes", "temperature": None},
        {"name": "form", "prompt": "{{ data.text }}", "grammar": Path("form.gbnf"), "max_tokens": 4},
        {"name": "never", "prompt": "{{ q }}", "where": "data.n == 3"},
        {"name": "last", "prompt": "{{ form.text }}", "choices": ["yes", "no"], "accept": "id == 'a'"},
    ]
    settings = {"model": model, "input": path, "output": "rows.jsonl", "steps": steps}
    one, two = phibatch.run(settings, progress=False)
    assert isinstance(one, phibatch.Row) and isinstance(two, phibatch.Row)
    assert list(one.steps) == ["data", "logprob", "form", "last"] and "never" not in one
    data, score, form, last = one.steps.values()
    assert isinstance(data, phibatch.Result) and data.parsed["n"] in (1, 2) and data.id == "a"
    assert isinstance(score, phibatch.Scores) and len(score) == 1 and one["logprob"] is score
    assert isinstance(form, phibatch.Result) and form.text in ("so", "no")
    assert isinstance(last, phibatch.Result) and last.probabilities is not None and len(last.probabilities) == 2
    assert one.usage.completion_tokens == sum(step.usage.completion_tokens for step in one.steps.values())
    assert (one.ok, one.dropped, two.ok, two.dropped) == (True, None, False, "last")
    assert repr(two) == "Row(id='b', steps=['data', 'logprob', 'form', 'last'], dropped='last')"
    again = phibatch.run(settings, progress=False)
    assert (again.done, again.skipped) == (0, 2)
    some = {**settings, "output": "some.jsonl"}
    (first,) = phibatch.run(some, until=1, progress=False)
    assert isinstance(first, phibatch.Row) and first.id == "a"
    with pytest.raises(phibatch.TooManyFailuresError, match="until wants 2"):
        phibatch.run(some, until=2, progress=False)
    with pytest.raises(phibatch.JobError, match="steps data: .*no_such_key"):
        phibatch.run({**settings, "steps": [{**steps[0], "no_such_key": 1}]}, progress=False)
    with pytest.raises(phibatch.UsageError, match="use run for them"):
        phibatch.map(["Hello"], model=model, steps=steps)


def test_rows(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.txt").write_text("Ann\nBo\n")
    monkeypatch.chdir(tmp_path)
    pick: Dict[str, Any] = {
        "who": {"file": Path("people.txt")},
        "tone": {"of": ["plain", "formal"], "weights": [0, 1]},
        "age": {"from": 7, "to": 9},
    }
    settings: Dict[str, Any] = {
        "model": model,
        "pick": pick,
        "prompt": "{{ who }} {{ tone }} {{ age }}",
        "keep": ["who", "age", "tone"],
        "max_tokens": 2,
        "output": "rows.jsonl",
    }
    first = phibatch.run(settings, rows=3, progress=False)
    rows = list(first.raw())
    assert [row["id"] for row in rows] == ["row-1", "row-2", "row-3"]
    for row in rows:
        assert row["who"] in ("Ann", "Bo") and row["age"] in (7, 8, 9) and row["tone"] == "formal"
    more = phibatch.run(settings, rows=5, progress=False)
    assert (more.done, more.skipped) == (2, 3) and list(more.raw())[:3] == rows
    with pytest.raises(phibatch.JobError, match="pick needs rows"):
        phibatch.run(settings, progress=False)


def test_errors(model: str, lines: Lines, tmp_path: Path) -> None:
    with pytest.raises(phibatch.InputError) as missing:
        phibatch.run(tmp_path / "no.yaml", progress=False)
    assert missing.value.exit_code == 66 and "no.yaml" in missing.value.message
    path = lines([{"prompt": "Hello"}, {"prompt": 5}])
    with pytest.raises(phibatch.TooManyFailuresError, match="bad_field") as failed:
        phibatch.run(job(model, path), progress=False)
    assert failed.value.exit_code == 3
    assert [result.ok for result in phibatch.run(job(model, path, max_failures=1), progress=False)] == [True, False]
    with pytest.raises(phibatch.JobError, match="no_such_key"):
        phibatch.run(job(model, path, no_such_key=1), progress=False)
    with pytest.raises(phibatch.UsageError):
        phibatch.run(job(model, path, output="-"), progress=False)


def test_ctrl_c_saves_and_the_same_call_goes_on(model: str, lines: Lines, tmp_path: Path) -> None:
    path = lines([{"id": str(number), "prompt": f"Tell of {number}."} for number in range(40)])
    settings = job(model, path, max_tokens=200, ignore_eos=True, workers=4)
    whole = phibatch.run({**settings, "output": tmp_path / "whole.jsonl"}, progress=False)

    signals: List[int] = []

    def interrupt(progress: phibatch.Progress) -> None:
        if progress.done >= 4 and not signals:
            signals.append(progress.done)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(phibatch.InterruptedRun) as caught:
        phibatch.run(settings, progress=False, on_progress=interrupt)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert caught.value.run.status == "interrupted" and not caught.value.run.path.exists()
    run = phibatch.run(settings, progress=False)
    assert run.status == "complete" and run.skipped >= 4
    assert [bare(raw) for raw in run.raw()] == [bare(raw) for raw in whole.raw()]


def test_a_bar(model: str, lines: Lines, capsys: pytest.CaptureFixture[str]) -> None:
    phibatch.run(job(model, lines([{"prompt": "Hello"}])), progress=True)
    assert "1/1" in capsys.readouterr().err
    log = MessageLog(shows=True)
    log.take(b'{"fetch":{"done":1000000,"total":2000000}}\n')
    log.take(b'{"level":"info","message":"fetching it: 2 MB"}\n')
    assert "1/2 MB fetched" in (said := capsys.readouterr().err) and "phibatch: fetching it: 2 MB" in said


def test_in_a_thread(model: str, lines: Lines) -> None:
    found: List[phibatch.Run] = []
    settings = job(model, lines([{"prompt": "Hello"}]))
    thread = threading.Thread(target=lambda: found.append(phibatch.run(settings, progress=False)))
    thread.start()
    thread.join(timeout=600)
    assert found[0].status == "complete"
