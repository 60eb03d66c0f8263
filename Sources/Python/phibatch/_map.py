"""A column of answers for a table."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, Protocol, TypeVar, overload

from ._errors import TooManyFailuresError, UsageError
from ._kinds import TEXT, Kind, kind
from ._parameters import MapKeywords, Schema, check_names, json_schema
from ._process import logger
from ._results import line_error
from ._run import run
from ._settings import LINE
from ._tables import Column, replaced, table, write_table
from ._values import fields

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Settings of a job that are templates over a row's fields.
_TEMPLATES = ("prompt", "system", "prefix", "messages", "choices", "completion")


class _Keywords(MapKeywords, total=False):
    """Keywords of `map` beside `model`."""

    output: str | os.PathLike[str] | None
    schema: Schema | None
    into: str | None
    id: str | None
    on_error: str
    progress: bool | None
    if_changed: str | None
    offline: bool


class _Frame(Protocol):
    @property
    def shape(self) -> tuple[int, int]: ...


_T = TypeVar("_T", bound=_Frame)


@overload
def map(data: str | Path, prompt: str | None = None, *, model: str, **settings: Unpack[_Keywords]) -> Path: ...
@overload
def map(data: _T, prompt: str | None = None, *, model: str, **settings: Unpack[_Keywords]) -> _T: ...
@overload
def map(data: Iterable[Mapping[str, object]], prompt: str | None = None, *, model: str,
        **settings: Unpack[_Keywords]) -> List[Dict[str, object]]: ...  # fmt: skip
@overload
def map(data: List[str], prompt: str | None = None, *, model: str, **settings: Unpack[_Keywords]) -> List[object]: ...
def map(
    data: Any,
    prompt: str | None = None,
    *,
    model: str,
    output: str | os.PathLike[str] | None = None,
    schema: Schema | None = None,
    into: str | None = None,
    id: str | None = None,
    on_error: str = "warn",
    progress: bool | None = None,
    if_changed: str | None = None,
    offline: bool = False,
    **settings: Unpack[MapKeywords],
) -> Any:
    """Answers a prompt for each row, and returns the table with the answers.

    >>> reviews = [{"text": "A fine film."}, {"text": "A dull film."}]
    >>> schema = {"type": "object", "properties": {"stars": {"type": "integer", "minimum": 1, "maximum": 5}},
    ...           "required": ["stars"]}
    >>> rows = phibatch.map(reviews, "Judge this review: {{ text }}", model="smollm2-demo", schema=schema,
    ...                     output="reviews.jsonl")
    >>> print(rows[0]["stars"])

    The rows keep their order and index. With the same `output`, only new and changed rows are computed, also after an
    interruption.

    Args:
        data: a DataFrame of pandas or polars, a pyarrow Table, a `datasets.Dataset`, the path of a Parquet file, or
            an iterable of mappings or of texts, which are the prompts.
        prompt: a template over the columns (Jinja): ``"Translate: {{ text }}"``.
        model: a name of ``phibatch models``, ``org/name`` on Hugging Face, or a folder.
        output: a JSONL file of results. For a name in .parquet or .csv the table is written there, with the results
            beside it. Without an output results are kept only if the call fails, in a folder named by a warning.
        schema: a pydantic model or a JSON Schema for answers: each of its members is a typed column.
        into: the column of the answers (``answer``). With a schema: a single column, instead of one for each member.
        id: the column that identifies rows; by default the columns that the templates use.
        on_error: the effect of a failed row: ``warn``: a warning, and its new columns are null; ``null``: the same,
            with a column ``error`` for the reason; ``raise``: an error once all other rows are done and kept.
        progress: show a bar; by default on terminals and in notebooks.
        if_changed: for results of another model or other settings: ``refuse`` (the default), ``restart`` or ``keep``.
        offline: fetch no model.
        settings: further settings of a job: ``max_tokens``, ``temperature``, ``system``, ``choices`` and so on. With
            several ``samples`` new columns have lists.

    Returns:
        The same kind of table with new columns; for texts a list of answers; for a Parquet file the path of the new one.

    Raises:
        TooManyFailuresError: if rows failed and `on_error` is ``raise``.
        InterruptedRun: after Ctrl-C; the same call resumes.
        PhibatchError: if the job can't be run.
    """
    if on_error not in ("warn", "null", "raise"):
        raise UsageError(f'on_error is "warn", "null" or "raise", but here "{on_error}".')
    check_names(settings, [*MapKeywords.__annotations__, "steps", "keep"])
    is_file = isinstance(data, (str, Path))
    target = None if output is None else Path(output)
    if is_file and (target is None or target.suffix not in (".parquet", ".csv")):
        raise UsageError("For a file output names the new one, and ends in .parquet or .csv.")
    if is_file and target is not None and target.exists() and os.path.samefile(str(data), target):
        raise UsageError("output would overwrite the data.")
    rows = table(data)
    job: Dict[str, Any] = {**settings, "model": model}
    if prompt is not None:
        job["prompt"] = prompt
    if schema is not None:
        job["schema"] = json_schema(schema)
    job.setdefault("max_failures", "100%")
    plan = _Plan(schema, into, on_error == "null", (settings.get("samples") or 1) > 1)
    plan.check(rows.columns)
    used = _used(rows.columns, job, id)
    own = Path(tempfile.mkdtemp(prefix="phibatch-map-")) if target is None else None
    place = target or Path(own or "") / "results.jsonl"
    if place.suffix in (".parquet", ".csv"):
        place = place.with_name(place.name + ".jsonl")
    lines = Path(str(place) + ".input")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with replaced(lines) as part, open(part, "w", encoding="utf-8") as file:
            file.writelines(_lines(rows.rows(), used, id))
        job.update(id="phibatch_id", input=str(lines), output=str(place), input_format="jsonl", output_format="jsonl")
        done = run(job, progress=progress, if_changed=if_changed, prune=True, offline=offline)
        columns = plan.columns(done.raw())
        failed = [f"row {number}: {error}" for number, error in enumerate(plan.errors) if error is not None]
        said = f"{len(failed)} of {len(plan.errors)} rows failed; {'; '.join(failed[:3])}"
        if failed and on_error == "raise":
            raise TooManyFailuresError(f"{said}. All others are done, and kept in {place}.", exit_code=3)
        if failed and on_error == "warn":
            warnings.warn(said, stacklevel=2)
        made = rows.with_columns(columns)
        if target is not None and target.suffix in (".parquet", ".csv"):
            write_table(made, target)
    except BaseException:
        if own is not None and any(path != lines for path in own.iterdir()):
            logger.warning('Finished results are in %s; the same call with output="%s" resumes.', own, place)
            own = None
        raise
    finally:
        if own is not None:
            shutil.rmtree(own, ignore_errors=True)
    return target if is_file else made


class _Plan:
    """Columns made from answers."""

    def __init__(self, schema: Schema | None, into: str | None, has_errors: bool, are_lists: bool) -> None:
        self._schema = schema
        self._are_lists = are_lists
        #: Errors of rows; None for rows that did not fail.
        self.errors: List[str | None] = []
        self._has_errors = has_errors
        self._kind = TEXT if schema is None else kind(json_schema(schema))
        #: Columns of the members of a schema of objects; None for a single column.
        self._parts = self._kind.members if self._kind.name == "struct" and into is None else None
        self._into = into or "answer"

    @property
    def _names(self) -> List[str]:
        names = [self._into] if self._parts is None else [name for name, _ in self._parts]
        return names + (["error"] if self._has_errors else [])

    def check(self, columns: Any) -> None:
        for name in self._names:
            if name in columns:
                raise UsageError(f'There is a column "{name}" already; into="NAME" names another one.')

    def columns(self, raws: Iterator[Mapping[str, Any]]) -> List[Column]:
        rows: List[List[Any]] = []
        for _, group in itertools.groupby(raws, key=lambda raw: raw["id"]):
            samples = [(raw, line_error(raw)) for raw in group]
            errors = [f"{error.code}: {error.message}" for _, error in samples if error is not None]
            self.errors.append(errors[0] if errors else None)
            rows.append([None if error is not None else self._answer(raw["text"]) for raw, error in samples])
        made = [self._column(self._into, rows, self._kind, lambda one: one)] if self._parts is None else [
            self._column(name, rows, part, lambda one, name=name, part=part: part.value(one.get(name)))
            for name, part in self._parts
        ]
        if self._has_errors:
            made.append(("error", self.errors, Kind("str")))
        return made

    def _column(self, name: str, rows: List[List[Any]], kind: Kind, value: Callable[[Any], Any]) -> Column:
        values = [[None if one is None else value(one) for one in row] for row in rows]
        return (name, values, Kind("list", element=kind)) if self._are_lists else (name, [row[0] for row in values], kind)

    def _answer(self, text: str) -> Any:
        if self._schema is None:
            return text
        value = json.loads(text)
        return value if self._parts is not None else self._kind.value(value)


def _used(columns: Any, job: Mapping[str, Any], id: str | None) -> List[str]:
    """Returns the columns that templates may use; changes of others don't matter."""
    if id is not None and id not in columns:
        raise UsageError(f'There is no column "{id}"; columns are {", ".join(columns)}.')
    if "keep" in job:
        raise UsageError("keep can't be used here: all columns stay.")
    if "steps" in job:
        raise UsageError("steps make several answers of a row; use run for them.")
    texts = json.dumps([job.get(name) for name in _TEMPLATES], ensure_ascii=False)
    if "prompt" not in job:
        texts += " prompt messages"
    used = [name for name in columns if name in texts]
    for name in used:
        if name in LINE and not (name == "choices" and "choices" in job):
            raise UsageError(
                f'The column "{name}" would set {name} for its row, as a line\'s setting has its name; rename it.'
            )
    return used


def _lines(rows: Iterator[Mapping[str, Any]], used: List[str], id: str | None) -> Iterator[str]:
    seen: Dict[str, int] = {}
    for row in rows:
        line = fields({name: row[name] for name in used if name in row})
        text = json.dumps(line, ensure_ascii=False, sort_keys=True)
        # By content: a row keeps its identity when it moves.
        name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24] if id is None else None
        if id is not None:
            name = str(row[id])
        assert name is not None
        seen[name] = seen.get(name, 0) + 1
        if id is None and seen[name] > 1:
            name += f"-{seen[name]}"
        # The row's own column of that name, if a template uses it, wins.
        line = {"phibatch_id": name, **line}
        yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"
