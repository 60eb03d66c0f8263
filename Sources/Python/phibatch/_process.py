"""A ``phibatch pipe`` process and its pending requests."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import weakref
from collections import deque
from typing import Any, Callable, Mapping, Sequence

from ._errors import PhibatchError, ProcessError, error_of_exit
from ._program import environment, program
from ._progress import Bar, shown

logger = logging.getLogger("phibatch")

Answer = Mapping[str, Any]
#: Receives a request's answers; an exception is the last.
Sink = Callable[[int, "Answer | PhibatchError"], None]

_LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}

_all: weakref.WeakSet[PipeProcess] = weakref.WeakSet()


class MessageLog:
    """Messages of the program: passed to `logging`, with the last lines kept, and a bar while it fetches."""

    def __init__(self, shows: bool | None = None) -> None:
        self._last: deque[tuple[str, str]] = deque(maxlen=50)
        self._shows = shows
        self._bar: Bar | None = None

    def take(self, line: bytes) -> Mapping[str, Any] | None:
        """Reads a line of stderr. Returns its object if it is not a message."""
        text = line.decode("utf-8", "replace").rstrip("\n")
        level, message = "error", text
        try:
            value = json.loads(text)
            if "fetch" in value:
                self._bar = self._bar or Bar(shows=self._shows, unit=1_000_000, what="MB fetched")
                self._bar.set(value["fetch"]["done"], value["fetch"]["total"])
                return None
            if "message" not in value:
                return value
            level, message = value["level"], value["message"]
        except (ValueError, TypeError, KeyError):
            message = message[len("phibatch: ") :] if message.startswith("phibatch: ") else message
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        # A job given as a mapping is in a file that is gone.
        message = re.sub(r"\S*/phibatch-[^/\s]+/job\.json(:\d+)?: ", "", message)
        if message.strip():
            self._last.append((level, message))
            if message.startswith("fetching ") and shown(self._shows):
                print(f"phibatch: {message}", file=sys.stderr)
            if level != "error":
                logger.log(_LEVELS.get(level, logging.INFO), "%s", message)
        return None

    @property
    def error(self) -> str:
        """The errors, or else the last messages."""
        errors = [message for level, message in self._last if level == "error"]
        if errors:
            return "\n".join(errors)
        return self._last[-1][1] if self._last else ""


class PipeProcess:
    """A process that answers requests; threads may share it."""

    def __init__(self, model: str, options: Sequence[str]) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._sinks: dict[int, Sink] = {}
        self._next = 1
        self._end: PhibatchError | None = None
        self._closing = False
        self._greeted = threading.Event()
        self.greeting: Answer = {}
        self._log = MessageLog()
        # In its own session, so that Ctrl-C ends requests, not the model.
        self._process = subprocess.Popen(
            [program(), "pipe", model, *options, "--log-format", "json"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=environment(),
        )
        self._readers = [
            threading.Thread(target=self._read_messages, name="phibatch messages", daemon=True),
            threading.Thread(target=self._read_answers, name="phibatch answers", daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        _all.add(self)
        try:
            self._greeted.wait()
        except BaseException:
            self.close(patience=0)
            raise
        if not self.greeting:
            self._readers[1].join()
            raise self._end or ProcessError("phibatch ended before it was ready.")

    # Requests

    def ask(
        self,
        line: Mapping[str, Any],
        settings: Mapping[str, Any],
        sink: Sink,
        *,
        index: int = 0,
        stream: bool = False,
    ) -> int:
        """Sends a request. `sink` receives its number with each answer."""
        self._check()
        with self._lock:
            if self._end is not None:
                raise self._end
            number = self._next
            self._next += 1
            self._sinks[number] = sink
        message: dict[str, Any] = {"request": number, "index": index, "line": line}
        if settings:
            message["settings"] = settings
        if stream:
            message["stream"] = True
        try:
            self._send(message)
        except BaseException:
            with self._lock:
                self._sinks.pop(number, None)
            raise
        return number

    def cancel(self, numbers: Sequence[int]) -> None:
        """Cancels requests; their sinks receive nothing more."""
        with self._lock:
            own = [number for number in numbers if self._sinks.pop(number, None) is not None]
        with contextlib.suppress(PhibatchError):
            for number in own:
                self._send({"cancel": number})

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            data = text.encode("utf-8") + b"\n"
        except UnicodeEncodeError:
            raise ProcessError("A text holds half of a surrogate pair, which is no character.", code="invalid_utf8") from None
        stream = self._process.stdin
        assert stream is not None
        try:
            with self._writing:
                stream.write(data)
                stream.flush()
        except (OSError, ValueError):
            # The reason comes with the program's end.
            self._readers[1].join(timeout=10)
            raise self._end or ProcessError("phibatch takes no more requests.") from None

    def _check(self) -> None:
        if os.getpid() != self._pid:
            raise ProcessError(
                "This LLM belongs to the process that made it; make another one after a fork.", code="forked"
            )
        if self._closing:
            raise ProcessError("The LLM is closed.", code="closed")

    # Reading

    def _read_answers(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        with contextlib.suppress(OSError, ValueError):
            for line in stream:
                self._take(json.loads(line))
        code = self._process.wait()
        self._readers[0].join(timeout=5)
        with self._lock:
            if self._closing and code == 0:
                self._end = ProcessError("The LLM is closed.", code="closed", exit_code=code)
            else:
                self._end = error_of_exit(code, self._log.error)
            sinks, self._sinks = self._sinks, {}
        for number, sink in sinks.items():
            sink(number, self._end)
        self._greeted.set()

    def _take(self, answer: Answer) -> None:
        if "protocol" in answer:
            if answer["protocol"] != 1:
                self._process.terminate()
                return
            self.greeting = answer
            self._greeted.set()
            return
        number = answer.get("request", 0)
        is_last = "error" in answer or "cancelled" in answer or answer.get("left") == 0
        with self._lock:
            sink = self._sinks.pop(number, None) if is_last else self._sinks.get(number)
        if sink is not None:
            sink(number, answer)

    def _read_messages(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        with contextlib.suppress(OSError, ValueError):
            for line in stream:
                self._log.take(line)

    # The end

    def close(self, patience: float = 10) -> None:
        """Ends the program. Pending requests fail."""
        if os.getpid() != self._pid:
            return
        self._closing = True
        with self._lock:
            sinks = dict(self._sinks)
        self.cancel(list(sinks))
        for number, sink in sinks.items():
            sink(number, ProcessError("The LLM is closed.", code="closed"))
        stream = self._process.stdin
        assert stream is not None
        with contextlib.suppress(OSError, ValueError):
            stream.close()
        for act in (None, signal.SIGTERM, signal.SIGKILL):
            if act is not None and self._process.poll() is None:
                self._process.send_signal(act)
            try:
                self._process.wait(timeout=patience if act is None else 5)
                break
            except subprocess.TimeoutExpired:
                continue
        if threading.current_thread() not in self._readers:
            for reader in self._readers:
                reader.join(timeout=5)

    def forget(self) -> None:
        """Releases the program in a forked child: it must notice the parent's end."""
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    # Not closed: its number could be another file's when the stream is released.
                    os.dup2(nothing, stream.fileno(), inheritable=False)
        os.close(nothing)


def _after_fork() -> None:
    for process in list(_all):
        process.forget()


os.register_at_fork(after_in_child=_after_fork)
