"""Settings of requests, as lines, settings and options of the program."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Sequence, Union

from ._errors import UsageError
from ._settings import LINE, Asked, JobSettings, LoadSettings, MapSettings
from ._values import is_list, is_mapping

if TYPE_CHECKING:
    from os import PathLike

    from pydantic import BaseModel
    from typing_extensions import Unpack

    Schema = Union[Mapping[str, Any], type[BaseModel]]
else:
    Schema = Any

#: ``{"role": "user", "content": "..."}``
Message = Mapping[str, str]
#: A text, messages, a line with its own settings, or token ids.
Prompt = Union[str, Sequence[Message], Mapping[str, Any], Sequence[int]]


class Settings(Asked, total=False):
    """Keywords of `LLM.generate` and its kin."""

    schema: Schema | None
    choices: Sequence[str] | None


class MapKeywords(Asked, LoadSettings, MapSettings, total=False):
    """All keywords of `map`'s settings."""


class JobKeywords(MapKeywords, JobSettings, total=False):
    """All settings of a job."""

    schema: Schema | str | PathLike[str] | None


def check_names(names: Iterable[str], known: Iterable[str]) -> None:
    """Checks the names of settings, and suggests the right one.

    Raises:
        UsageError: for an unknown name.
    """
    for name in set(names).difference(known):
        near = difflib.get_close_matches(name, list(known), 1)
        hint = f"Did you mean {near[0]}?" if near else f"Settings are {', '.join(known)}."
        raise UsageError(f'There is no setting "{name}". {hint}')


class SamplingParams:
    """Settings of answers, as ``phibatch help job`` describes them. None selects the default.

    `system` is no template here, and `schema` is a JSON Schema or a pydantic model.
    """

    def __init__(self, **settings: Unpack[Settings]) -> None:
        check_names(settings, Settings.__annotations__)
        self.given: Dict[str, Any] = {name: value for name, value in settings.items() if value is not None}

    def __getattr__(self, name: str) -> Any:
        if name not in Settings.__annotations__:
            raise AttributeError(name)
        return self.given.get(name)

    def __repr__(self) -> str:
        return f"SamplingParams({', '.join(f'{name}={value!r}' for name, value in self.given.items())})"

    def line(self, prompt: Prompt) -> Dict[str, Any]:
        """Returns the prompt as a line of a job's input."""
        line = _line(prompt, self.system)
        line.update((name, value) for name, value in self.given.items() if name in (*LINE, "prefix"))
        if self.schema is not None:
            line["schema"] = json_schema(self.schema)
        return line

    def settings(self) -> Dict[str, Any]:
        """Returns the settings of a job."""
        settings = {name: value for name, value in self.given.items() if name not in (*LINE, "system", "prefix")}
        if self.prefix is not None:
            settings["prefix"] = "{{ prefix }}"
        return settings


def parameters(base: SamplingParams | None, keywords: Mapping[str, Any]) -> SamplingParams:
    """Merges the settings of an object and of keywords, which override them.

    Raises:
        UsageError: for an unknown keyword.
    """
    return SamplingParams(**{**(base.given if base else {}), **keywords})


def is_one(prompts: Any) -> bool:
    """Whether this is a single prompt."""
    if isinstance(prompts, (str, Mapping)):
        return True
    if not is_list(prompts) or not prompts:
        return False
    first: Any = prompts[0]
    return (isinstance(first, int) and not isinstance(first, bool)) or (
        is_mapping(first) and "role" in first and "content" in first
    )


def json_schema(schema: Schema) -> Any:
    """Returns the JSON Schema of a pydantic model, or the schema itself."""
    made = getattr(schema, "model_json_schema", None)
    if made is not None:
        return made()
    if isinstance(schema, Mapping):
        return dict(schema)
    raise UsageError(f"A schema is a mapping or a pydantic model, but this is {type(schema).__name__}.")


def parsed(text: str, schema: Schema | None) -> Any:
    """Parses a JSON answer, to an object of the pydantic model if there is one."""
    made = getattr(schema, "model_validate_json", None)
    return json.loads(text) if made is None else made(text)


def options(settings: Mapping[str, Any]) -> List[str]:
    """Converts ``max_tokens=5`` to ``--max-tokens 5``. None is left out, True and False are flags."""
    found: List[str] = []
    for name, value in settings.items():
        option = "--" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            found.append(option if value else "--no-" + option[2:])
        elif is_list(value):
            for item in value:
                found += [option, _text(name, item)]
        elif name == "logit_bias" and is_mapping(value):
            for token, bias in value.items():
                found += [option, f"{token}={bias}"]
        else:
            found += [option, _text(name, value)]
    return found


def _text(name: str, value: Any) -> str:
    if isinstance(value, (str, Path)):
        return str(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(value)
    raise UsageError(f"{name} can't be an option with {type(value).__name__} in it; set it in the job.")


def _line(prompt: Prompt, system: str | None) -> Dict[str, Any]:
    line: Dict[str, Any]
    if is_mapping(prompt):
        line = dict(prompt)
    elif isinstance(prompt, str):
        line = {"prompt": prompt}
    elif is_one(prompt):
        values: List[Any] = list(prompt)
        line = {"messages" if isinstance(values[0], Mapping) else "prompt": values}
    else:
        raise UsageError(
            "A prompt is a text, a list of messages with role and content, a mapping, or a list of token ids, "
            f"but this is {type(prompt).__name__}."
        )
    if system is not None:
        messages: Any = line.pop("messages", None)
        if messages is None:
            content = line.pop("prompt", None)
            if not isinstance(content, str):
                raise UsageError("A system message goes with a prompt of text or with messages.")
            messages = [{"role": "user", "content": content}]
        others = [message for message in messages if message.get("role") != "system"]
        line["messages"] = [{"role": "system", "content": system}, *others]
    return line
