"""Clients of OpenAI's API that others made, against ``phibatch serve``, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict

import pytest
from conftest import needs
from serving import Server, ask, until

# One pins older libraries than the others need, the other brings torch: they are in no venv of the suite's.
APART = ("data_designer", "guidellm")

DATATROVE = """
import sys
from datatrove.data import Document
from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.inference.run_inference import InferenceConfig, InferenceRunner
from datatrove.pipeline.writers import JsonlWriter

port, folder, count = sys.argv[1:]

async def rollout(document, generate):
    message = {"role": "user", "content": document.text}
    return await generate({"messages": [message], "max_tokens": 24, "temperature": 0})

config = InferenceConfig(
    server_type="endpoint", endpoint_url=f"http://127.0.0.1:{port}", model_name_or_path="demo",
    max_concurrent_generations=4, server_ready_max_attempts=10, server_ready_delay_sec=0.5)
writer = JsonlWriter(f"{folder}/out", "${rank}_${chunk_index}.jsonl", compression=None)
runner = InferenceRunner(rollout, config, writer, checkpoints_local_dir=f"{folder}/checkpoints", records_per_chunk=8)
documents = [Document(text=f"Count from {number}.", id=f"d{number}") for number in range(int(count))]
LocalPipelineExecutor(pipeline=[documents, runner], tasks=1, logging_dir=f"{folder}/log").run()
"""

DESIGNER = """
import sys
import data_designer.config as dd
from data_designer.interface import DataDesigner
from pydantic import BaseModel

class Product(BaseModel):
    name: str
    stars: int

port, folder, count = sys.argv[1:]
provider = dd.ModelProvider(
    name="phibatch", endpoint=f"http://127.0.0.1:{port}/v1", provider_type="openai", api_key="none")

def model(alias, **body):
    how = dd.ChatCompletionInferenceParams(
        temperature=0.0, max_tokens=60, max_parallel_requests=8, extra_body=body or None)
    return dd.ModelConfig(alias=alias, model="demo", provider="phibatch", inference_parameters=how)

schema = {"type": "object", "required": ["name", "stars"], "additionalProperties": False, "properties": {
    "name": {"type": "string", "maxLength": 20}, "stars": {"type": "integer", "minimum": 1, "maximum": 5}}}
strict = {"type": "json_schema", "json_schema": {"name": "product", "strict": True, "schema": schema}}
builder = dd.DataDesignerConfigBuilder(model_configs=[model("free"), model("strict", response_format=strict)])
topics = dd.CategorySamplerParams(values=["salt", "rain", "bees"])
builder.add_column(dd.SamplerColumnConfig(name="topic", sampler_type=dd.SamplerType.CATEGORY, params=topics))
builder.add_column(dd.LLMTextColumnConfig(name="question", prompt="Ask about {{ topic }}.", model_alias="free"))
builder.add_column(dd.LLMStructuredColumnConfig(
    name="product", prompt="Invent a product about {{ topic }}.", output_format=Product, model_alias="strict"))
designer = DataDesigner(artifact_path=folder, model_providers=[provider])
table = designer.create(builder, num_records=int(count), dataset_name="rows").load_dataset()
table.to_json(f"{folder}/rows.json", orient="records")
"""


def client(library: str, folder: Path, *arguments: Any) -> "subprocess.Popen[str]":
    """Starts a Python that has a library: this one, or the one that PHIBATCH_PYTHON_GUIDELLM names, say."""
    variable = f"PHIBATCH_PYTHON_{library.upper()}"
    python = os.environ.get(variable)
    if python is None and library in APART:
        pytest.importorskip(library, reason=f"{library} is large, from the network: {variable} names a Python with it")
    elif python is None:
        needs(library)
    quiet = {"HF_HUB_OFFLINE": "1", "NEMO_TELEMETRY_ENABLED": "false", "DATA_DESIGNER_HOME": str(folder / "home")}
    command = [python or sys.executable, *map(str, arguments)]
    return subprocess.Popen(command, env={**os.environ, "HOME": str(folder), **quiet}, cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def finish(process: "subprocess.Popen[str]") -> None:
    said, _ = process.communicate(timeout=600)
    assert process.returncode == 0, said[-3000:]


def text(server: Server, question: str, count: int) -> str:
    messages = [{"role": "user", "content": question}]
    return str(ask(server.client, messages=messages, max_tokens=count, temperature=0).choices[0].message.content)


def test_datatrove(server: Server, tmp_path: Path) -> None:
    """A run that was killed goes on with what it has."""
    arguments = ["datatrove", tmp_path, "-c", DATATROVE, server.port, tmp_path, 40]
    begun = server.metric("request_seconds_count")

    def asked() -> float:
        return server.metric("request_seconds_count") - begun

    first = client(*arguments)
    try:
        until(lambda: asked() >= 12 or first.poll() is not None)
    finally:
        first.kill()
    assert first.wait(30) < 0, first.communicate()
    finish(client(*arguments))
    lines = [json.loads(line) for file in (tmp_path / "out").iterdir() for line in file.read_text().splitlines()]
    rows = {line["id"]: line["metadata"]["rollout_results"][0] for line in lines}
    assert len(lines) == 40 and set(rows) == {f"d{number}" for number in range(40)}
    # Only what was under way at the end is asked once more.
    assert 40 <= asked() <= 40 + 2 * 4
    assert rows["d7"]["text"] == text(server, "Count from 7.", 24) and rows["d7"]["usage"]["completion_tokens"] <= 24


def test_data_designer(server: Server, tmp_path: Path) -> None:
    finish(client("data_designer", tmp_path, "-c", DESIGNER, server.port, tmp_path, 12))
    rows = json.loads((tmp_path / "rows.json").read_text())
    questions = {topic: text(server, f"Ask about {topic}.", 60) for topic in ("salt", "rain", "bees")}
    assert len(rows) == 12 and all(row["question"] == questions[row["topic"]] for row in rows)
    assert all(set(row["product"]) == {"name", "stars"} and 1 <= row["product"]["stars"] <= 5 for row in rows)


def test_guidellm(server: Server, model: str, tmp_path: Path) -> None:
    """What it counts is what the server counted."""
    count, tokens = 48, 12
    rows = [{"prompt": f"Count from {number}.", "output_tokens_count": tokens} for number in range(count)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec: Dict[str, Any] = {
        "backend": {"kind": "openai_http", "target": f"http://127.0.0.1:{server.port}", "model": "demo"},
        "profile": {"kind": "concurrent", "streams": [16]},
        "constraints": [{"kind": "max_requests", "count": count}],
        "tokenizer": {"kind": "hf_auto", "model": model},
        "data": [{"kind": "json_file", "path": str(tmp_path / "rows.jsonl")}],
        "outputs": [{"kind": "json", "path": str(tmp_path / "report.json")}],
    }
    (tmp_path / "scenario.json").write_text(json.dumps({"spec": spec}))
    before = server.metric("completion_tokens_total")
    finish(client("guidellm", tmp_path, "-m", "guidellm", "run", "-c", tmp_path / "scenario.json", "--disable-console"))
    done = json.loads((tmp_path / "report.json").read_text())["benchmarks"][0]
    assert done["metrics"]["request_totals"] == {"successful": count, "errored": 0, "incomplete": 0, "total": count}
    made = [one["output_metrics"]["text_tokens"] for one in done["requests"]["successful"]]
    assert made == [tokens] * count and server.metric("completion_tokens_total") - before == count * tokens
