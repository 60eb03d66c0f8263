"""Values on their way to lines, and from answers to columns. No model is needed."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import uuid
from typing import Any

import pytest
from conftest import needs

import phibatch
from phibatch import _kinds, _tables, _values
from phibatch._kinds import Kind


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (2**63 - 1, 2**63 - 1),
        (2**63, str(2**63)),
        (-(2**90), str(-(2**90))),
        (float("nan"), None),
        (float("-inf"), "-inf"),
        (decimal.Decimal("1E+3"), "1000"),
        (decimal.Decimal("0.10"), "0.10"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (datetime.datetime(2024, 2, 29, 1, 2, 3), "2024-02-29T01:02:03"),
        (datetime.time(1, 2), "01:02:00"),
        (Colour.RED, "red"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ({"a": [1, (float("nan"),)]}, {"a": [1, [None]]}),
    ],
)
def test_values_of_lines(value: Any, expected: Any) -> None:
    assert _values.plain(value, "c") == expected
    assert type(_values.plain(value, "c")) is type(expected)


def test_values_of_numpy_and_pandas() -> None:
    numpy = needs("numpy")
    pandas = needs("pandas")
    for value, expected in [
        (numpy.int8(3), 3),
        (numpy.uint64(2**64 - 1), str(2**64 - 1)),
        (numpy.float32(0.5), 0.5),
        (numpy.bool_(True), True),
        (numpy.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (numpy.str_("x"), "x"),
        (pandas.NA, None),
        (pandas.NaT, None),
        (pandas.Timestamp("2024-02-29"), "2024-02-29T00:00:00"),
    ]:
        assert _values.plain(value, "c") == expected
        json.dumps(_values.plain(value, "c"), allow_nan=False)
    with pytest.raises(phibatch.UsageError, match='"c"'):
        _values.plain(object(), "c")


def test_rows_of_pandas() -> None:
    pandas = needs("pandas")
    frame = pandas.DataFrame({"i": [2**70, 1], "t": pandas.to_datetime(["2024-02-29", None]), "f": [0.5, float("nan")]})
    assert [_values.fields(row) for row in _tables.table(frame).rows()] == [
        {"i": str(2**70), "t": "2024-02-29T00:00:00", "f": 0.5}, {"i": 1, "t": None, "f": None},
    ]  # fmt: skip


def test_kinds_of_schemas() -> None:
    schema = {
        "type": "object",
        "$defs": {"Colour": {"enum": ["red", "blue"]}, "Loop": {"properties": {"next": {"$ref": "#/$defs/Loop"}}}},
        "properties": {
            "a": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "b": {"type": ["number", "null"]},
            "c": {"$ref": "#/$defs/Colour"},
            "d": {"const": 1},
            "e": {"type": "array", "items": {"type": "string", "format": "date-time"}},
            "f": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "g": {"$ref": "#/$defs/Loop"},
            "h": {"type": "object", "additionalProperties": {"type": "integer"}},
            "i": True,
            "j": {"enum": [1, 2.5, None]},
        },
    }
    columns = _kinds.kind(schema).members
    assert [(name, kind.name) for name, kind in columns] == [
        ("a", "int"), ("b", "float"), ("c", "str"), ("d", "int"), ("e", "list"), ("f", "any"), ("g", "any"),
        ("h", "any"), ("i", "any"), ("j", "float"),
    ]  # fmt: skip
    assert columns[4][1].element == Kind("datetime")
    assert _kinds.kind({"type": "array"}).name == "any"


def test_dates_of_answers() -> None:
    utc = datetime.timezone.utc
    kind = Kind("datetime")
    assert kind.value("2024-02-29T01:02:03Z") == datetime.datetime(2024, 2, 29, 1, 2, 3, tzinfo=utc)
    assert kind.value("2024-02-29t01:02:03.1234567+01:00") == datetime.datetime(
        2024, 2, 29, 0, 2, 3, 123456, tzinfo=utc
    )
    assert Kind("date").value("2024-02-29") == datetime.date(2024, 2, 29)


BIG = [2**70, None, 1]


def test_large_integers_are_exact() -> None:
    made = _tables.table([{}, {}, {}]).with_columns([("n", BIG, Kind("int"))])
    assert [row["n"] for row in made] == BIG


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow", "datasets"])
def test_large_integers_are_exact_in(name: str) -> None:
    library = needs(name)
    values = {"a": [1, 2, 3]}
    if name == "pyarrow":
        made = _tables.table(library.table(values)).with_columns([("n", BIG, Kind("int"))])
        found = made["n"].to_pylist()
    elif name == "datasets":
        made = _tables.table(library.Dataset.from_dict(values)).with_columns([("n", BIG, Kind("int"))])
        found = made["n"]
    else:
        made = _tables.table(library.DataFrame(values)).with_columns([("n", BIG, Kind("int"))])
        found = list(made["n"])
    assert [None if one is None else int(one) for one in found] == BIG


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow"])
def test_columns_without_a_value_have_their_type(name: str) -> None:
    library = needs(name)
    kinds = ["int", "float", "bool", "str", "date", "datetime", "any"]
    columns: Any = [(kind, [None], Kind(kind)) for kind in kinds]
    table = library.table({"a": [1]}) if name == "pyarrow" else library.DataFrame({"a": [1]})
    made = _tables.table(table).with_columns(columns)
    if name == "pandas":
        types = [str(made[kind].dtype) for kind in kinds]
        assert types[:4] == ["Int64", "Float64", "boolean", "string"] and types[5].endswith("UTC]")
        assert made.isna().iloc[0].tolist() == [False] + [True] * 7
    else:
        rows = made.to_pylist() if name == "pyarrow" else made.to_dicts()
        assert rows == [{"a": 1, **dict.fromkeys(kinds)}]


def test_prompts_that_are_one() -> None:
    from phibatch._parameters import is_one

    assert is_one("a") and is_one({"prompt": "a"}) and is_one([1, 2]) and is_one([{"role": "user", "content": "a"}])
    assert not is_one(["a"]) and not is_one([{"prompt": "a"}]) and not is_one([]) and not is_one([[1, 2]])
    assert not is_one([[{"role": "user", "content": "a"}]])
