"""Answers as columns of tables."""

from __future__ import annotations

import datetime
import json
import shutil
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import needs

import phibatch

SCHEMA: Dict[str, Any] = {
    "type": "object",
    "properties": {
        "good": {"type": "boolean"},
        "stars": {"type": "integer", "minimum": 1, "maximum": 5},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "day": {"type": "string", "format": "date"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
        "who": {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0, "maximum": 9}},
                "required": ["age"]},
    },
    "required": ["good", "stars", "share", "day", "tags", "who"],
}  # fmt: skip
TEXTS = ["A fine film.", "A dull film.", "A long film."]
NAMES = list(SCHEMA["properties"])


def asked(model: str, **more: Any) -> Dict[str, Any]:
    return {
        "prompt": "Judge: {{ text }}", "model": model, "schema": SCHEMA, "max_tokens": 120, "progress": False,
        **more,
    }  # fmt: skip


def check(rows: List[Dict[str, Any]]) -> None:
    assert len(rows) == 3
    for row in rows:
        assert row["good"] in (True, False) and 1 <= row["stars"] <= 5 and 0 <= row["share"] <= 1
        assert isinstance(row["day"], datetime.date) and set(row["tags"]) <= {"a", "b"}
        assert 0 <= row["who"]["age"] <= 9


@pytest.fixture(scope="module")
def expected(model: str) -> List[Dict[str, Any]]:
    rows = phibatch.map([{"text": text} for text in TEXTS], **asked(model))
    check(rows)
    assert [row["text"] for row in rows] == TEXTS
    return rows


def test_texts(model: str) -> None:
    answers = phibatch.map(TEXTS, model=model, max_tokens=4, progress=False)
    assert len(answers) == 3 and all(isinstance(answer, str) and answer for answer in answers)
    assert phibatch.map(iter(TEXTS), "{{ prompt }}", model=model, max_tokens=4, progress=False) == answers
    assert phibatch.map([], model=model, progress=False) == []


def test_pandas(model: str, expected: List[Dict[str, Any]]) -> None:
    pandas = needs("pandas")
    frame = pandas.DataFrame({"text": TEXTS, "n": [1, None, 3]}, index=["x", "y", "x"])
    made = phibatch.map(frame, **asked(model))
    assert list(made.index) == ["x", "y", "x"] and list(made.columns) == ["text", "n", *NAMES]
    assert [str(made[name].dtype) for name in ("good", "stars", "share")] == ["boolean", "Int64", "Float64"]
    assert made[["text", *NAMES]].to_dict("records") == expected
    assert list(frame.columns) == ["text", "n"]


def test_polars(model: str, expected: List[Dict[str, Any]]) -> None:
    polars = needs("polars")
    made = phibatch.map(polars.DataFrame({"text": TEXTS}), **asked(model))
    assert made.schema["stars"] == polars.Int64 and made.schema["day"] == polars.Date
    assert made.schema["tags"] == polars.List(polars.String)
    assert made.schema["who"] == polars.Struct({"age": polars.Int64})
    assert made.to_dicts() == expected


def test_arrow_and_parquet(model: str, expected: List[Dict[str, Any]], tmp_path: Path) -> None:
    pyarrow = needs("pyarrow")
    parquet = needs("pyarrow.parquet")
    table = pyarrow.table({"text": TEXTS})
    made = phibatch.map(table, **asked(model))
    assert made.schema.field("stars").type == pyarrow.int64()
    assert made.schema.field("day").type == pyarrow.date32()
    assert made.to_pylist() == expected
    parquet.write_table(table, tmp_path / "in.parquet")
    path = phibatch.map(tmp_path / "in.parquet", **asked(model, output=tmp_path / "out.parquet"))
    assert path == tmp_path / "out.parquet" and parquet.read_table(path).equals(made)
    phibatch.map([{"text": "Hello"}], "{{ text }}", model=model, max_tokens=2, output=tmp_path / "k.csv", progress=False)
    assert (tmp_path / "k.csv").read_text().startswith("text,answer\n")
    with pytest.raises(phibatch.UsageError):
        phibatch.map(tmp_path / "in.parquet", **asked(model, output=tmp_path / "in.parquet"))


def test_datasets(model: str, expected: List[Dict[str, Any]]) -> None:
    datasets = needs("datasets")
    data = datasets.Dataset.from_dict({"text": ["Not taken.", *TEXTS]}).select([1, 2, 3])
    made = phibatch.map(data, **asked(model))
    assert isinstance(made, datasets.Dataset) and made.features["stars"] == datasets.Value("int64")
    assert list(made) == expected


