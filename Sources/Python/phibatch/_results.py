"""Results of requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Sequence

from ._errors import LineError
from ._parameters import Schema, parsed
from ._values import is_mapping


@dataclass(frozen=True)
class Usage:
    """Token counts of prompt and completion."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class LogProb:
    """Log-probability of a token, and of the likeliest ones in its place."""

    token: str
    id: int
    logprob: float
    bytes: bytes
    top: Sequence[LogProb] = ()


@dataclass(frozen=True, repr=False)
class Result:
    """The answer to a prompt, or the reason why there is none.

    Reading the text of a failed result raises its `error`, so that no failure goes unnoticed.

    Attributes:
        id: the line's id.
        index: the prompt's index in its call, from 0.
        error: the reason why there is no answer; None if there is one.
        tool_calls: calls of tools, as in OpenAI's API.
        reasoning: the model's reasoning before the answer, if it is separate.
        finish_reason: ``stop``, ``length``, ``stop_sequence``, or ``reasoning_length`` if reasoning did not end.
        usage: token counts of this answer.
        tokens: the answer's token ids, if requested.
        logprobs: log-probabilities of each token, if requested.
        probabilities: the probability of each choice, if there are choices.
        samples: all answers to the prompt, if several were requested; this is the first.
        raw: the result as the program writes it.
    """

    id: str
    index: int
    raw: Mapping[str, Any]
    error: LineError | None = None
    finish_reason: str | None = None
    usage: Usage = Usage(0, 0)
    tokens: Sequence[int] | None = None
    logprobs: Sequence[LogProb] | None = None
    probabilities: Mapping[str, float] | None = None
    samples: Sequence[Result] = ()
    tool_calls: Sequence[Mapping[str, Any]] = ()
    reasoning: str | None = None
    _schema: Any = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """The answer.

        Raises:
            LineError: if there is none.
        """
        if self.error is not None:
            raise self.error
        return self.raw["text"]

    @property
    def parsed(self) -> Any:
        """The parsed JSON answer, an object of the pydantic model if there is one.

        Raises:
            LineError: if there is no answer.
        """
        return parsed(self.text, self._schema)

    @property
    def ok(self) -> bool:
        """Whether there is an answer."""
        return self.error is None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        said = f"error={self.error!r}" if self.error is not None else f"text={self.raw['text']!r}"
        return f"Result(id={self.id!r}, {said}, finish_reason={self.finish_reason!r})"


@dataclass(frozen=True)
class Score:
    """Log-probability of a completion.

    Attributes:
        logprob: the natural logarithm of its probability.
        mean: the mean per token.
        perplexity: e to the power of -mean.
        token_logprobs: the log-probability of each token.
        tokens: their ids, if requested.
    """

    logprob: float
    mean: float
    perplexity: float
    token_logprobs: Sequence[float]
    tokens: Sequence[int] | None = None


@dataclass(frozen=True, repr=False)
class Scores:
    """Log-probabilities of a prompt's completions, one `Score` for each.

    Attributes:
        best: the index of the one with the highest mean.
        usage: tokens of the prompt and of all completions.
        error: the reason why they could not be scored; iterating then raises it.
    """

    id: str
    index: int
    raw: Mapping[str, Any]
    error: LineError | None = None
    usage: Usage = Usage(0, 0)
    best: int = 0
    _scores: Sequence[Score] = ()

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, place: int) -> Score:
        return self.scores[place]

    @property
    def scores(self) -> Sequence[Score]:
        """The scores of the completions.

        Raises:
            LineError: if they could not be scored.
        """
        if self.error is not None:
            raise self.error
        return self._scores

    @property
    def logprob(self) -> float:
        """The log-probability of the best one."""
        return self.scores[self.best].logprob

    def __repr__(self) -> str:
        said = repr(self.error) if self.error is not None else repr(list(self._scores))
        return f"Scores(id={self.id!r}, {said})"


