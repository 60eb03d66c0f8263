"""Parquet as input and output, by DuckDB's program: every type, as pyarrow and polars see it."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import subprocess
from pathlib import Path
from typing import Any, List

from conftest import needs

from phibatch._program import program

pa = needs("pyarrow")
pq = needs("pyarrow.parquet")
needs("duckdb_cli")


def phibatch(*arguments: Any, ok: bool = True, **variables: str) -> "subprocess.CompletedProcess[str]":
    run = subprocess.run(
        [program(), *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **variables}, timeout=600
    )
    assert (run.returncode == 0) == ok, run.stderr
    return run


def start(model: str, source: Any, output: Path, *more: Any, ok: bool = True, **variables: str) -> str:
    """Runs a job of short answers; what it says."""
    arguments = ["run", "--model", model, "--input", source, "--output", output, "--max-tokens", 2, "--quiet", *more]
    return phibatch(*arguments, ok=ok, **variables).stderr


TYPES: List[Any] = [
    ("tiny", pa.int8(), [1, None, -128]),
    ("unsigned", pa.uint64(), [2**64 - 1, None, 0]),
    ("big", pa.int64(), [2**63 - 1, None, -(2**63)]),
    ("single", pa.float32(), [1.5, float("nan"), float("inf")]),
    ("double", pa.float64(), [0.1, None, float("-inf")]),
    ("yes", pa.bool_(), [True, None, False]),
    ("words", pa.string(), ['a"b\n\\é "NaN": NaN', "", None]),
    ("bytes", pa.binary(), [b"\x00\xff\\x41", b"abc", None]),
    (
        "exact",
        pa.decimal128(38, 6),
        [decimal.Decimal("1.100000"), None, decimal.Decimal("-99999999999999999999999999999999.123456")],
    ),
    ("day", pa.date32(), [datetime.date(2020, 1, 2), None, datetime.date(1, 1, 1)]),
    ("at", pa.timestamp("us"), [datetime.datetime(2020, 1, 2, 3, 4, 5, 678901), None, datetime.datetime(1969, 1, 1)]),
    (
        "zoned",
        pa.timestamp("us", tz="UTC"),
        [datetime.datetime(2020, 1, 2, 3, tzinfo=datetime.timezone.utc), None, None],
    ),
    ("time", pa.time64("us"), [datetime.time(1, 2, 3, 4), None, None]),
    ("list", pa.list_(pa.int32()), [[1, None, 3], None, []]),
    (
        "struct",
        pa.struct([("a", pa.int64()), ("b", pa.list_(pa.string()))]),
        [{"a": 1, "b": ["x"]}, None, {"a": None, "b": []}],
    ),
    ("map", pa.map_(pa.string(), pa.float64()), [[("k", 1.0), ("q", 2.5)], None, []]),
    ("blobs", pa.map_(pa.int64(), pa.binary()), [[(1, b"\x01\\")], None, []]),
    (
        "images",
        pa.list_(pa.struct([("bytes", pa.binary()), ("p", pa.decimal128(5, 2))])),
        [[{"bytes": b"\xff", "p": decimal.Decimal("1.20")}], None, []],
    ),
    ("nothing", pa.int32(), [None, None, None]),
    ('we"ird', pa.int16(), [1, 2, 3]),
    ("q'uo te$ ü/~", pa.string(), ["1", "2", "3"]),
]
NAMES = [name for name, _, _ in TYPES]


def looked_at_again(output: Path, job: Path) -> None:
    """By all that looks at a finished output; who changes it gets it back."""
    before = output.read_bytes()
    phibatch("run", job, "--quiet")
    assert output.read_bytes() == before
    phibatch("verify", output, job, "--sample", 2)
    phibatch("report", output, "--output", job.parent / "page.html")
    assert "complete" in phibatch("status", job).stdout
    output.write_bytes(before[:40] + bytes([before[40] ^ 255]) + before[41:])
    phibatch("verify", output, job, "--sample", 1, ok=False)
    phibatch("run", job, "--quiet")
    assert output.read_bytes() == before


def test_every_type_comes_back(model: str, tmp_path: Path) -> None:
    polars = needs("polars")
    table = pa.table({name: pa.array(values, kind) for name, kind, values in TYPES})
    source, output = tmp_path / 'it\'s "$(all)" [1]*; --.parquet', tmp_path / "o'ut $x [2].parquet"
    pq.write_table(table, source)
    fields = "{{ struct.a }} {{ list[0] }} {{ words }} {{ exact }} {{ at }} {{ map.q }}"
    prompt = "{% if struct and words %}" + fields + "{% else %}Say so.{% endif %}"
    job = {
        "model": model, "input": str(source), "output": str(output), "max_tokens": 2, "prompt": prompt,
        "keep": {name + "2": name for name in NAMES},
    }  # fmt: skip
    (tmp_path / "job.json").write_text(json.dumps(job))
    phibatch("run", tmp_path / "job.json", "--quiet", TZ="Asia/Tokyo")
    made = pq.read_table(output)
    for name, kind, values in TYPES:
        assert made.schema.field(name + "2").type.equals(kind), name
        there = made[name + "2"].to_pylist()
        assert there == values or repr(there) == repr(values), name  # NaN is not equal to itself
    assert made["id"].to_pylist() == ["1", "2", "3"]
    assert made.schema.field("usage").type == pa.struct(
        [("prompt_tokens", pa.int64()), ("completion_tokens", pa.int64())]
    )
    assert all(text is not None for text in made["text"].to_pylist()) and made["error"].to_pylist() == [None] * 3
    assert polars.read_parquet(output.read_bytes()).shape == (3, made.num_columns)
    shown = phibatch("check", tmp_path / "job.json", "--no-estimate").stdout
    assert "1 1 a" in shown and "1.100000 2020-01-02 03:04:05.678901 2.5" in shown, shown
    looked_at_again(output, tmp_path / "job.json")


def test_files_of_a_pattern_shards_and_edits(model: str, tmp_path: Path) -> None:
    def write(name: str, rows: Any) -> None:
        pq.write_table(
            pa.table(
                {
                    "id": [f"r{i}" for i in rows],
                    "prompt": [f"Say {i}" for i in rows],
                    "n": [decimal.Decimal(i) / 4 for i in rows],
                }
            ),
            tmp_path / name,
        )

    write("in-1.parquet", range(4))
    write("in-2.parquet", range(4, 7))
    pattern, whole, lines = tmp_path / "in-*.parquet", tmp_path / "whole.parquet", tmp_path / "lines.jsonl"
    start(model, pattern, whole, "--keep", "n")
    start(model, pattern, lines)
    results = [json.loads(line) for line in lines.read_text().splitlines()]
    made = pq.read_table(whole).to_pylist()
    assert [row["id"] for row in made] == [f"r{i}" for i in range(7)] and [row["n"] for row in made] == [
        i / 4 for i in range(7)
    ]
    assert [row["text"] for row in made] == [row["text"] for row in results]
    for number in (1, 2):
        start(model, pattern, tmp_path / "joined.parquet", "--keep", "n", "--shard", f"{number}/2")
    phibatch("merge", tmp_path / "joined.parquet", "--shards", 2)
    assert pq.read_table(tmp_path / "joined.parquet").equals(pq.read_table(whole))
    write("in-2.parquet", [4, 55, 6])
    said = phibatch(
        "run", "--model", model, "--input", pattern, "--output", whole, "--max-tokens", 2, "--keep", "n", "--prune"
    ).stderr
    assert [row["id"] for row in pq.read_table(whole).to_pylist()] == ["r0", "r1", "r2", "r3", "r4", "r55", "r6"], said
    # No rows, and columns all the same.
    write("none.parquet", [])
    start(model, tmp_path / "none.parquet", tmp_path / "none-out.parquet", "--keep", "n")
    none = pq.read_table(tmp_path / "none-out.parquet")
    assert none.num_rows == 0 and {"id", "text", "usage", "error", "n"} <= set(none.column_names)
    start(
        model, lines, tmp_path / "lean.parquet", "--results", "lean", "--prompt", "{{ text }}", "--keep", "why=finish_reason"
    )
    assert pq.read_table(tmp_path / "lean.parquet").column_names == ["id", "why", "text"]


def fake(tmp_path: Path, script: str) -> str:
    path = tmp_path / "duckdb"
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return str(path)


def test_columns_that_nobody_names_are_not_read(model: str, tmp_path: Path) -> None:
    """One is damaged behind the first rows, which are always read: only who wants it comes to know."""
    path, count = tmp_path / "wide.parquet", 20_000
    rows = {
        "id": [f"r{number}" for number in range(count)],
        'wi"de': [f"{number} " * 20 for number in range(count)],
        "topic": ["salt"] * count,
    }
    pq.write_table(pa.table(rows), path, row_group_size=count // 2, compression="none", use_dictionary=False)
    column = pq.ParquetFile(path).metadata.row_group(1).column(1)
    with path.open("r+b") as file:
        file.seek(column.data_page_offset)
        file.write(b"\xff" * column.total_compressed_size)
    few = ["--prompt", "Say {{ topic }}.", "--shard", "2/9000"]
    start(model, path, tmp_path / "out.jsonl", *few, "--keep", "topic")
    made = [json.loads(line) for line in (tmp_path / "out.jsonl.shard-2-of-9000").read_text().splitlines()]
    assert [(one["id"], one["topic"]) for one in made] == [("r1", "salt"), ("r9001", "salt"), ("r18001", "salt")]
    for number, kept in enumerate(["all", 'wi"de']):
        output = tmp_path / f"more-{number}.jsonl"
        assert "duckdb" in start(model, path, output, *few, "--keep", kept, ok=False)
    # No column is wanted, and the rows are there all the same.
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "x.parquet")
    start(model, tmp_path / "x.parquet", tmp_path / "none.jsonl", "--prompt", "Go.")
    assert [json.loads(line)["id"] for line in (tmp_path / "none.jsonl").read_text().splitlines()] == ["1", "2"]


def test_what_is_wrong_is_said(model: str, tmp_path: Path) -> None:
    source, output = tmp_path / "in.parquet", tmp_path / "out.jsonl"

    def fails(*more: Any, into: Path = output, **variables: str) -> str:
        said = start(model, source, into, *more, ok=False, **variables)
        assert not into.exists(), said
        return said

    for names in (["prompt", "a", "A"], ["prompt", "a", "a"]):
        pq.write_table(pa.table([pa.array(["x"])] * 3, names=names), source)
        assert "differ in more than case" in fails()
    pair = pa.struct([("a", pa.int64()), ("A", pa.int64())])
    for kind, value in ((pair, {"a": 1}), (pa.map_(pa.string(), pair), [("k", {"a": 1})])):
        pq.write_table(pa.table({"prompt": ["x"], "s": pa.array([value], kind)}), source)
        assert "A` and `s." in fails()
    source.write_bytes(b"")
    assert "refused by duckdb" in fails()
    pq.write_table(pa.table({"prompt": [f"Say {i}" for i in range(6)]}), source)
    whole = source.read_bytes()
    source.write_bytes(whole[:-30])
    assert "refused by duckdb" in fails()
    source.write_bytes(whole)
    assert "leave input_format out" in fails("--input-format", "csv")
    nowhere = fails(PHIBATCH_DUCKDB="/nowhere/duckdb")
    assert "PHIBATCH_DUCKDB names" in nowhere and "loading" not in nowhere
    assert "PHIBATCH_DUCKDB names" in fails(into=tmp_path / "out.parquet", PHIBATCH_DUCKDB="/nowhere/duckdb")
    # One that ends midway, of itself or by a kill: never a short input that is taken for whole.
    rows = "".join('{"prompt":"Say %d"}\\n' % i for i in range(3))
    for end, said in (("echo 'IO Error: broken' >&2; exit 1", "IO Error: broken"), ("kill -9 $$", "signal 9")):
        assert said in fails(PHIBATCH_DUCKDB=fake(tmp_path, f"printf '{rows}'; {end}"))
    start(model, source, output)
    assert len(output.read_text().splitlines()) == 6
