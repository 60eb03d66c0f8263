"""Phi models on this machine's processors: many prompts at once, nothing lost, reproducible results.

>>> import phibatch
>>> with phibatch.LLM("smollm2-demo") as llm:
...     print(llm.generate("What is salt?", max_tokens=64).text)

`LLM` answers prompts, `run` runs a job file, and `map` adds a column of answers to a table. Each runs the ``phibatch``
program of this package.
"""

from ._errors import BusyError, InputError, InternalError, InterruptedRun, JobError, LineError, ModelError
from ._errors import OutputError, PhibatchError, ProcessError, StoppedError, TooManyFailuresError, UsageError
from ._llm import LLM, AsyncStream, Stream
from ._map import map
from ._parameters import Message, Prompt, SamplingParams, Schema
from ._program import __version__, program
from ._results import LogProb, Result, Row, Score, Scores, Usage
from ._run import Progress, Run, run

__all__ = [
    "LLM", "AsyncStream", "BusyError", "InputError", "InternalError", "InterruptedRun", "JobError", "LineError",
    "LogProb", "Message", "ModelError", "OutputError", "PhibatchError", "ProcessError", "Progress", "Prompt",
    "Result", "Row", "Run", "SamplingParams", "Schema", "Score", "Scores", "StoppedError", "Stream",
    "TooManyFailuresError", "Usage", "UsageError", "__version__", "map", "program", "run",
]
