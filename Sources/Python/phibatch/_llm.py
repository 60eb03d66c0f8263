"""A loaded model."""

from __future__ import annotations

import asyncio
import queue
import weakref
from typing import (
    TYPE_CHECKING, Any, AsyncGenerator, AsyncIterator, Dict, Iterable, Iterator, List, Mapping, Sequence, Union, overload,
)  # fmt: skip

from ._errors import PhibatchError, UsageError, error_of_code
from ._parameters import Asked, Message, Prompt, SamplingParams, Schema, Settings, is_one, options, parameters
from ._process import Answer, PipeProcess
from ._progress import Bar
from ._results import Result, Scores, result, scores
from ._values import is_list

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import LoadSettings

#: The most requests sent and not answered yet.
_WINDOW = 1024

_Said = Union[Answer, PhibatchError]


class LLM:
    """A model in its own process, loaded once.

    Threads and asyncio tasks may share it; their requests are batched together. After a fork it belongs to the parent,
    and it can't be pickled: each process loads its own.

    >>> llm = phibatch.LLM("smollm2-demo")
    >>> for result in llm.generate(["What is rain?", "What is salt?"], max_tokens=64):
    ...     print(result.text)

    Args:
        model: a name of ``phibatch models``, ``org/name`` on Hugging Face, or a folder. A named model that is not on
            this machine is fetched.
        offline: fetch nothing.
        settings: use of the machine: ``adapter``, ``engine``, ``workers``, ``threads``, ``kv_budget``, ``kv``,
            ``long_rope``, ``prefill_chunk`` and ``speculate``, as ``phibatch help job`` describes them.

    Raises:
        ModelError: if there is no such model, or it can't be loaded.
    """

    def __init__(self, model: str, *, offline: bool = False, **settings: Unpack[LoadSettings]) -> None:
        self._process = PipeProcess(str(model), options({**settings, "offline": offline or None}))
        self.model = str(model)
        self._finalizer = weakref.finalize(self, self._process.close)

    @property
    def context_length(self) -> int:
        """The most tokens of prompt and answer together."""
        return self._process.greeting["context_length"]

    # Generation

    @overload
    def generate(self, prompts: str | Mapping[str, Any], params: SamplingParams | None = None, *,
                 progress: bool = False, **settings: Unpack[Settings]) -> Result: ...

    @overload
    def generate(self, prompts: List[str], params: SamplingParams | None = None, *,
                 progress: bool = False, **settings: Unpack[Settings]) -> List[Result]: ...

    @overload
    def generate(self, prompts: Iterable[Prompt] | Iterable[int], params: SamplingParams | None = None, *,
                 progress: bool = False, **settings: Unpack[Settings]) -> Result | List[Result]: ...

    def generate(self, prompts: Any, params: SamplingParams | None = None, *,
                 progress: bool = False, **settings: Unpack[Settings]) -> Result | List[Result]:
        """Answers prompts together, and returns results in their order.

        A prompt is a text, a list of messages, a list of token ids, or a mapping like a line of a job's input, with
        its own settings. One prompt gives one result, several give a list.

        A prompt that can't be answered has a result with an `error`; the others are answered. A text is a user's
        message in the model's chat template; with ``chat=False`` the model continues the text itself.

        Args:
            prompts: one prompt or an iterable of them.
            params: how answers are generated.
            progress: show a bar.
            settings: fields of `SamplingParams` that override `params`.

        Raises:
            JobError: if the settings are wrong.
            ProcessError: if the program has ended.
        """
        return self._one_or_all(prompts, parameters(params, settings), progress)

    def chat(
        self, messages: Sequence[Message], params: SamplingParams | None = None, **settings: Unpack[Settings]
    ) -> Result:
        """Answers a conversation.

        >>> print(llm.chat([{"role": "user", "content": "What is salt?"}], max_tokens=64).text)
        """
        return self._generate([messages], parameters(params, settings), False)[0]

    @overload
    def choose(self, prompts: str, choices: Sequence[str], params: SamplingParams | None = None,
               **settings: Unpack[Asked]) -> Result: ...

    @overload
    def choose(self, prompts: Prompt | Iterable[Prompt], choices: Sequence[str], params: SamplingParams | None = None,
               **settings: Unpack[Asked]) -> Result | List[Result]: ...

    def choose(
        self, prompts: Any, choices: Sequence[str], params: SamplingParams | None = None, **settings: Unpack[Asked]
    ) -> Result | List[Result]:
        """Like `generate`, but each answer is the likeliest of the choices, with the probability of each."""
        asked = parameters(params, {**settings, "choices": choices})
        return self._one_or_all(prompts, asked, False)

    @overload
    def score(self, prompts: str, completions: str | Sequence[str], *, chat: bool = True, tokens: bool = False,
              system: str | None = None) -> Scores: ...

    @overload
    def score(self, prompts: List[str], completions: Iterable[str | Sequence[str]], *, chat: bool = True,
              tokens: bool = False, system: str | None = None) -> List[Scores]: ...

    @overload
    def score(self, prompts: Prompt | Iterable[Prompt], completions: Iterable[str | Sequence[str]], *, chat: bool = True,
              tokens: bool = False, system: str | None = None) -> Scores | List[Scores]: ...

    def score(self, prompts: Any, completions: Any, *, chat: bool = True, tokens: bool = False,
              system: str | None = None) -> Scores | List[Scores]:
        """Returns the log-probabilities of completions, each after its prompt.

        Args:
            prompts: one prompt, or an iterable of them. With ``chat=False`` an empty text means no prompt.
            completions: for each prompt a text or a list of texts.
            chat: whether prompts go through the model's chat template.
            tokens: add the completions' token ids.
            system: the system message, as it is.

        Returns:
            For one prompt its `Scores`, for several a list.
        """
        base = parameters(None, {"chat": None if chat else False, "tokens": tokens or None, "system": system})
        one = is_one(prompts)
        pairs = [(prompts, completions)] if one else _pairs(prompts, completions)
        settings = {**base.settings(), "task": "score"}
        found = [
            scores(raws[0])
            for raws in self._answers(
                (({**base.line(prompt), "completion": completion}, settings) for prompt, completion in pairs),
                len(pairs),
                False,
            )
        ]
        return found[0] if one else found

    def stream(self, prompt: Prompt, params: SamplingParams | None = None, **settings: Unpack[Settings]) -> Stream:
        """Streams the answer to one prompt.

        >>> for text in llm.stream("What is salt?"):
        ...     print(text, end="", flush=True)
        """
        asked = _single(parameters(params, settings))
        events: queue.SimpleQueue[_Said] = queue.SimpleQueue()
        number = self._process.ask(
            asked.line(prompt), asked.settings(), lambda _, said: events.put(said), stream=True
        )
        return Stream(self, number, events, asked.schema)

    @overload
    async def agenerate(self, prompts: str, params: SamplingParams | None = None,
                        **settings: Unpack[Settings]) -> Result: ...

    @overload
    async def agenerate(self, prompts: List[str], params: SamplingParams | None = None,
                        **settings: Unpack[Settings]) -> List[Result]: ...

    @overload
    async def agenerate(self, prompts: Prompt | Iterable[Prompt], params: SamplingParams | None = None,
                        **settings: Unpack[Settings]) -> Result | List[Result]: ...

    async def agenerate(
        self, prompts: Any, params: SamplingParams | None = None, **settings: Unpack[Settings]
    ) -> Result | List[Result]:
        """Like `generate`, for asyncio. Cancelling the task cancels its requests."""
        asked = parameters(params, settings)
        if is_one(prompts):
            return await self._agenerate(prompts, 0, asked)
        room = asyncio.Semaphore(_WINDOW)

        async def one(index: int, prompt: Prompt) -> Result:
            async with room:
                return await self._agenerate(prompt, index, asked)

        tasks = [asyncio.ensure_future(one(index, prompt)) for index, prompt in enumerate(prompts)]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()

    def astream(
        self, prompt: Prompt, params: SamplingParams | None = None, **settings: Unpack[Settings]
    ) -> AsyncStream:
        """Like `stream`, for asyncio.

        >>> async def show():
        ...     async for text in llm.astream("What is salt?"):
        ...         print(text, end="", flush=True)
        >>> asyncio.run(show())
        """
        return AsyncStream(self, prompt, _single(parameters(params, settings)))

    # The end

    def close(self) -> None:
        """Ends the process. Running requests fail."""
        self._finalizer()

    def __enter__(self) -> LLM:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LLM({self.model!r})"

    # Requests

    def _one_or_all(self, prompts: Any, asked: SamplingParams, progress: bool) -> Result | List[Result]:
        if is_one(prompts):
            return self._generate([prompts], asked, False)[0]
        return self._generate(prompts, asked, progress)

    def _generate(self, prompts: Iterable[Prompt], asked: SamplingParams, progress: bool) -> List[Result]:
        count = len(prompts) if is_list(prompts) else None
        settings = asked.settings()
        lines = ((asked.line(prompt), settings) for prompt in prompts)
        return [_joined(raws, asked.schema, index) for index, raws in enumerate(self._answers(lines, count, progress))]

    def _answers(
        self, lines: Iterable[tuple[Dict[str, Any], Dict[str, Any]]], count: int | None, progress: bool
    ) -> List[List[Mapping[str, Any]]]:
        """Returns the results of each line, in order."""
        events: queue.SimpleQueue[tuple[int, _Said]] = queue.SimpleQueue()
        found: Dict[int, List[Mapping[str, Any]]] = {}
        open_: Dict[int, int] = {}
        rest = enumerate(lines)
        more = True
        bar = Bar(shows=progress)
        try:
            while True:
                while more and len(open_) < _WINDOW:
                    entry = next(rest, None)
                    if entry is None:
                        more = False
                        break
                    index, (line, settings) = entry
                    found[index] = []
                    number = self._process.ask(
                        line, settings, lambda number, said: events.put((number, said)), index=index
                    )
                    open_[number] = index
                if not open_:
                    break
                number, said = events.get()
                raw, left = _read(said)
                if raw is not None:
                    found[open_[number]].append(raw)
                if left == 0:
                    del open_[number]
                    bar.set(bar.count + 1, count)
        finally:
            bar.close()
            if open_:
                self._process.cancel(list(open_))
        return [found[index] for index in range(len(found))]

    async def _agenerate(self, prompt: Prompt, index: int, asked: SamplingParams) -> Result:
        read = [_read(said)[0] async for said in self._said(prompt, asked, index=index)]
        return _joined([raw for raw in read if raw is not None], asked.schema, index)

    async def _said(self, prompt: Prompt, asked: SamplingParams, **more: Any) -> AsyncGenerator[_Said, None]:
        """Yields what the program says about a prompt, to the end. Closing it ends the request."""
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[_Said] = asyncio.Queue()
        number = self._process.ask(
            asked.line(prompt), asked.settings(), lambda _, said: _post(loop, events, said), **more
        )
        try:
            left = 1
            while left > 0:
                said = await events.get()
                yield said
                _, left = _read(said)
        finally:
            self._process.cancel([number])


