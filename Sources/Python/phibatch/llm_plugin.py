"""A plugin for ``llm``: ``llm -m phibatch/phi-4-mini "What is salt?"``, after ``pip install 'phibatch[llm]'``.

The models are those of ``phibatch models``; a missing one is fetched on first use.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import subprocess
import threading
from typing import Any, Dict, Iterator, List, Optional

import llm
from pydantic import Field

from ._errors import PhibatchError
from ._llm import LLM
from ._program import program

_PREFIX = "phibatch/"
_loaded: Dict[str, LLM] = {}
_lock = threading.Lock()


def _model(name: str) -> LLM:
    """Returns a model, loaded once a process."""
    with _lock:
        if name not in _loaded:
            _loaded[name] = LLM(name)
        return _loaded[name]


class Phibatch(llm.Model):
    """A model of phibatch."""

    can_stream = True
    supports_schema = True

    class Options(llm.Options):
        max_tokens: Optional[int] = Field(description="The most tokens of an answer", default=1024)
        temperature: Optional[float] = Field(description="0 is greedy", default=None)
        top_p: Optional[float] = Field(
            description="Keep the likeliest tokens whose probabilities add up to this", default=None
        )
        top_k: Optional[int] = Field(description="Keep this many of the likeliest tokens", default=None)
        seed: Optional[int] = Field(description="The same seed gives the same answer", default=None)

    def __init__(self, name: str) -> None:
        self.name = name
        self.model_id = _PREFIX + name

    def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any) -> Iterator[str]:
        messages: List[Dict[str, str]] = []
        before = conversation.responses if conversation is not None else []
        for said in before:
            if said.prompt.system and not messages:
                messages.append({"role": "system", "content": said.prompt.system})
            messages.append({"role": "user", "content": said.prompt.prompt})
            messages.append({"role": "assistant", "content": said.text_or_raise()})
        if prompt.system:
            messages = [message for message in messages if message["role"] != "system"]
            messages.insert(0, {"role": "system", "content": prompt.system})
        messages.append({"role": "user", "content": prompt.prompt})
        settings = {
            name: value for name, value in prompt.options.model_dump().items() if value is not None
        }
        schema = getattr(prompt, "schema", None)
        if schema is not None:
            settings["schema"] = schema
        try:
            answer = _model(self.name).stream(messages, **settings)
            if stream:
                yield from answer
            else:
                yield "".join(answer)
            usage = answer.result.usage
        except PhibatchError as error:
            raise llm.ModelError(error.message) from error
        response.set_usage(input=usage.prompt_tokens, output=usage.completion_tokens)


@llm.hookimpl
def register_models(register: Any) -> None:
    """Registers named models and the demo's."""
    for name in _names():
        register(Phibatch(name))


def _names() -> List[str]:
    """Reads ``phibatch models``: the first column of its table, which a blank line ends."""
    try:
        table = subprocess.run([program(), "models"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError, PhibatchError):
        return []
    return [row.split()[0] for row in table.partition("\n\n")[0].splitlines()[1:]]
