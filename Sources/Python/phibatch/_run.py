"""Runs a job to its end."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Generator, Iterator, List, Mapping, Union

from ._errors import InterruptedRun, JobError, OutputError, StoppedError, UsageError, error_of_exit
from ._parameters import JobKeywords, json_schema, options
from ._process import MessageLog
from ._program import environment, program
from ._progress import Bar
from ._results import Result, Row, Scores, answer, row
from ._settings import PATHS
from ._values import is_list, is_mapping

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: A job file, or its content.
Job = Union[str, "os.PathLike[str]", Mapping[str, Any]]


@dataclass(frozen=True)
class Progress:
    """Progress of a run.

    Attributes:
        results: finished results, earlier runs' included.
        total: results in the end; None while unknown.
        done: results made by this run.
        failed: failures of this run.
        skipped: results of earlier runs.
        running: running requests.
        seconds_left: estimated time left; None while unknown.
    """

    job: str = ""
    results: int = 0
    total: int | None = None
    done: int = 0
    failed: int = 0
    skipped: int = 0
    running: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens_per_second: float = 0.0
    seconds: float = 0.0
    seconds_left: float | None = None


@dataclass(frozen=True)
class Run:
    """A run that has ended. Iterating over it yields the output's results, in the input's order.

    Attributes:
        status: ``complete``, ``interrupted`` or ``too_many_failures``.
        path: the output, which exists if every line is done.
        progress: the last numbers.
        exit_code: the program's exit code.
    """

    status: str
    path: Path
    progress: Progress
    exit_code: int

    @property
    def done(self) -> int:
        """The number of results that this run made, without failures."""
        return self.progress.done

    @property
    def failed(self) -> int:
        """The number of failures of this run."""
        return self.progress.failed

    @property
    def skipped(self) -> int:
        """The number of results of earlier runs."""
        return self.progress.skipped

    def __iter__(self) -> Iterator[Result | Scores | Row]:
        index, last = -1, None
        for raw in self.raw():
            if "usage" not in raw and "error" not in raw:
                raise UsageError("The results lack parts of a Result: raw() has the lines.")
            # Samples of a line are adjacent.
            index, last = (index if raw.get("sample", 0) > 0 and raw["id"] == last else index + 1), raw["id"]
            yield row(raw, index) if isinstance(raw.get("steps"), list) else answer(raw, index)

    def raw(self) -> Iterator[Mapping[str, Any]]:
        """Yields the output's lines unchanged.

        Raises:
            OutputError: if the output is not in phibatch's own format.
        """
        if self.path.suffix in (".parquet", ".zst"):
            raise OutputError(f"{self.path} is no text: read it with pandas, polars or pyarrow.")
        with (gzip.open if self.path.suffix == ".gz" else open)(self.path, "rt", encoding="utf-8") as lines:
            for line in lines:
                text = line.rstrip(",\n")  # an array has an element a line, and brackets around them
                if text not in ("[", "]", "[]"):
                    yield json.loads(text)


def run(
    job: Job | None = None,
    *,
    progress: bool | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    if_changed: str | None = None,
    restart: bool = False,
    prune: bool = False,
    wait: bool = False,
    offline: bool = False,
    **settings: Unpack[JobKeywords],
) -> Run:
    """Runs a job to its end, or resumes it: finished lines are not done again.

    >>> with open("prompts.txt", "w") as file:
    ...     print("What is rain?", "What is salt?", sep="\\n", file=file)
    >>> run = phibatch.run(model="smollm2-demo", input="prompts.txt", output="answers.jsonl", max_tokens=64)
    >>> for result in run:
    ...     print(result.text)

    Ctrl-C saves running completions and raises `InterruptedRun`, a KeyboardInterrupt; the same call resumes.

    Args:
        job: a job file, or a mapping of its content, in which paths are relative to the working directory.
        progress: show a bar; by default on terminals and in notebooks.
        on_progress: called several times a second.
        if_changed: for results of another model or other settings: ``refuse`` (the default), ``restart`` or ``keep``.
        restart: begin again; earlier results are set aside.
        prune: allow any number of results to be removed whose lines are gone from the input.
        wait: if another run writes the output, wait for its end.
        offline: fetch no model.
        settings: settings that override the job's; `schema` may be a pydantic model. Without a job file `steps` is a
            list of mappings, and each result a `Row`; with `rows` in place of an input `pick` is a mapping from fields
            to their sources.

    Raises:
        InterruptedRun: after Ctrl-C.
        TooManyFailuresError: if more lines failed than `max_failures` allows, or fewer rows were accepted than `until`
            wants.
        PhibatchError: for any other failure, with the program's message and exit code.
    """
    flags = options({"if_changed": if_changed})
    flags += [
        "--" + name
        for name, is_set in (("restart", restart), ("prune", prune), ("wait", wait), ("offline", offline))
        if is_set
    ]
    with contextlib.ExitStack() as stack:
        return _run(_arguments(job, settings, stack), flags, progress, on_progress)


def _arguments(job: Job | None, settings: Mapping[str, Any], stack: contextlib.ExitStack) -> List[str]:
    """Returns the arguments of a job."""
    if job is not None and not isinstance(job, Mapping):
        schema = settings.get("schema")
        if schema is not None and not isinstance(schema, (str, Path)):
            settings = {**settings, "schema": stack.enter_context(_file(json_schema(schema)))}
        return [os.fspath(job), *options(settings)]
    return [stack.enter_context(_file(_said({**(job or {}), **settings})))]


def _said(settings: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: _absolute(name, value) for name, value in settings.items() if value is not None}


def _absolute(name: str, value: Any) -> Any:
    """Makes paths of settings absolute, as the job file is elsewhere."""
    if name == "pick" and is_mapping(value):
        return {field: _absolute_file(said) for field, said in value.items()}
    if name == "steps" and is_list(value):
        return [_said(step) if is_mapping(step) else step for step in value]
    if name in ("input", "output"):
        if is_list(value):
            return [_absolute(name, one) for one in value]
        text = str(value)
        if text == "-":
            raise UsageError(f"{name} must be a file: the program's standard streams are not the caller's.")
        if text.startswith(("hf://", "s3://", "gs://", "az://", "https://", "http://")):
            if name == "output":
                raise UsageError("output must be a local file; phibatch push makes a dataset of it.")
            return text
        return os.path.abspath(text)
    if name == "model":
        text = os.path.expanduser(str(value))
        return os.path.abspath(text) if os.path.isdir(text) or text.startswith((".", "/")) else text
    if name in PATHS or (name == "schema" and isinstance(value, (str, Path))):
        return os.path.abspath(str(value))
    if name == "schema":
        return json_schema(value)
    # A grammar's text, which has rules, is no file.
    if name == "grammar" and (isinstance(value, Path) or ":" not in str(value)):
        return os.path.abspath(str(value))
    return value


def _absolute_file(said: Any) -> Any:
    if is_mapping(said) and "file" in said:
        return {**said, "file": os.path.abspath(os.path.expanduser(str(said["file"])))}
    return said


@contextlib.contextmanager
def _file(content: Any) -> Generator[str, None, None]:
    with tempfile.TemporaryDirectory(prefix="phibatch-") as folder:
        path = os.path.join(folder, "job.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False, allow_nan=False)
        yield path


def _run(
    arguments: List[str],
    flags: List[str],
    shows: bool | None,
    on_progress: Callable[[Progress], None] | None,
) -> Run:
    state = Progress()
    messages = MessageLog(shows)
    names = {field.name for field in fields(Progress)}
    # In its own session: Ctrl-C is passed on once, as a second one would end it at once.
    process = subprocess.Popen(
        [program(), "run", *arguments, *flags, "--log-format", "json", "--progress", "json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment(),
    )
    interrupted = False
    bar = Bar(shows=shows)
    assert process.stderr is not None
    try:
        while True:
            try:
                line = process.stderr.readline()
                if not line:
                    break
                said = messages.take(line)
                if said is None or "progress" not in said:
                    continue
                state = Progress(**{key: value for key, value in said["progress"].items() if key in names})
                bar.set(state.results, state.total, f"{state.tokens_per_second:.0f} tokens/s")
                if on_progress is not None:
                    on_progress(state)
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                process.send_signal(signal.SIGINT)
        code = process.wait()
    except BaseException:
        process.send_signal(signal.SIGTERM)
        process.wait()
        raise
    finally:
        bar.close()
        process.stderr.close()
    if code == 0 and not interrupted:
        return Run("complete", _output(arguments), state, code)
    if interrupted:
        status = "complete" if code == 0 else "interrupted"
        raise InterruptedRun(Run(status, _output(arguments), state, code))
    error = error_of_exit(code, messages.error)
    if isinstance(error, StoppedError):
        error.message = error.message or "The run was stopped; the same call resumes it."
    raise error


def _output(arguments: List[str]) -> Path:
    """Returns the path of the job's output."""
    found = subprocess.run(
        [program(), "status", *arguments, "--json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    try:
        return Path(json.loads(found.stdout)["output"])
    except (ValueError, KeyError, TypeError):
        raise JobError(found.stderr.decode("utf-8", "replace").strip(), exit_code=found.returncode) from None