class _Pieces:
    """Text and end of a streamed answer."""

    def __init__(self, schema: Schema | None) -> None:
        self._schema = schema
        self._text = ""
        self._result: Result | None = None
        #: The number of rejected answers before this one.
        self.attempt = 0

    def _take(self, said: _Said) -> str:
        """Returns new text; at the end everything not returned before."""
        if not isinstance(said, PhibatchError) and "text" in said:
            attempt = said.get("attempt", 0)
            if attempt > self.attempt:
                self.attempt, self._text = attempt, ""
            self._text += said["text"]
            return said["text"]
        raw, _ = _read(said)
        assert raw is not None
        self._result = result(raw, self._schema)
        if self._result.error is not None:
            raise self._result.error
        return self._result.text[len(self._text) :]


class Stream(_Pieces):
    """A streamed answer. `result` is the whole one.

    Releasing or closing it ends the request. If an answer breaks its schema (some keywords can't be enforced by
    masks), it is generated again and streamed from its beginning, with a higher `attempt`.
    """

    def __init__(
        self, llm: LLM, number: int, events: queue.SimpleQueue[_Said], schema: Schema | None
    ) -> None:
        super().__init__(schema)
        self._llm = llm
        self._number = number
        self._events = events

    @property
    def result(self) -> Result:
        """The whole answer; waits for it."""
        for _ in self:
            pass
        assert self._result is not None
        return self._result

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while self._result is None:
            text = self._take(self._events.get())
            if text:
                return text
        raise StopIteration

    def close(self) -> None:
        """Ends the request."""
        self._llm._process.cancel([self._number])  # pyright: ignore[reportPrivateUsage]

    def __del__(self) -> None:
        if self._result is None:
            self.close()