@dataclass(frozen=True, repr=False)
class Row:
    """Results of a job's steps for a line: ``row["question"].text``. A skipped step is missing.

    Attributes:
        steps: the result of each step, in order.
        dropped: the step that rejected the row; None if it went through all steps.
        duplicate_of: the id of the row that it duplicates, if it was dropped for that.
        usage: token counts of all steps.
        raw: the result as the program writes it.
    """

    id: str
    index: int
    raw: Mapping[str, Any]
    steps: Mapping[str, Result | Scores]
    dropped: str | None = None
    usage: Usage = Usage(0, 0)
    duplicate_of: str | None = None

    #: A failed line has a `Result` with its error.
    error = None

    @property
    def ok(self) -> bool:
        """Whether the row went through all steps."""
        return self.dropped is None

    def __getitem__(self, name: str) -> Result | Scores:
        return self.steps[name]

    def __contains__(self, name: object) -> bool:
        return name in self.steps

    def __repr__(self) -> str:
        said = "" if self.dropped is None else f", dropped={self.dropped!r}"
        return f"Row(id={self.id!r}, steps={list(self.steps)}{said})"


def line_error(raw: Mapping[str, Any]) -> LineError | None:
    """Returns the error of a result."""
    error = raw.get("error")
    if not is_mapping(error) or "text" in raw:
        return None
    return LineError(str(error["message"]), code=str(error["code"]))


def result(raw: Mapping[str, Any], schema: Schema | None = None, index: int = 0) -> Result:
    """Converts a line of a native output to a result."""
    error = line_error(raw)
    if error is not None:
        return Result(str(raw["id"]), index, raw, error=error, _schema=schema)
    entries = raw.get("logprobs")
    return Result(
        str(raw["id"]),
        index,
        raw,
        finish_reason=raw.get("finish_reason"),
        usage=usage(raw),
        tokens=raw.get("tokens"),
        logprobs=None if entries is None else [_logprob(entry) for entry in entries["content"]],
        probabilities=raw.get("probabilities"),
        tool_calls=raw.get("tool_calls", ()),
        reasoning=raw.get("reasoning"),
        _schema=schema,
    )


def scores(raw: Mapping[str, Any], index: int = 0) -> Scores:
    """Converts a line of a native output of ``task: score``."""
    error = line_error(raw)
    if error is not None:
        return Scores(str(raw["id"]), index, raw, error=error)
    parts = raw.get("scores", [raw])
    return Scores(
        str(raw["id"]),
        index,
        raw,
        usage=usage(raw),
        best=raw.get("best", 0),
        _scores=[
            Score(
                part["logprob"],
                part["mean"],
                # Null beyond the largest float.
                float("inf") if part["perplexity"] is None else part["perplexity"],
                part["token_logprobs"],
                part.get("tokens"),
            )
            for part in parts
        ],
    )


def answer(raw: Mapping[str, Any], index: int = 0) -> Result | Scores:
    """Converts a line of a native output to a result or scores."""
    return scores(raw, index) if "logprob" in raw or "scores" in raw else result(raw, index=index)


def row(raw: Mapping[str, Any], index: int = 0) -> Row:
    """Converts a line of a native output of a job with steps."""
    return Row(
        str(raw["id"]),
        index,
        raw,
        {name: answer({"id": raw["id"], **raw[name]}, index) for name in raw["steps"]},
        raw.get("dropped"),
        usage(raw),
        raw.get("duplicate_of"),
    )


def usage(raw: Mapping[str, Any]) -> Usage:
    """Returns the token counts of a result."""
    said = raw.get("usage", {})
    return Usage(said.get("prompt_tokens", 0), said.get("completion_tokens", 0))


def _logprob(entry: Mapping[str, Any]) -> LogProb:
    return LogProb(
        entry["token"],
        entry["id"],
        entry["logprob"],
        bytes(entry["bytes"]),
        [_logprob(top) for top in entry.get("top_logprobs", ())],
    )
