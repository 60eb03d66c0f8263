"""Tables of several libraries: their rows, and new columns. Each library is imported on use."""

from __future__ import annotations

import contextlib
import csv
import json
import os
from importlib import import_module as library
from pathlib import Path
from typing import Any, Callable, Dict, Generator, Iterator, List, Mapping, Sequence, Tuple, cast

from ._errors import UsageError
from ._kinds import Kind
from ._values import is_mapping

#: A new column: its name, its values and their kind.
Column = Tuple[str, Sequence[Any], Kind]


class Table:
    """Rows to iterate over, and a place for new columns."""

    columns: Sequence[str] = ()

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yields all rows in order; may be called once only."""
        raise NotImplementedError

    def with_columns(self, columns: Sequence[Column]) -> Any:
        """Returns the same table, of the same library, with more columns."""
        raise NotImplementedError


def table(data: Any) -> Table:
    """Wraps a table of a known library.

    Raises:
        UsageError: for anything else.
    """
    module = type(data).__module__.split(".")[0]
    name = type(data).__name__
    if module == "pandas" and name == "DataFrame":
        return _Pandas(data)
    if module == "polars" and name == "DataFrame":
        return _Polars(data)
    if module == "pyarrow" and name == "Table":
        return _Arrow(data)
    if module == "datasets" and name == "Dataset":
        return _Dataset(data)
    if isinstance(data, (str, Path)):
        return table(_read(Path(data)))
    if is_mapping(data):
        raise UsageError("One mapping is one row; give a list of rows.")
    if hasattr(data, "__iter__") and module not in ("pandas", "polars", "datasets"):
        return _Rows(list(data))
    raise UsageError(
        "Data is a pandas or polars DataFrame, a pyarrow Table, a datasets.Dataset, a Parquet file, or an iterable of "
        f"mappings or texts, but this is {module}.{name}."
    )


class _Rows(Table):
    """Mappings, or texts that are prompts."""

    def __init__(self, data: List[Any]) -> None:
        self._data = data
        self._are_texts = bool(data) and all(isinstance(one, str) for one in data)
        if self._are_texts:
            self.columns = ["prompt"]
            return
        names: Dict[str, None] = {}
        for one in data:
            row = self._row(one)
            names.update(dict.fromkeys(row))
        self.columns = list(names)

    @staticmethod
    def _row(one: Any) -> Mapping[str, Any]:
        if is_mapping(one):
            return one
        if hasattr(one, "model_dump"):
            return one.model_dump()
        raise UsageError(f"A row is a mapping or a text, but one is {type(one).__name__}.")

    def rows(self) -> Iterator[Mapping[str, Any]]:
        for one in self._data:
            yield {"prompt": one} if self._are_texts else self._row(one)

    def with_columns(self, columns: Sequence[Column]) -> Any:
        if self._are_texts and len(columns) == 1:
            return list(columns[0][1])
        rows: List[Dict[str, Any]] = [
            {} if self._are_texts else dict(self._row(one)) for one in self._data
        ]
        for name, values, _ in columns:
            for row, value in zip(rows, values):
                row[name] = value
        return rows


class _Pandas(Table):
    def __init__(self, data: Any) -> None:
        self._data = data
        if not data.columns.is_unique:
            raise UsageError("Two columns have the same name.")
        self.columns = [str(name) for name in data.columns]

    def rows(self) -> Iterator[Mapping[str, Any]]:
        # By columns, so that no value takes another one's type.
        for values in zip(*[self._data.iloc[:, place].tolist() for place in range(len(self.columns))]):
            yield dict(zip(self.columns, values))

    def with_columns(self, columns: Sequence[Column]) -> Any:
        pandas = library("pandas")

        types = {"int": "Int64", "float": "Float64", "bool": "boolean", "str": "string"}
        data = self._data.copy(deep=False)
        for name, values, kind in columns:
            if kind.name == "datetime":
                # UTC for all, and no error for a column without values.
                made = pandas.to_datetime(pandas.Series(list(values), dtype="object"), utc=True)
            elif kind.name in types and not (kind.name == "int" and not _fits(values)):
                made = pandas.array(list(values), dtype=types[kind.name])
            else:
                made = pandas.Series(list(values), dtype="object")
            data[name] = made.array if isinstance(made, pandas.Series) else made
        return data


class _Polars(Table):
    def __init__(self, data: Any) -> None:
        self._data = data
        self.columns = list(data.columns)

    def rows(self) -> Iterator[Mapping[str, Any]]:
        return self._data.iter_rows(named=True)

    def with_columns(self, columns: Sequence[Column]) -> Any:
        polars = library("polars")

        types = {
            "int": polars.Int64, "float": polars.Float64, "bool": polars.Boolean, "date": polars.Date,
            "datetime": polars.Datetime("us", "UTC"), "str": polars.String,
        }
        made: List[Any] = []
        for name, values, kind in columns:
            dtype = _type(kind, types, polars.List, lambda members: polars.Struct(dict(members)))
            if kind.name == "int" and not _fits(values):
                dtype = polars.Int128 if _fits(values, 127) else polars.Object
            made.append(polars.Series(name, [_written(value, kind) for value in values], dtype=dtype, strict=True))
        return self._data.with_columns(made)


class _Arrow(Table):
    def __init__(self, data: Any) -> None:
        self._data = data
        self.columns = list(data.column_names)
        if len(set(self.columns)) != len(self.columns):
            raise UsageError("Two columns have the same name.")

    def rows(self) -> Iterator[Mapping[str, Any]]:
        for batch in self._data.to_batches(max_chunksize=4096):
            yield from batch.to_pylist()

    def with_columns(self, columns: Sequence[Column]) -> Any:
        data = self._data
        for name, values, kind in columns:
            data = data.append_column(name, arrow(values, kind))
        return data


class _Dataset(Table):
    def __init__(self, data: Any) -> None:
        self._data = data
        self.columns = list(data.column_names)

    def rows(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._data.with_format(None))

    def with_columns(self, columns: Sequence[Column]) -> Any:
        datasets = library("datasets")
        pyarrow = library("pyarrow")
        added = pyarrow.table({name: arrow(values, kind) for name, values, kind in columns})
        return datasets.concatenate_datasets([self._data, datasets.Dataset(added)], axis=1)


def _read(path: Path) -> Any:
    """Reads the table in a file; `map` writes another file."""
    if path.suffix != ".parquet":
        raise UsageError(f"{path} is no Parquet file by its name; read it with pandas or polars.")
    return library("pyarrow.parquet").read_table(path)


@contextlib.contextmanager
def replaced(path: Path) -> Generator[Path, None, None]:
    """Yields a file to write, which is then put in place atomically: an interruption leaves the old file."""
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_table(data: Any, path: Path) -> None:
    """Writes a table as a Parquet or CSV file atomically."""
    kind = path.suffix[1:]
    with replaced(path) as part:
        if kind == "csv" and isinstance(data, list):
            rows: List[Mapping[str, Any]] = [one if is_mapping(one) else {"answer": one} for one in cast("List[Any]", data)]
            with open(part, "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
                writer.writeheader()
                writer.writerows(rows)
        elif hasattr(data, f"write_{kind}"):
            getattr(data, f"write_{kind}")(part)
        elif hasattr(data, f"to_{kind}"):
            getattr(data, f"to_{kind}")(part, **({"index": False} if hasattr(data, "index") else {}))
        elif kind == "csv":
            library("pyarrow.csv").write_csv(data, part)
        else:
            if isinstance(data, list):
                data = library("pyarrow").Table.from_pylist(data)
            library("pyarrow.parquet").write_table(data, part)


def arrow(values: Sequence[Any], kind: Kind) -> Any:
    """Returns a column of Arrow."""
    pyarrow = library("pyarrow")
    types = {
        "int": pyarrow.int64(), "float": pyarrow.float64(), "bool": pyarrow.bool_(), "date": pyarrow.date32(),
        "datetime": pyarrow.timestamp("us", "UTC"), "str": pyarrow.string(),
    }
    if kind.name == "int" and not _fits(values):
        import decimal

        # The widest type; more digits are an error of Arrow's.
        exact = [None if value is None else decimal.Decimal(value) for value in values]
        return pyarrow.array(exact, type=pyarrow.decimal256(76, 0))
    type_ = _type(kind, types, pyarrow.list_, pyarrow.struct)
    return pyarrow.array([_written(value, kind) for value in values], type=type_)


def _type(kind: Kind, types: Mapping[str, Any], list_: Callable[[Any], Any], struct: Callable[[Any], Any]) -> Any:
    """Returns a library's type for a kind; the string type if it has none."""
    if kind.name == "list" and kind.element is not None:
        return list_(_type(kind.element, types, list_, struct))
    if kind.name == "struct":
        return struct([(name, _type(member, types, list_, struct)) for name, member in kind.members])
    return types.get(kind.name, types["str"])


def _fits(values: Sequence[Any], bits: int = 63) -> bool:
    limits = range(-(1 << bits), 1 << bits)
    return all(value is None or value in limits for value in values)


def _written(value: Any, kind: Kind) -> Any:
    """Converts values without a type to JSON."""
    if value is None:
        return None
    if kind.name == "any":
        return json.dumps(value, ensure_ascii=False, default=str)
    if kind.name == "list" and kind.element is not None:
        return [_written(one, kind.element) for one in value]
    if kind.name == "struct":
        return {name: _written(value.get(name), member) for name, member in kind.members}
    return value
