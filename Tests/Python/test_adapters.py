"""phibatch within other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict

import pytest
from conftest import needs

QUESTIONS = [
    ("The sky is", [" blue", " made of cheese"], 0),
    ("Two and two is", [" seven hundred", " four"], 1),
    ("Grass is", [" green", " loud"], 0),
    ("Fire is", [" wet", " hot"], 1),
]


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """Tasks of lm-evaluation-harness from local files."""
    rows = [{"q": q, "choices": choices, "label": label} for q, choices, label in QUESTIONS]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = f"dataset_path: json\ndataset_kwargs: {{data_files: {{test: {tmp_path}/data.jsonl}}}}\ntest_split: test\n"
    (tmp_path / "choose.yaml").write_text(
        f"task: choose\n{data}output_type: multiple_choice\ndoc_to_text: '{{{{q}}}}'\ndoc_to_target: label\n"
        "doc_to_choice: choices\ntarget_delimiter: ''\nmetric_list: [{metric: acc}]\n"
    )
    (tmp_path / "write.yaml").write_text(
        f"task: write\n{data}output_type: generate_until\ndoc_to_text: '{{{{q}}}}'\ndoc_to_target: '{{{{choices[label]}}}}'\n"
        "generation_kwargs: {until: ['.'], max_gen_toks: 8}\nmetric_list: [{metric: exact_match}]\n"
    )
    (tmp_path / "rolling.yaml").write_text(
        f"task: rolling\n{data}output_type: loglikelihood_rolling\ndoc_to_text: ''\ndoc_to_target: '{{{{q}}}}{{{{choices[label]}}}}'\n"
        "metric_list: [{metric: word_perplexity}]\n"
    )
    return tmp_path


def test_lm_eval(model: str, tasks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    harness = needs("lm_eval")
    from lm_eval.tasks import TaskManager

    import phibatch.lm_eval  # noqa: F401

    monkeypatch.setenv("HF_DATASETS_CACHE", str(tasks / "cache"))
    manager = TaskManager(include_path=str(tasks), include_defaults=False)

    def scores(batch: int) -> Dict[str, Any]:
        found = harness.simple_evaluate(
            model="phibatch", model_args=f"model={model}", tasks=["choose", "write", "rolling"], batch_size=batch,
            task_manager=manager, bootstrap_iters=0, log_samples=True, verbosity="ERROR",
        )  # fmt: skip
        samples = {
            name: [(one["doc_id"], one["resps"]) for one in rows] for name, rows in found["samples"].items()
        }
        return {"results": found["results"], "samples": samples}

    first = scores(1)
    assert first["results"]["choose"]["acc,none"] >= 0.5
    assert first["results"]["rolling"]["word_perplexity,none"] > 1
    # To the last bit.
    assert scores(8) == first


def test_greedy_is_told(model: str) -> None:
    needs("lm_eval")
    from lm_eval.api.instance import Instance

    from phibatch.lm_eval import PhibatchLM

    lm = PhibatchLM(model=model)
    written = lm._llm.generate("The capital of France is", chat=False, max_tokens=3, ignore_eos=True).text

    def ask(text: str) -> Any:
        return Instance("loglikelihood", {}, ("The capital of France is", text), 0)

    (_, yes), (_, no) = lm.loglikelihood([ask(written), ask(" xqz")])
    assert yes and not no


def test_llm(model: str) -> None:
    llm = needs("llm")
    from phibatch.llm_plugin import Phibatch

    one = Phibatch(model)
    response = one.prompt("What is rain?", max_tokens=8)
    assert response.text()
    assert response.usage().output == 8
    assert "".join(one.prompt("What is rain?", max_tokens=8, stream=True)) == response.text()
    talk = one.conversation()
    talk.prompt("My name is Ann.", max_tokens=8, system="Be brief.").text()
    assert talk.prompt("What is my name?", max_tokens=8).text()
    assert set(json.loads(one.prompt("Judge it.", schema=llm.schema_dsl("good bool"), max_tokens=20).text())) == {"good"}
    # It is found by its entry point.
    assert any(found.model_id == "phibatch/phi-4-mini" for found in llm.get_models())
