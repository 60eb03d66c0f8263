"""OpenAI's own client against ``phibatch serve``."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, List

import pytest
from conftest import needs
from serving import QUESTION, Server, ask, until

import phibatch
from phibatch._program import program

openai = needs("openai")


def test_answers_are_those_of_a_batch(server: Server, model: str, tmp_path: Path) -> None:
    bodies: List[Any] = [
        {"temperature": 0},
        {"seed": 5, "temperature": 0.9, "n": 3},
        {"temperature": 0, "logprobs": True, "top_logprobs": 2},
        {"temperature": 0, "stop": ["e"]},
        {"temperature": 0, "response_format": {"type": "json_object"}, "max_tokens": 60},
        {
            "temperature": 0,
            "max_tokens": 60,
            "tool_choice": "required",
            "tools": [{"type": "function", "function": {"name": "rest"}}],
        },
    ]
    path = tmp_path / "in.jsonl"
    with path.open("w") as file:
        for body in bodies:
            body = {"model": "demo", "messages": QUESTION, "max_tokens": 12, **body}
            line = {"custom_id": "request", "method": "POST", "url": "/v1/chat/completions", "body": body}
            file.write(json.dumps(line) + "\n")
    for body in bodies:
        whole = ask(server.client, **body)
        assert whole.model == "demo" and whole.usage.completion_tokens > 0 and abs(whole.created - time.time()) < 60
        parts: List[Any] = [{"text": "", "calls": [], "reason": None, "logprobs": 0} for _ in whole.choices]
        usage = None
        options = {"include_usage": True}
        for chunk in ask(server.client, stream=True, stream_options=options, **body):
            usage = chunk.usage or usage
            for choice in chunk.choices:
                part = parts[choice.index]
                part["text"] += choice.delta.content or ""
                part["calls"] += [call.function.name for call in choice.delta.tool_calls or []]
                part["reason"] = choice.finish_reason or part["reason"]
                part["logprobs"] += len(choice.logprobs.content) if choice.logprobs else 0
        assert usage == whole.usage
        for part, choice in zip(parts, whole.choices):
            assert part["text"] == (choice.message.content or "") and part["reason"] == choice.finish_reason
            assert part["calls"] == [call.function.name for call in choice.message.tool_calls or []]
            assert part["logprobs"] == (len(choice.logprobs.content) if choice.logprobs else 0)
    # With a seed of its own a request is the line `request` of a batch.
    run = phibatch.run(
        {"model": model, "input": path, "output": tmp_path / "out.jsonl", "input_format": "openai", "max_failures": 9},
        progress=False,
    )
    assert run.status == "complete"
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    body = next(line["response"]["body"] for line in lines if line["response"]["status_code"] == 200)
    assert body["choices"][0]["message"]["content"] == ask(server.client, temperature=0).choices[0].message.content
    one, two = (ask(server.client, seed=7, temperature=1.0, max_tokens=24) for _ in range(2))
    assert one.choices[0].message.content == two.choices[0].message.content and one.id != two.id


def test_other_paths(server: Server) -> None:
    client = server.client
    assert [model.id for model in client.models.list()] == ["demo"] and client.models.retrieve("demo").id == "demo"
    text = client.completions.create(model="demo", prompt="Once upon", max_tokens=8, temperature=0, logprobs=1)
    streamed = client.completions.create(model="demo", prompt="Once upon", max_tokens=8, temperature=0, stream=True)
    assert "".join(chunk.choices[0].text for chunk in streamed) == text.choices[0].text
    assert len(text.choices[0].logprobs.tokens) == text.usage.completion_tokens
    response = client.responses.create(model="demo", input="Name a colour.", max_output_tokens=12, temperature=0)
    assert response.output_text == ask(client, temperature=0).choices[0].message.content
    assert server.metric("completion_tokens_total") > 0 and server.metric("request_seconds_count") > 0


def test_a_response_in_events(server: Server) -> None:
    """What events tell is what the response holds, and OpenAI's own accumulator agrees."""
    client = server.client
    tools: Any = [{"type": "function", "name": "rest", "parameters": {"type": "object", "properties": {}}}]
    for settings in ({}, {"tools": tools, "tool_choice": "required", "max_output_tokens": 60}):
        asked: Any = {"model": "demo", "input": "Name a colour.", "max_output_tokens": 12, "temperature": 0, **settings}
        whole = client.responses.create(**asked)
        events = list(client.responses.create(stream=True, **asked))
        assert [event.sequence_number for event in events] == list(range(len(events)))
        assert [event.type for event in events[:3]] == [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
        ]
        last: Any = events[-1]
        assert last.type == f"response.{whole.status}" and last.response.usage == whole.usage
        deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
        assert "".join(deltas) == whole.output_text == last.response.output_text
        done = [event.item for event in events if event.type == "response.output_item.done"]
        assert done == last.response.output
        kinds = [(item.type, getattr(item, "arguments", None)) for item in whole.output]
        assert [(item.type, getattr(item, "arguments", None)) for item in done] == kinds
        if not settings:
            assert len(deltas) > 2
        with client.responses.stream(**asked) as stream:
            for event in stream:
                final = event
        assert final.type == last.type and final.response.output_text == whole.output_text  # type: ignore[union-attr]


