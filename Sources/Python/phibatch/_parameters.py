"""Settings of requests, as lines and settings of the program."""

from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Sequence, TypedDict, Union

from ._errors import UsageError
from ._narrow import is_list, is_mapping

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

#: Settings of answers, as keywords; `SamplingParams` describes each.
Asked = TypedDict("Asked", {
    "max_tokens": "int | None", "temperature": "float | None", "top_p": "float | None", "top_k": "int | None",
    "min_p": "float | None", "presence_penalty": "float | None", "frequency_penalty": "float | None",
    "repetition_penalty": "float | None", "no_repeat_ngram_size": "int | None", "min_tokens": "int | None",
    "logit_bias": "Mapping[int, float] | None", "seed": "int | None", "stop": "str | Sequence[str] | None",
    "regex": "str | None", "grammar": "str | None", "json_mode": "bool | str | None",
    "response_format": "Mapping[str, object] | None", "tools": "Sequence[Mapping[str, object]] | None",
    "tool_choice": "str | None", "max_tool_calls": "int | None", "samples": "int | None", "logprobs": "int | None", "tokens": "bool | None", "indent": "int | None",
    "open_objects": "bool | None", "retries": "int | None", "ignore_eos": "bool | None", "reasoning": "str | None",
    "max_reasoning_tokens": "int | None", "reasoning_effort": "str | None", "reasoning_ending": "str | None",
    "chat": "bool | None", "system": "str | None", "prefix": "str | None", "control_tokens": "str | None",
}, total=False)  # fmt: skip


class Settings(Asked, total=False):
    """Keywords of `LLM.generate` and its kin."""

    schema: Schema | None
    choices: Sequence[str] | None


#: Keywords of `map`, besides its parameters.
MapSettings = TypedDict("MapSettings", {
    "adapter": "str | PathLike[str]", "answers": "str | PathLike[str]", "answers_limit": "int | str",
    "allow_empty": "bool", "messages": "Sequence[Mapping[str, str]]", "task": "str", "completion": "str",
    "choices": "Sequence[str]", "max_failures": "int | str", "limit": "int", "checkpoint_interval": "float", "keep_old": "int", "provenance": "bool",
    "engine": "str", "workers": "int", "threads": "int", "kv_budget": "int | str", "kv": "str", "long_rope": "str",
    "prefill_chunk": "int", "speculate": "int | str",
}, total=False)  # fmt: skip


class MapKeywords(Asked, MapSettings, total=False):
    """All keywords of `map`'s settings."""


#: Other settings of a job; "phibatch help job" describes each.
_JobAlone = TypedDict("_JobAlone", {
    "model": "str | PathLike[str]", "input": "str | PathLike[str] | Sequence[str | PathLike[str]]", "input_format": "str",
    "delimiter": "str", "quotes": "str", "rows": "int", "pick": "Mapping[str, object]", "output": "str | PathLike[str]",
    "output_format": "str", "errors": "str | PathLike[str]", "shard": "str", "until": "int | str", "prompt": "str",
    "prompt_file": "str | PathLike[str]", "steps": "Sequence[Mapping[str, object]]", "id": "str",
    "line_settings": "str | Sequence[str]", "keep": "Sequence[str] | Mapping[str, str]", "results": "str",
    "error_lines": "str", "unsupported": "str",
}, total=False)  # fmt: skip


class JobKeywords(MapKeywords, _JobAlone, total=False):
    """All settings of a job."""

    schema: Schema | str | PathLike[str] | None


def check_names(names: Iterable[str], known: Iterable[str], must_be_known: bool) -> None:
    """Checks the names of settings, and suggests the right one.

    Raises:
        UsageError: for a name that is close to a known one, or any unknown one if it must be known.
    """
    for name in set(names).difference(known):
        near = difflib.get_close_matches(name, list(known), 1)
        if near or must_be_known:
            hint = f"Did you mean {near[0]}?" if near else f"Settings are {', '.join(known)}."
            raise UsageError(f'There is no setting "{name}". {hint}')


#: Fields that go into the settings; the others into the line.
_OF_SETTINGS = ("samples", "logprobs", "tokens", "indent", "open_objects", "retries", "ignore_eos", "reasoning",
                "reasoning_ending", "chat", "control_tokens")
#: Fields that the line has in another form.
_MADE = ("logit_bias", "stop", "schema", "choices", "system", "prefix")


