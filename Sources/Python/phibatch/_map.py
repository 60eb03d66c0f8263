"""A column of answers for a table."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping

from ._errors import UsageError
from ._kinds import ANY, TEXT, Kind, kind, members
from ._parameters import OF_LINE, Schema, json_schema, parsed
from ._results import line_error
from ._run import run
from ._tables import Column, replaced, table, write_parquet
from ._values import fields

#: What a line of that name would set.
_SETTINGS = (*OF_LINE, "logit_bias", "stop", "choices", "schema")
#: Settings of a job that are templates over a row's fields.
_TEMPLATES = ("prompt", "system", "prefix", "messages", "choices", "completion")


def map(
    data: Any,
    prompt: str | None = None,
    *,
    model: str,
    output: str | os.PathLike[str] | None = None,
    schema: Schema | None = None,
    into: str | None = None,
    id: str | None = None,
    on_error: str = "raise",
    objects: bool = False,
    progress: bool | None = None,
    if_changed: str | None = None,
    offline: bool = False,
    **settings: Any,
) -> Any:
    """Answers a prompt for each row, and gives the table back with the answers.

    >>> class Review(pydantic.BaseModel):
    ...     sentiment: Literal["good", "bad"]
    ...     stars: int
    >>> frame = phibatch.map(frame, "Judge this review: {{ text }}", model="phi-4-mini", schema=Review,
    ...                      output="reviews.jsonl")
    >>> frame.stars.mean()

    The rows' order stays, and so does an index. With the same `output`, only rows that are new or changed are
    computed again, also after an interruption.

    Args:
        data: a DataFrame of pandas or polars, a pyarrow Table, a `datasets.Dataset`, the path of a Parquet or Arrow file, or
            an iterable of mappings or of texts, which are the prompts.
        prompt: a template over the columns (Jinja): ``"Translate: {{ text }}"``.
        model: a name of ``phibatch models``, ``org/name`` on Hugging Face, or a folder.
        output: where results are kept, a JSONL file. A name in .parquet is where the table is written, too; results
            are then beside it. Without one nothing is kept.
        schema: a pydantic model or a JSON Schema that answers follow: each of its members is a column of its type.
        into: the column of the answers (``answer``). With a schema: one column for all, instead of one for each
            member.
        id: the column that tells rows apart; by default what the templates use of them.
        on_error: ``raise`` if any row fails (what is done is kept), or ``null``: the row's new columns are missing,
            and a column ``error`` says why.
        objects: with `into` and a pydantic model: objects of it, and not mappings.
        progress: show a bar; by default on terminals and in notebooks.
        if_changed: if results of another model or other settings are there: ``refuse`` (the default), ``restart`` or
            ``keep``.
        offline: fetch no model.
        settings: others of a job: ``max_tokens``, ``temperature``, ``system``, ``choices`` and so on.

    Returns:
        The same kind of table with new columns; for texts a list of answers; for a Parquet file the path of the new one.

    Raises:
        TooManyFailuresError: if rows failed and `on_error` is ``raise``.
        InterruptedRun: after Ctrl-C; the same call goes on.
        PhibatchError: if the job can't be run.
    """
    if on_error not in ("raise", "null"):
        raise UsageError(f'on_error is "raise" or "null", but here "{on_error}".')
    is_file = isinstance(data, (str, Path))
    target = None if output is None else Path(output)
    if is_file and (target is None or target.suffix != ".parquet"):
        raise UsageError("For a file output names the new one, and ends in .parquet.")
    if is_file and target is not None and target.exists() and os.path.samefile(str(data), target):
        raise UsageError("output would overwrite the data.")
    rows = table(data)
    job: Dict[str, Any] = {**settings, "model": model}
    if prompt is not None:
        job["prompt"] = prompt
    if schema is not None:
        job["schema"] = json_schema(schema)
    if on_error == "null":
        job.setdefault("max_failures", "100%")
    plan = _Plan(schema, into, objects, on_error == "null")
    plan.check(rows.columns)
    with tempfile.TemporaryDirectory(prefix="phibatch-") as folder:
        place = Path(folder) / "results.jsonl" if target is None else target
        if place.suffix == ".parquet":
            place = place.with_name(place.name + ".jsonl")
        lines = Path(str(place) + ".input")
        place.parent.mkdir(parents=True, exist_ok=True)
        with replaced(lines) as part, open(part, "w", encoding="utf-8") as file:
            file.writelines(_lines(rows.rows(), _used(rows.columns, job, id), id))
        job.update(id="phibatch_id", input=str(lines), output=str(place), input_format="jsonl", output_format="jsonl")
        done = run(job, progress=progress, if_changed=if_changed, prune=True, offline=offline)
        made = rows.with_columns(plan.columns(done.raw()))
    if target is not None and target.suffix == ".parquet":
        write_parquet(made, target)
    return target if is_file else made


class _Plan:
    """Which columns answers make."""

    def __init__(self, schema: Schema | None, into: str | None, objects: bool, has_errors: bool) -> None:
        self._schema = schema
        self._objects = objects and hasattr(schema, "model_validate_json")
        self._has_errors = has_errors
        said: Any = None if schema is None else json_schema(schema)
        parts = None if schema is None or into is not None else members(said)
        self._parts = None if objects else parts
        self._into = into or "answer"
        self._kind = ANY if self._objects else TEXT if schema is None else kind(said)

    @property
    def _names(self) -> List[str]:
        names = [self._into] if self._parts is None else [name for name, _ in self._parts]
        return names + (["error"] if self._has_errors else [])

    def check(self, columns: Any) -> None:
        for name in self._names:
            if name in columns:
                raise UsageError(f'There is a column "{name}" already; into="NAME" names another one.')

    def columns(self, raws: Iterator[Mapping[str, Any]]) -> List[Column]:
        answers: List[Any] = []
        errors: List[str | None] = []
        for raw in raws:
            error = line_error(raw)
            errors.append(None if error is None else f"{error.code}: {error.message}")
            answers.append(None if error is not None else self._answer(raw["text"]))
        made: List[Column]
        if self._parts is None:
            made = [(self._into, answers, self._kind)]
        else:
            made = [
                (name, [None if one is None else part.value(one.get(name)) for one in answers], part)
                for name, part in self._parts
            ]
        if self._has_errors:
            made.append(("error", errors, Kind("str")))
        return made

    def _answer(self, text: str) -> Any:
        if self._schema is None:
            return text
        if self._objects:
            return parsed(text, self._schema)
        value = json.loads(text)
        return value if self._parts is not None else self._kind.value(value)


def _used(columns: Any, job: Mapping[str, Any], id: str | None) -> List[str]:
    """Columns that templates may use: another one's change is no reason to compute anything."""
    if id is not None and id not in columns:
        raise UsageError(f'There is no column "{id}"; columns are {", ".join(columns)}.')
    if "keep" in job:
        raise UsageError("keep has no meaning here: all columns stay.")
    if "steps" in job:
        raise UsageError("steps make several answers of a row, and here it has one; run takes them.")
    texts = json.dumps([job.get(name) for name in _TEMPLATES], ensure_ascii=False)
    if "prompt" not in job:
        texts += " prompt messages"
    used = [name for name in columns if name in texts]
    for name in used:
        if name in _SETTINGS and not (name == "choices" and "choices" in job):
            raise UsageError(
                f'The column "{name}" would set {name} for its row, as a line\'s setting has its name; rename it.'
            )
    return used


def _lines(rows: Iterator[Mapping[str, Any]], used: List[str], id: str | None) -> Iterator[str]:
    seen: Dict[str, int] = {}
    for row in rows:
        line = fields({name: row[name] for name in used if name in row})
        text = json.dumps(line, ensure_ascii=False, sort_keys=True)
        # By content: a row that moves is the same one.
        name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24] if id is None else None
        if id is not None:
            name = str(row[id])
        assert name is not None
        seen[name] = seen.get(name, 0) + 1
        if id is None and seen[name] > 1:
            name += f"-{seen[name]}"
        # Whatever the row has of that name: where a template uses it, it is this column's value.
        line = {"phibatch_id": name, **line}
        yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"
