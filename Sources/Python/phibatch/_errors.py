"""Errors. Messages are the program's: what is wrong, where, and what would be right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._run import Run


class PhibatchError(Exception):
    """An error of phibatch.

    Attributes:
        message: what is wrong, in one or two sentences.
        code: a word for programs, such as ``bad_settings`` or ``prompt_too_long``.
        exit_code: the program's exit code; None if it is still running.
    """

    code: str = "failed"

    def __init__(self, message: str, *, code: str | None = None, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        if code is not None:
            self.code = code

    def __reduce__(self) -> tuple[object, ...]:
        return (partial(type(self), code=self.code, exit_code=self.exit_code), (self.message,))


class UsageError(PhibatchError, ValueError):
    """An argument is wrong (exit code 64)."""

    code = "usage"


class JobError(PhibatchError, ValueError):
    """The job or a request's settings are wrong, or results would be removed (exit code 65)."""

    code = "bad_settings"


class InputError(PhibatchError):
    """An input is missing or can't be read (exit code 66)."""

    code = "missing_input"


class ModelError(PhibatchError):
    """The model can't be used, or there is no memory or network (exit code 69)."""

    code = "model_failed"


class InternalError(PhibatchError):
    """An internal error of phibatch (exit code 70)."""

    code = "internal"


class OutputError(PhibatchError, OSError):
    """The output can't be made, or reading or writing failed (exit codes 73 and 74)."""

    code = "output_failed"

    def __str__(self) -> str:
        return self.message


class BusyError(PhibatchError):
    """Another run writes the output (exit code 75)."""

    code = "busy"


class TooManyFailuresError(PhibatchError):
    """More lines failed than ``max_failures`` allows, or fewer rows were accepted than ``until`` wants (exit code 3).
    Finished results are kept."""

    code = "too_many_failures"


class StoppedError(PhibatchError):
    """A signal stopped the program. The same call resumes."""

    code = "stopped"


class ProcessError(PhibatchError):
    """The program ended while it was needed, or belongs to another process."""

    code = "process_ended"


class LineError(PhibatchError):
    """A prompt could not be answered. ``phibatch help results`` lists the codes."""

    code = "bad_field"


class InterruptedRun(KeyboardInterrupt):
    """Ctrl-C during a run. Running completions are saved; the same call resumes them.

    Attributes:
        run: the results so far.
    """

    def __init__(self, run: Run) -> None:
        super().__init__("the run is saved; the same call goes on where it was")
        self.run = run


_BY_EXIT_CODE: dict[int, type[PhibatchError]] = {
    3: TooManyFailuresError,
    64: UsageError,
    65: JobError,
    66: InputError,
    69: ModelError,
    70: InternalError,
    73: OutputError,
    74: OutputError,
    75: BusyError,
    129: StoppedError,
    130: StoppedError,
    143: StoppedError,
}

_BY_CODE: dict[str, type[PhibatchError]] = {
    "bad_message": UsageError,
    "bad_settings": JobError,
    "model_failed": ModelError,
    "stopped": StoppedError,
}


def error_of_exit(exit_code: int, message: str) -> PhibatchError:
    """Returns the exception for an exit code."""
    if exit_code < 0:
        return ProcessError(
            message or f"phibatch was ended by signal {-exit_code}.", exit_code=exit_code
        )
    kind = _BY_EXIT_CODE.get(exit_code, ProcessError)
    return kind(message or f"phibatch ended with exit code {exit_code}.", exit_code=exit_code)


def error_of_code(code: str, message: str) -> PhibatchError:
    """Returns the exception for an error in an answer of the pipe."""
    return _BY_CODE.get(code, PhibatchError)(message, code=code)