def test_open_requests_are_answered_at_the_end(model: str, tmp_path: Path) -> None:
    one = Server(model, tmp_path / "serve")
    stream = iter(ask(one.client, stream=True, max_tokens=150, temperature=1.0, stop=[]))
    next(stream)
    one.process.send_signal(signal.SIGTERM)
    until(lambda: any("SIGTERM" in line for line in one.said))
    assert list(stream)[-1].choices[0].finish_reason
    with pytest.raises(openai.APIConnectionError):
        ask(one.client)
    assert one.process.wait(30) == 128 + signal.SIGTERM
    two = Server(model, tmp_path / "serve")
    stream = iter(ask(two.client, stream=True, max_tokens=4000, n=4, temperature=1.5))
    next(stream)
    two.process.send_signal(signal.SIGINT)
    until(lambda: any("SIGINT" in line for line in two.said))
    assert two.process.poll() is None
    assert two.end(signal.SIGTERM) == 128 + signal.SIGTERM


def test_a_cancelled_batch_has_what_was_done(server: Server) -> None:
    client, count = server.client, 200
    bodies = [{"model": "demo", "messages": QUESTION, "max_tokens": 40, "seed": number} for number in range(count)]
    bodies[0]["temperature"] = -1
    lines = [
        {"custom_id": f"c{number}", "method": "POST", "url": "/v1/chat/completions", "body": body}
        for number, body in enumerate(bodies)
    ]
    sent = client.files.create(file="".join(json.dumps(line) + "\n" for line in lines).encode(), purpose="batch")
    batch = client.batches.create(
        input_file_id=sent.id, endpoint="/v1/chat/completions", completion_window="24h"
    )
    until(lambda: client.batches.retrieve(batch.id).request_counts.completed >= 3)
    client.batches.cancel(batch.id)
    until(lambda: client.batches.retrieve(batch.id).status == "cancelled")
    done = client.batches.retrieve(batch.id)
    made = [json.loads(line)["custom_id"] for line in client.files.content(done.output_file_id).text.splitlines()]
    assert 3 <= len(made) < count and len(set(made)) == len(made) and "c0" not in made
    assert done.request_counts.completed == len(made) and done.request_counts.total == count
    failed = [json.loads(line)["custom_id"] for line in client.files.content(done.error_file_id).text.splitlines()]
    assert failed == ["c0"] and done.request_counts.failed == 1 and done.cancelled_at


def test_hostile_bytes(server: Server) -> None:
    post = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
    for data, status in [
        (b"\x00\xff" * 40 + b"\r\n\r\n", 0),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n", 431),
        (post + b"Content-Length: 99999999999\r\n\r\n", 413),
        (post + b"Content-Length: 3\r\n\r\n{\"a", 400),
        (post + b"Content-Length: 40000\r\n\r\n" + b"[" * 40_000, 400),
        (post + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400),
    ]:
        connection, file = server.raw(data)
        if status:
            assert file.readline().startswith(b"HTTP/1.1 %d " % status), data[:80]
        file.close()
        connection.close()
    assert ask(server.client).choices[0].finish_reason


