"""Jobs that run to their ends."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any, Callable, List

import pytest
from conftest import bare, needs

import phibatch

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


def test_scores(model: str, lines: Lines) -> None:
    path = lines([{"prompt": "The sky is", "completion": [" blue", " xqz"]}])
    run = phibatch.run(
        {"model": model, "input": path, "output": path.parent / "s.jsonl", "task": "score", "chat": False},
        progress=False,
    )
    (scores,) = run
    assert isinstance(scores, phibatch.Scores) and scores.best == 0


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
    needs("tqdm")
    phibatch.run(job(model, lines([{"prompt": "Hello"}])), progress=True)
    assert "1/1" in capsys.readouterr().err


def test_in_a_thread(model: str, lines: Lines) -> None:
    found: List[phibatch.Run] = []
    settings = job(model, lines([{"prompt": "Hello"}]))
    thread = threading.Thread(target=lambda: found.append(phibatch.run(settings, progress=False)))
    thread.start()
    thread.join(timeout=300)
    assert found[0].status == "complete"
