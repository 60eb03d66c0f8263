"""Arrow files and streams as input and output, by pyarrow beside DuckDB's program: what Parquet gives, they give."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import needs
from test_parquet import TYPES, fake, looked_at_again, phibatch, start

from phibatch._program import program

pa = needs("pyarrow")
pq = needs("pyarrow.parquet")
feather = needs("pyarrow.feather")

os.environ.setdefault("PHIBATCH_PYTHON", sys.executable)

# With the types that they come back as: those that Parquet has.
MORE: List[Any] = [
    ("word", pa.dictionary(pa.int8(), pa.string()), ["a", "b", None], pa.string()),
    ("words in", pa.list_(pa.dictionary(pa.int8(), pa.string())), [["a"], [], None], pa.list_(pa.string())),
    ("large", pa.large_string(), ["a", "", None], pa.string()),
    ("viewed", pa.string_view(), ["a" * 40, "", None], pa.string()),
    ("views", pa.list_view(pa.int32()), [[1, 2], [], None], pa.list_(pa.int32())),
    ("pair", pa.list_(pa.int8(), 2), [[1, 2], None, [3, 4]], pa.list_(pa.int8())),
    ("fixed", pa.binary(3), [b"abc", b"\x00\xff\\", None], pa.binary()),
    ("half", pa.float16(), [1.5, None, -2.0], pa.float32()),
    ("second", pa.timestamp("s"), [datetime.datetime(2020, 1, 2), None, None], pa.timestamp("us")),
    ("lasting", pa.duration("us"), [datetime.timedelta(seconds=1), None, None], pa.int64()),
    ("empty", pa.null(), [None] * 3, pa.int32()),
]
FORMS = ["stream.arrow", "file.arrow", "lz4.feather", "zstd.feather", "no-name"]


def write(table: Any, path: Path, rows: int = 2) -> None:
    """In the form that the name says, in batches of so many rows."""
    if path.suffix == ".feather":
        feather.write_feather(table, path, compression=path.stem, chunksize=rows)
        return
    make = pa.ipc.new_file if path.stem == "file" else pa.ipc.new_stream
    with make(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)


@pytest.mark.parametrize("form", FORMS)
def test_every_type_comes_back(model: str, tmp_path: Path, form: str) -> None:
    source, output = tmp_path / form, tmp_path / ("it's $x [2]." + ("feather" if "z" in form else "arrow"))
    whole: List[Any] = [(*one, one[1]) for one in TYPES] + MORE
    table = pa.table({name: pa.array(values, kind) for name, kind, values, _ in whole})
    write(table, source)
    prompt = "{% if struct and words %}{{ struct.a }} {{ word }} {{ exact }} {{ map.q }}{% else %}Say so.{% endif %}"
    job: Dict[str, Any] = {
        "model": model, "input": str(source), "output": str(output), "max_tokens": 2, "prompt": prompt,
        "keep": {name + "2": name for name in table.column_names},
    }  # fmt: skip
    if form == "no-name":
        job["input_format"] = "arrow"
    (tmp_path / "job.json").write_text(json.dumps(job))
    phibatch("run", tmp_path / "job.json", "--quiet", TZ="Asia/Tokyo")
    made = feather.read_table(output)
    for name, _, values, kind in whole:
        assert made.schema.field(name + "2").type.equals(kind), name
        there = made[name + "2"].to_pylist()
        expected = pa.array(values, pa.duration("us")).cast(pa.int64()).to_pylist() if name == "lasting" else values
        assert there == expected or repr(there) == repr(expected), name
    assert made["id"].to_pylist() == ["1", "2", "3"] and made["error"].to_pylist() == [None] * 3
    assert all(made["text"].to_pylist())
    if form != FORMS[0]:
        return
    # As Parquet has it.
    phibatch("run", tmp_path / "job.json", "--output", tmp_path / "out.parquet", "--quiet")
    parquet = pq.read_table(tmp_path / "out.parquet")
    assert parquet.schema.equals(made.schema) and repr(parquet.to_pylist()) == repr(made.to_pylist())
    looked_at_again(output, tmp_path / "job.json")
    assert not [path for path in tmp_path.iterdir() if "scratch" in path.name]


def test_a_killed_run_goes_on_and_edits_count(model: str, tmp_path: Path) -> None:
    """By what the file holds, not by its form: the same rows in other batches are the same input."""
    count = 16
    rows = [
        {"id": f"r{number}", "prompt": f"Say {number}", "n": decimal.Decimal(number) / 4} for number in range(count)
    ]
    table = pa.Table.from_pylist(rows)
    source, output = tmp_path / "stream.arrow", tmp_path / "out.arrow"
    write(table, source, rows=7)
    options = ["--model", model, "--input", source, "--keep", "n", "--max-tokens", 12, "--kv-cache", "off"]
    command = ["run", *options, "--output", output]
    # Two at a time, or the last lines are done with the first.
    few = [program(), *map(str, command), "--quiet", "--workers", "2"]
    run = subprocess.Popen(few, stderr=subprocess.PIPE, text=True)
    journal, end = tmp_path / "out.arrow.journal", time.monotonic() + 600
    while not journal.exists() or journal.read_bytes().count(b"\n") < 5:
        assert run.poll() is None and time.monotonic() < end, run.communicate()[1]
        time.sleep(0.005)
    run.kill()
    run.communicate()
    assert not output.exists() and journal.exists()
    write(table, tmp_path / "again", rows=count)
    os.replace(tmp_path / "again", source)
    said = phibatch(*command).stderr
    done = [int(word) for word in said.replace(",", "").split() if word.isdigit()]
    assert any(0 < number < count for number in done), said
    made = feather.read_table(output)
    assert made["id"].to_pylist() == [row["id"] for row in rows] and made["n"].to_pylist() == [row["n"] for row in rows]
    phibatch("run", *options, "--output", tmp_path / "whole.arrow", "--quiet")
    assert feather.read_table(tmp_path / "whole.arrow").equals(made)
    for number in (1, 2):
        phibatch("run", *options, "--output", tmp_path / "joined.feather", "--shard", f"{number}/2", "--quiet")
    phibatch("merge", tmp_path / "joined.feather", "--shards", 2)
    assert feather.read_table(tmp_path / "joined.feather").equals(made)
    rows[5]["prompt"] = "Another"
    write(pa.Table.from_pylist(rows), source, rows=count)
    phibatch(*command, "--prune", "--quiet")
    new = feather.read_table(output)
    changed = [number for number in range(count) if new.slice(number, 1) != made.slice(number, 1)]
    assert changed == [5]
    # No rows, and columns all the same; a kept member of several kinds is JSON's text.
    write(table.slice(0, 0), source)
    phibatch(*command[:-1], tmp_path / "none.arrow", "--quiet")
    none = feather.read_table(tmp_path / "none.arrow")
    assert none.num_rows == 0 and {"id", "text", "usage", "error", "n"} <= set(none.column_names)


def test_datasets_reads_and_is_read(model: str, tmp_path: Path) -> None:
    datasets = needs("datasets")
    rows = {"id": ["a", "b", "c"], "prompt": ["Hi", "Ho", "Hu"], "label": ["x", "y", "x"]}
    made = datasets.Dataset.from_dict(rows).class_encode_column("label")
    made.save_to_disk(tmp_path / "set", num_shards=2)
    start(model, tmp_path / "set" / "data-*.arrow", tmp_path / "out.arrow", "--keep", "label")
    found = datasets.load_dataset("arrow", data_files=str(tmp_path / "out.arrow"), cache_dir=tmp_path / "cache")
    assert found["train"]["id"] == rows["id"] and found["train"]["label"] == [0, 1, 0]
    polars = needs("polars")
    assert polars.read_ipc(tmp_path / "out.arrow").shape == (3, len(found["train"].column_names))
    needs("pandas")
    assert list(feather.read_feather(tmp_path / "out.arrow")["id"]) == rows["id"]


def test_what_is_wrong_is_said(model: str, tmp_path: Path) -> None:
    source, output = tmp_path / "stream.arrow", tmp_path / "out.jsonl"
    table = pa.table({"prompt": [f"Say {number}" for number in range(6)]})

    def fails(*more: Any, into: Path = output, **variables: str) -> str:
        said = start(model, source, into, *more, ok=False, **variables)
        assert not into.exists() and "Traceback" not in said, said
        return said

    source.write_bytes(b"")
    assert "refused by pyarrow" in fails()
    source.write_text('{"prompt":"Hi"}\n')
    assert "no Arrow file" in fails()
    write(table, tmp_path / "file.arrow")
    os.replace(tmp_path / "file.arrow", source)
    whole = source.read_bytes()
    source.write_bytes(whole[:-30])
    assert "it was cut" in fails()
    write(table, source)
    whole = source.read_bytes()
    between = pa.BufferReader(whole)
    reader = pa.ipc.open_stream(between)
    reader.read_next_batch()
    # At any place, also between two batches, where pyarrow takes what is there for whole.
    for cut in (between.tell(), len(whole) - 8, len(whole) - 9, 20):
        source.write_bytes(whole[:cut])
        assert "it was cut" in fails()
    source.write_bytes(whole + whole)
    assert "goes on after its end" in fails()
    source.write_bytes(whole)
    for name in ("csv", "parquet"):
        assert "is Arrow, whose rows are no" in fails("--input-format", name)
    for kind, value in [(pa.decimal256(50, 2), decimal.Decimal("1.25")), (pa.month_day_nano_interval(), (1, 2, 3))]:
        odd = pa.table({"prompt": ["Hi"], "odd": pa.array([value], kind)})
        write(odd, source)
        assert ("decimals of 50 digits" if "decimal" in str(kind) else "interval") in fails("--keep", "odd")
    source = tmp_path / "in.parquet"
    wide = pa.array([decimal.Decimal("1.25")], pa.decimal256(39, 2))
    pq.write_table(pa.table({"prompt": ["Hi"], "it's": wide}), source)
    assert "decimals of 39 digits (it's)" in fails()
    source = tmp_path / "stream.arrow"
    write(table, source)
    for into in (output, tmp_path / "out.arrow"):
        for python, what in [("/nowhere/python", "/nowhere/python"), (fake(tmp_path, "exit 1"), "pip install pyarrow")]:
            said = fails(into=into, PHIBATCH_PYTHON=python)
            assert what in said and "loading" not in said
    assert "name it out.arrow." in fails(into=tmp_path / "out.arrow.gz")
    # Ended midway: never a short input that is taken for whole.
    killed = fake(tmp_path, '[ -z "$3" ] || kill -9 $$')
    assert "signal 9" in fails(PHIBATCH_PYTHON=killed)
    start(model, source, output)
    assert len(output.read_text().splitlines()) == 6
