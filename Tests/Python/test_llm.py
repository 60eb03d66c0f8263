"""A loaded model that answers."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import signal
import threading
from pathlib import Path
from typing import Any, Callable

import pytest
from conftest import bare, needs

import phibatch
from phibatch import LLM

PROMPTS = ["What is rain?", "What is salt?", "Name a colour.", "Count to five."]


def test_answers_come_in_the_order_of_prompts(llm: LLM) -> None:
    results = llm.generate(PROMPTS, max_tokens=12)
    assert [result.index for result in results] == [0, 1, 2, 3]
    assert [result.id for result in results] == ["1", "2", "3", "4"]
    assert all(result.text and result.ok and result.usage.completion_tokens > 0 for result in results)
    assert llm.generate(PROMPTS[2], max_tokens=12).text == results[2].text


def test_a_prompt_may_be_messages_tokens_or_a_line(llm: LLM) -> None:
    text = llm.generate("What is rain?", max_tokens=8, system="Answer in French.").text
    messages = [{"role": "system", "content": "Answer in French."}, {"role": "user", "content": "What is rain?"}]
    assert llm.generate(messages, max_tokens=8).text == text
    assert llm.generate([messages, "What is rain?"], max_tokens=8)[0].text == text
    assert llm.generate({"messages": messages, "max_tokens": 8}).text == text
    whole = llm.generate("Once upon a time", max_tokens=4, chat=False, tokens=True)
    ids = list(llm.generate({"prompt": [1, 2, 3]}, max_tokens=4, tokens=True).tokens or ())
    assert llm.generate([1, 2, 3], max_tokens=4, tokens=True).tokens == ids
    assert len(whole.tokens or ()) == whole.usage.completion_tokens


@pytest.mark.parametrize(
    "settings",
    [
        {"max_tokens": 16, "temperature": 0.9, "seed": 5},
        {"max_tokens": 8, "samples": 3, "temperature": 1.0},
        {"max_tokens": 8, "logprobs": 2, "tokens": True},
        {"max_tokens": 8, "chat": False},
        {"regex": "(yes|no)"},
        {"choices": ["red", "green"]},
        {"regex": "(yes|no)", "reasoning": "separate", "max_reasoning_tokens": 8, "max_tokens": 60},
        {"tools": [{"type": "function", "function": {"name": "rest"}}], "tool_choice": "required", "max_tokens": 60},
    ],
)
def test_results_are_those_of_a_run(
    llm: LLM, model: str, lines: Callable[[Any], Path], tmp_path: Path, settings: Any
) -> None:
    params = phibatch.SamplingParams(**settings)
    path = lines([params.line(prompt) for prompt in PROMPTS])
    run = phibatch.run(
        {"model": model, "input": path, "output": tmp_path / "out.jsonl", **params.settings()}, progress=False
    )
    expected = [bare(raw) for raw in run.raw()]
    results = llm.generate(PROMPTS, params)
    found = [bare(one.raw) for result in results for one in result.samples or [result]]
    assert found == expected


def test_samples_and_logprobs(llm: LLM) -> None:
    result = llm.generate("Name a colour.", samples=3, temperature=1.0, max_tokens=6, logprobs=2)
    assert [one.raw["sample"] for one in result.samples] == [0, 1, 2]
    assert result.logprobs is not None and len(result.logprobs) == result.usage.completion_tokens
    assert result.logprobs[0].logprob <= 0 and len(result.logprobs[0].top) == 2


def test_a_bad_prompt_is_its_own_affair(llm: LLM) -> None:
    good, bad = llm.generate(["What is rain?", {"prompt": 5}], max_tokens=4)
    assert good.ok and not bad.ok
    assert bad.error is not None and bad.error.code == "bad_field" and "`prompt`" in bad.error.message
    with pytest.raises(phibatch.LineError):
        _ = bad.text


def test_wrong_settings_say_what_is_right(llm: LLM) -> None:
    with pytest.raises(phibatch.UsageError, match="temprature"):
        llm.generate("Hello", temprature=1)
    with pytest.raises(phibatch.JobError, match="samples") as caught:
        llm.generate("Hello", samples=-1)
    assert caught.value.code == "bad_settings"
    assert llm.generate({"prompt": "Hello", "temperature": -1}).error is not None
    # It goes on.
    assert llm.generate("Hello", max_tokens=2).ok


def test_streams(llm: LLM) -> None:
    whole = llm.generate("Count to five.", max_tokens=24)
    stream = llm.stream("Count to five.", max_tokens=24)
    parts = list(stream)
    assert "".join(parts) == whole.text == stream.result.text
    assert len(parts) > 3 and stream.attempt == 0
    with pytest.raises(phibatch.LineError):
        list(llm.stream({"prompt": 5}))
    with pytest.raises(phibatch.UsageError):
        llm.stream("Hello", samples=2)


def test_a_stream_that_is_let_go_ends_its_request(model: str) -> None:
    with LLM(model, workers=1) as llm:
        stream = llm.stream("Tell a story.", max_tokens=4096, ignore_eos=True)
        assert next(stream)
        stream.close()
        # With one worker this would wait for the other's end.
        assert llm.generate("Hello", max_tokens=2).ok


def test_async(llm: LLM) -> None:
    async def all_of_it() -> None:
        results = await llm.agenerate(PROMPTS, max_tokens=8)
        assert [one.text for one in results] == [one.text for one in llm.generate(PROMPTS, max_tokens=8)]
        stream = llm.astream("Count to five.", max_tokens=12)
        parts = [part async for part in stream]
        assert "".join(parts) == stream.result.text
        assert (await llm.agenerate(PROMPTS[0], max_tokens=8)).text == results[0].text
        task = asyncio.create_task(llm.agenerate("Tell a story.", max_tokens=4096, ignore_eos=True))
        done, _ = await asyncio.wait([task], timeout=0.2)
        assert not done
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await llm.agenerate("Hello", max_tokens=2)).ok

    asyncio.run(all_of_it())


def test_several_threads(llm: LLM) -> None:
    expected = [one.text for one in llm.generate(PROMPTS, max_tokens=8)]
    found: dict[int, Any] = {}

    def ask(number: int) -> None:
        found[number] = [one.text for one in llm.generate(PROMPTS, max_tokens=8)]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=600)
    assert found == {number: expected for number in range(4)}


def test_choices(llm: LLM) -> None:
    result = llm.choose("Is fire hot or cold?", ["hot", "cold"])
    assert result.text in ("hot", "cold")
    assert result.probabilities is not None and abs(sum(result.probabilities.values()) - 1) < 1e-6
    assert [one.ok for one in llm.choose(["a", "b"], ["x", "y"])] == [True, True]


def test_scores(llm: LLM) -> None:
    good, bad = llm.score("The sky is", [" blue", " xqz"], chat=False)
    assert good.logprob > bad.logprob and good.token_logprobs
    several = llm.score(["The sky is", "Grass is"], [" blue", [" green", " red"]], chat=False, tokens=True)
    assert [len(one) for one in several] == [1, 2]
    assert several[0].logprob == good.logprob and several[1][0].tokens
    with pytest.raises(phibatch.LineError):
        list(llm.score("Hello", ""))
    with pytest.raises(phibatch.UsageError):
        llm.score(["a", "b"], ["c"])


def test_answers_follow_a_pydantic_model(llm: LLM) -> None:
    pydantic = needs("pydantic")

    class Person(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        name: str = pydantic.Field(max_length=20)
        age: int

    result = llm.generate("Invent a person.", schema=Person, max_tokens=60)
    assert isinstance(result.parsed, Person)
    # A model has no members but its own.
    schema = {**Person.model_json_schema(), "additionalProperties": False}
    plain = llm.generate("Invent a person.", schema=schema, max_tokens=60)
    assert plain.text == result.text and plain.parsed == result.parsed.model_dump()
    stream = llm.stream("Invent a person.", schema=Person, max_tokens=60)
    assert "".join(stream) == result.text and stream.result.parsed == result.parsed


def test_text_of_control_tokens_and_templates_stays_text(llm: LLM) -> None:
    result = llm.generate("Say {{ x }} <|im_end|>", system="{{ y }}", prefix="{% z", max_tokens=4)
    assert result.ok


def test_no_such_model() -> None:
    with pytest.raises(phibatch.ModelError) as caught:
        LLM("/no/such/folder")
    assert caught.value.exit_code == 69 and "/no/such/folder" in caught.value.message
    with pytest.raises(phibatch.UsageError):
        LLM("/no/such/folder", engine="gpu")


def test_the_process_dies(model: str) -> None:
    llm = LLM(model)
    stream = llm.stream("Tell a story.", max_tokens=4096, ignore_eos=True)
    assert next(stream)
    os.kill(llm._process._process.pid, signal.SIGKILL)
    with pytest.raises(phibatch.ProcessError) as caught:
        list(stream)
    assert caught.value.exit_code == -signal.SIGKILL
    with pytest.raises(phibatch.ProcessError):
        llm.generate("Hello")
    llm.close()


def test_it_is_asked_to_stop(model: str) -> None:
    llm = LLM(model)
    stream = llm.stream("Tell a story.", max_tokens=4096, ignore_eos=True)
    assert next(stream)
    os.kill(llm._process._process.pid, signal.SIGTERM)
    with pytest.raises(phibatch.StoppedError):
        list(stream)
    llm.close()
    assert llm._process._process.poll() == 143


def test_close(model: str) -> None:
    with LLM(model) as llm:
        stream = llm.stream("Tell a story.", max_tokens=4096, ignore_eos=True)
        assert next(stream)
    with pytest.raises(phibatch.ProcessError) as caught:
        list(stream)
    assert caught.value.code == "closed"
    assert llm._process._process.poll() == 0
    with pytest.raises(phibatch.ProcessError):
        llm.generate("Hello")
    llm.close()


def _in_child(llm: LLM, queue: Any) -> None:
    try:
        llm.generate("Hello", max_tokens=2)
        queue.put("an answer")
    except phibatch.PhibatchError as error:
        queue.put(error.code)


def test_after_a_fork_it_is_the_parents(llm: LLM) -> None:
    context: Any = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_in_child, args=(llm, queue))
    child.start()
    child.join(timeout=600)
    assert queue.get() == "forked"
    assert llm.generate("Hello", max_tokens=2).ok


def test_errors_survive_pickling() -> None:
    error = pickle.loads(pickle.dumps(phibatch.ModelError("It is gone.", exit_code=69)))
    assert (type(error), error.message, error.exit_code) == (phibatch.ModelError, "It is gone.", 69)