class SamplingParams:
    """Settings of answers. None selects the default, as in a job.

    Attributes:
        max_tokens: the most tokens of an answer (256).
        temperature: 0 is greedy (0).
        top_p: keep the likeliest tokens whose probabilities add up to this (1).
        top_k: keep this many of the likeliest tokens; 0 keeps all (0).
        min_p: keep tokens at least this likely, relative to the likeliest (0).
        presence_penalty: subtracted from the logit of each token in the answer, -2 to 2.
        frequency_penalty: subtracted from a token's logit for each time it is in the answer, -2 to 2.
        repetition_penalty: divides positive logits of tokens in prompt or answer, multiplies negative ones; 1 is none.
        no_repeat_ngram_size: length of token sequences that may not repeat, the prompt's included; 0 is no limit (0).
        min_tokens: tokens before which neither the end of sequence nor a stop string ends an answer (0).
        logit_bias: added to the logits of these token ids, -100 to 100.
        seed: seed of the random streams; the same seed and prompt give the same answer (0).
        stop: strings that end an answer, which is cut before them.
        schema: a JSON Schema or a pydantic model for answers.
        regex: a regular expression of ECMA-262 that matches the whole answer.
        grammar: the text of a GBNF grammar for answers.
        json_mode: True for any JSON document, ``object`` or ``array`` for any object or array.
        response_format: a constraint as in OpenAI's API.
        tools: functions that the model may call, as in OpenAI's API; the result has the calls.
        tool_choice: ``auto``, ``none``, ``required`` or the name of a tool (``auto``).
        max_tool_calls: the most calls in an answer.
        choices: the answers to choose from; the result has the probability of each.
        samples: answers for each prompt, each with its own random stream (1).
        logprobs: add the log-probabilities of each token and of this many of the likeliest, 0 to 20.
        tokens: add the answer's token ids.
        indent: spaces per level of JSON; None writes it without white space.
        open_objects: allow members that a schema neither names nor forbids.
        retries: how many times an answer that breaks its constraint is generated again (3).
        reasoning: treatment of the model's reasoning: ``separate``, ``keep`` or ``drop``.
        max_reasoning_tokens: the most tokens of reasoning; then it is ended, and the answer follows.
        reasoning_effort: the same as a share of max_tokens: ``none``, ``minimal``, ``low``, ``medium`` or ``high``.
        reasoning_ending: the sentence that ends reasoning at its limit.
        ignore_eos: continue after the end of sequence, for measurements.
        chat: whether prompts go through the model's chat template (True).
        system: the system message.
        prefix: the beginning of the answer, which the model continues.
        control_tokens: treatment of control tokens such as ``<|end|>`` in prompts: ``text`` or ``parse``.
    """

    def __init__(self, **settings: Unpack[Settings]) -> None:
        check_names(settings, Settings.__annotations__, True)
        self.given: Dict[str, Any] = {name: value for name, value in settings.items() if value is not None}

    def __getattr__(self, name: str) -> Any:
        if name not in Settings.__annotations__:
            raise AttributeError(name)
        return self.given.get(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SamplingParams) and self.given == other.given

    def __repr__(self) -> str:
        return f"SamplingParams({', '.join(f'{name}={value!r}' for name, value in self.given.items())})"

    def line(self, prompt: Prompt) -> Dict[str, Any]:
        """Returns the prompt as a line of a job's input."""
        given = self.given
        line = _line(prompt, self.system)
        line.update((name, given[name]) for name in OF_LINE if name in given)
        if self.logit_bias is not None:
            line["logit_bias"] = {str(token): bias for token, bias in self.logit_bias.items()}
        if self.stop is not None:
            line["stop"] = [self.stop] if isinstance(self.stop, str) else list(self.stop)
        if self.choices is not None:
            line["choices"] = list(self.choices)
        if self.schema is not None:
            line["schema"] = json_schema(self.schema)
        if self.prefix is not None:
            line["prefix"] = self.prefix
        return line

    def settings(self) -> Dict[str, Any]:
        """Returns the settings of a job."""
        settings = {name: self.given[name] for name in _OF_SETTINGS if name in self.given}
        if self.prefix is not None:
            settings["prefix"] = "{{ prefix }}"
        return settings


#: Fields that go into the line unchanged.
OF_LINE = tuple(name for name in Settings.__annotations__ if name not in (*_OF_SETTINGS, *_MADE))


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