class AsyncStream(_Pieces):
    """Like `Stream`, for asyncio. The request begins with the iteration."""

    def __init__(self, llm: LLM, prompt: Prompt, asked: SamplingParams) -> None:
        super().__init__(asked.schema)
        self._llm = llm
        self._prompt = prompt
        self._asked = asked

    @property
    def result(self) -> Result:
        """The whole answer, once the iteration has ended."""
        if self._result is None:
            raise UsageError("The answer is available when the iteration has ended.")
        return self._result

    async def __aiter__(self) -> AsyncIterator[str]:
        super().__init__(self._asked.schema)
        all_said = self._llm._said(self._prompt, self._asked, stream=True)  # pyright: ignore[reportPrivateUsage]
        async for said in all_said:
            text = self._take(said)
            if text:
                yield text


def _single(asked: SamplingParams) -> SamplingParams:
    if asked.samples is not None and asked.samples > 1:
        raise UsageError("A stream has one answer; generate returns several samples.")
    return asked


def _pairs(prompts: Iterable[Any], completions: Iterable[Any]) -> List[tuple[Any, Any]]:
    left, right = list(prompts), list(completions)
    if isinstance(completions, str) or len(left) != len(right):
        raise UsageError("For each prompt there is a completion, or a list of them.")
    return list(zip(left, right))


def _post(loop: asyncio.AbstractEventLoop, events: asyncio.Queue[_Said], said: _Said) -> None:
    try:
        loop.call_soon_threadsafe(events.put_nowait, said)
    except RuntimeError:
        # The loop is closed, so nobody waits.
        pass


def _read(said: _Said) -> tuple[Mapping[str, Any] | None, int]:
    """Returns a result, and the number still to come."""
    if isinstance(said, PhibatchError):
        raise said
    if "error" in said:
        raise error_of_code(said["error"]["code"], said["error"]["message"])
    return said.get("result"), said.get("left", 0 if "cancelled" in said else 1)


def _joined(raws: Sequence[Mapping[str, Any]], schema: Schema | None, index: int = 0) -> Result:
    """Combines the results of all samples of a prompt."""
    made = [result(raw, schema, index) for raw in sorted(raws, key=lambda raw: raw.get("sample", 0))]
    first = made[0]
    if len(made) > 1:
        object.__setattr__(first, "samples", made)
    return first