def test_only_what_is_new_is_computed_again(model: str, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    rows = [{"text": text, "other": 1} for text in TEXTS]

    def made(rows: List[Dict[str, Any]], **more: Any) -> tuple[Dict[str, str], Dict[str, float]]:
        """Texts, and when each was generated, by their rows."""
        found = phibatch.map(
            rows, "Judge: {{ text }}", model=model, max_tokens=4, output=output, progress=False, **more
        )
        raws = [json.loads(line) for line in output.read_text().splitlines()]
        return (
            {row["text"]: row["answer"] for row in found},
            {row["text"]: raw["timing"]["ended"] for row, raw in zip(found, raws)},
        )

    texts, times = made(rows)
    # Rows that move, and a column that no template uses, change nothing.
    again = made([{**row, "other": 2} for row in reversed(rows)])
    assert again == (texts, times)
    more, later = made([*rows, {"text": "A new film."}, rows[0]])
    assert {text: more[text] for text in texts} == texts
    assert [later[text] for text in TEXTS[1:]] == [times[text] for text in TEXTS[1:]]
    with pytest.raises(phibatch.JobError):
        made(rows, temperature=0.5)
    changed, _ = made(rows, temperature=0.5, if_changed="restart")
    assert set(changed) == set(texts)


def test_failures(model: str) -> None:
    rows: List[Any] = [{"text": "Hello"}, {"text": None}]
    with pytest.raises(phibatch.TooManyFailuresError, match="1 of 2 rows failed; row 1: template_error.* kept in ") as failed:
        phibatch.map(rows, **asked(model, on_error="raise"))
    # What is done is kept where it says, and the same call goes on there.
    results = Path(str(failed.value).rpartition("kept in ")[2].rstrip("."))
    assert "stars" in results.read_text()
    with pytest.warns(UserWarning, match="1 of 2 rows"):
        made = phibatch.map(rows, **asked(model, output=results))
    assert made[1]["stars"] is None and "error" not in made[0]
    shutil.rmtree(results.parent)
    made = phibatch.map(rows, **asked(model, on_error="null"))
    assert made[0]["error"] is None and made[1]["error"].startswith("template_error: ")
    assert made[1]["stars"] is None and made[0]["stars"] is not None


def test_one_column(model: str, expected: List[Dict[str, Any]]) -> None:
    made = phibatch.map([{"text": text} for text in TEXTS], **asked(model, into="found"))
    several = phibatch.map([{"text": text} for text in TEXTS], **asked(model, samples=2, temperature=0.9))
    assert [len(row["stars"]) for row in several] == [2, 2, 2] and several[0]["day"][1].year
    assert [row["found"] for row in made] == [{name: row[name] for name in NAMES} for row in expected]
    with pytest.raises(phibatch.UsageError, match="into"):
        phibatch.map([{"text": "a", "stars": 1}], **asked(model))
    answers = phibatch.map(
        [{"text": "Hello"}], "{{ text }}", model=model, choices=["x", "y"], into="kind", progress=False
    )
    assert answers[0]["kind"] in ("x", "y")


def test_a_pydantic_model_is_a_schema(model: str) -> None:
    pydantic = needs("pydantic")

    class Verdict(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        good: bool

    assert phibatch.map([{"text": "Hello"}], **asked(model, schema=Verdict))[0]["good"] in (True, False)


def test_columns_that_would_be_settings(model: str) -> None:
    with pytest.raises(phibatch.UsageError, match="temperature"):
        phibatch.map([{"temperature": 20}], "Is {{ temperature }} warm?", model=model)
    made = phibatch.map(
        [{"text": "Hello", "choices": ["x", "y"], "temperature": 20}], "{{ text }}", model=model, choices=["{{ choices }}"],
        progress=False,
    )  # fmt: skip
    assert made[0]["answer"] in ("x", "y") and made[0]["temperature"] == 20
    with pytest.raises(phibatch.UsageError, match="no column"):
        phibatch.map([{"a": 1}], "{{ a }}", model=model, id="b")
    with pytest.raises(phibatch.UsageError, match="Did you mean max_tokens"):
        phibatch.map([{"a": 1}], "{{ a }}", model=model, max_tokns=1)  # type: ignore[call-arg]
    with pytest.raises(phibatch.UsageError):
        phibatch.map({"a": 1}, "{{ a }}", model=model)
    with pytest.raises(phibatch.UsageError, match="bytes"):
        phibatch.map([{"a": b"x"}], "{{ a }}", model=model)