def test_limits_and_keys(model: str, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("secret\n")
    refused = subprocess.run(
        [program(), "serve", model, "--host", "0.0.0.0", "--port", "0"], capture_output=True, text=True, timeout=600
    )
    if "libmicrohttpd" in refused.stderr:
        pytest.skip(refused.stderr)
    assert refused.returncode == 69 and "--api-key-file" in refused.stderr
    one = Server(model, tmp_path / "serve", "--api-key-file", str(key), "--max-waiting", "2", "--max-body", "1")
    try:
        assert ask(one.client, max_tokens=2).choices
        for other in ["", "Secret", "secret2"]:
            with pytest.raises(openai.AuthenticationError):
                ask(one.client.with_options(api_key=other or "x"))
        assert b"200 OK" in one.raw(b"GET /health HTTP/1.1\r\nHost: a.example\r\n\r\n")[1].readline()
        with pytest.raises(openai.APIStatusError) as large:
            ask(one.client, messages=[{"role": "user", "content": "a" * (2 << 20)}])
        assert large.value.status_code == 413
        streams = [ask(one.client, stream=True, max_tokens=4000, n=2, temperature=1.5) for _ in range(2)]
        with pytest.raises(openai.RateLimitError) as busy:
            ask(one.client)
        assert int(busy.value.response.headers["Retry-After"]) > 0
        for stream in streams:
            stream.close()
        until(lambda: one.metric("requests") == 0)
        assert ask(one.client).choices and one.metric("refused_total") == 1
    finally:
        assert one.end(signal.SIGINT) == 128 + signal.SIGINT
    assert "secret" not in "".join(one.said)


def test_a_batch_survives_kill_9(model: str, tmp_path: Path) -> None:
    path = tmp_path / "batch.jsonl"
    with path.open("w") as file:
        for number in range(60):
            body = {"model": "demo", "messages": QUESTION, "max_tokens": 60, "seed": number, "temperature": 1.0}
            if number == 7:
                body["temperature"] = -1
            line = {"custom_id": f"c{number}", "method": "POST", "url": "/v1/chat/completions", "body": body}
            file.write(json.dumps(line) + "\n")
    one = Server(model, tmp_path / "serve", "--workers", "4")
    with path.open("rb") as content:
        sent = one.client.files.create(file=content, purpose="batch")
    assert sent.bytes == path.stat().st_size and one.client.files.retrieve(sent.id).filename == "batch.jsonl"
    batch = one.client.batches.create(
        input_file_id=sent.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"for": "a test"},
    )
    assert batch.status in ("validating", "in_progress")
    until(lambda: one.client.batches.retrieve(batch.id).request_counts.completed >= 5)
    with pytest.raises(openai.ConflictError):
        one.client.files.delete(sent.id)
    assert one.end(signal.SIGKILL) == -signal.SIGKILL

    two = Server(model, tmp_path / "serve", "--workers", "4")
    client = two.client
    # Batches are listed by the second in which they came.
    until(lambda: time.time() >= batch.created_at + 1)
    other = client.batches.create(input_file_id=sent.id, endpoint="/v1/chat/completions", completion_window="24h")
    assert client.batches.cancel(other.id).status == "cancelling"
    until(lambda: client.batches.retrieve(batch.id).status == "completed")
    done = client.batches.retrieve(batch.id)
    assert (done.request_counts.completed, done.request_counts.failed, done.request_counts.total) == (59, 1, 60)
    assert done.metadata == {"for": "a test"}
    until(lambda: client.batches.retrieve(other.id).status == "cancelled")
    assert client.batches.retrieve(other.id).output_file_id is None
    assert {one.id for one in client.batches.list()} == {batch.id, other.id}
    assert [one.id for one in client.batches.list(limit=1)] == [other.id, batch.id]

    lines = [json.loads(line) for line in client.files.content(done.output_file_id).text.splitlines()]
    errors = [json.loads(line) for line in client.files.content(done.error_file_id).text.splitlines()]
    assert [line["custom_id"] for line in errors] == ["c7"]
    assert "temperature" in errors[0]["response"]["body"]["error"]["message"]
    whole = phibatch.run(
        {"model": model, "input": path, "output": tmp_path / "out.jsonl", "max_failures": 1, "workers": 4},
        progress=False,
    )
    assert whole.status == "complete"
    expected = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    texts = {one["custom_id"]: one["response"]["body"].get("choices") for one in expected}
    assert {line["custom_id"]: line["response"]["body"]["choices"] for line in lines} == {
        name: choices for name, choices in texts.items() if choices
    }
    assert client.files.delete(sent.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.files.content(sent.id)
    with pytest.raises(openai.BadRequestError, match="purpose"):
        client.files.create(file=b"x", purpose="assistants")
    assert two.end() == 128 + signal.SIGTERM
