"""What a request asks for, as the program's lines and settings say it."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Sequence, Union

from ._errors import UsageError
from ._narrow import is_list, is_mapping

if TYPE_CHECKING:
    from pydantic import BaseModel

    Schema = Union[Mapping[str, Any], type[BaseModel]]
else:
    Schema = Any

#: ``{"role": "user", "content": "..."}``
Message = Mapping[str, str]
#: A text, messages, a line with its own settings, or token ids.
Prompt = Union[str, Sequence[Message], Mapping[str, Any], Sequence[int]]

#: Fields that go into the settings; the others into the line.
_OF_SETTINGS = ("samples", "logprobs", "tokens", "indent", "open_objects", "retries", "ignore_eos", "reasoning",
                "reasoning_ending", "chat", "control_tokens")
#: Fields that the line has in a form of its own.
_MADE = ("logit_bias", "stop", "schema", "choices", "system", "prefix")


@dataclass(frozen=True)
class SamplingParams:
    """How answers are generated. What is None is left to the program's defaults, which are those of a job.

    Attributes:
        max_tokens: the most tokens of an answer (256).
        temperature: 0 is greedy (0).
        top_p: keep the likeliest tokens that reach this probability together (1).
        top_k: keep so many of the likeliest tokens; 0 keeps all (0).
        min_p: keep tokens at least this likely, relative to the likeliest (0).
        presence_penalty: taken from the logit of each token that the answer has, -2 to 2.
        frequency_penalty: taken from a token's logit for each time the answer has it, -2 to 2.
        repetition_penalty: divides the logits of tokens that prompt or answer have; 1 is none.
        no_repeat_ngram_size: no so many tokens in a row come a second time, the prompt's among them; 0 is no limit (0).
        min_tokens: tokens before which neither the end of sequence nor a stop text ends an answer (0).
        logit_bias: added to the logits of these token ids, -100 to 100.
        seed: of the random streams; the same seed and prompt give the same answer (0).
        stop: texts that end an answer, which is cut before them.
        schema: a JSON Schema, or a pydantic model, that answers follow.
        regex: a regular expression of ECMA-262 that answers match as a whole.
        grammar: the text of a grammar that answers follow, in GBNF.
        json_mode: True for answers that are any JSON document, ``object`` or ``array`` for one of anything.
        response_format: what answers are like, as OpenAI's API says it.
        tools: functions that the model may call, as in OpenAI's API; the result has its calls.
        tool_choice: ``auto``, ``none``, ``required`` or the name of one of them (``auto``).
        max_tool_calls: the most calls of an answer.
        choices: the answers to choose from; the result has the probability of each.
        samples: answers for each prompt, each with a random stream of its own (1).
        logprobs: add the log-probability of each token and of so many of the likeliest, 0 to 20.
        tokens: add the answer's token ids.
        indent: spaces by which JSON is deeper at each level; None writes it without white space.
        open_objects: objects may have members that a schema neither names nor forbids.
        retries: how many times an answer that is not what is asked for is generated anew (3).
        reasoning: what becomes of a thought before the answer: ``separate``, ``keep`` or ``drop``.
        max_reasoning_tokens: the most tokens of a thought; then it is ended, and the answer follows.
        reasoning_effort: the same as a part of max_tokens: ``none``, ``minimal``, ``low``, ``medium`` or ``high``.
        reasoning_ending: the sentence that a thought is ended with at its limit.
        ignore_eos: go on after the end of sequence, for measurements.
        chat: whether prompts go through the model's chat template (True).
        system: the system message, as it is.
        prefix: the beginning of the answer, from which the model goes on, as it is.
        control_tokens: what texts such as ``<|end|>`` in a prompt are: ``text`` or ``parse``.
    """

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repetition_penalty: float | None = None
    no_repeat_ngram_size: int | None = None
    min_tokens: int | None = None
    logit_bias: Mapping[int, float] | None = None
    seed: int | None = None
    stop: str | Sequence[str] | None = None
    schema: Schema | None = None
    regex: str | None = None
    grammar: str | None = None
    json_mode: bool | str | None = None
    response_format: Mapping[str, Any] | None = None
    tools: Sequence[Mapping[str, Any]] | None = None
    tool_choice: str | None = None
    max_tool_calls: int | None = None
    choices: Sequence[str] | None = None
    samples: int | None = None
    logprobs: int | None = None
    tokens: bool | None = None
    indent: int | None = None
    open_objects: bool | None = None
    retries: int | None = None
    ignore_eos: bool | None = None
    reasoning: str | None = None
    max_reasoning_tokens: int | None = None
    reasoning_effort: str | None = None
    reasoning_ending: str | None = None
    chat: bool | None = None
    system: str | None = None
    prefix: str | None = None
    control_tokens: str | None = None

    def line(self, prompt: Prompt) -> Dict[str, Any]:
        """What a job's input would have for the prompt."""
        line = _line(prompt, self.system)
        for name in OF_LINE:
            value = getattr(self, name)
            if value is not None:
                line[name] = value
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
        """What a job would say."""
        settings = {name: getattr(self, name) for name in _OF_SETTINGS if getattr(self, name) is not None}
        if self.prefix is not None:
            settings["prefix"] = "{{ prefix }}"
        return settings


#: Fields that go into the line as they are.
OF_LINE = tuple(one.name for one in fields(SamplingParams) if one.name not in (*_OF_SETTINGS, *_MADE))


def parameters(base: SamplingParams | None, keywords: Mapping[str, Any]) -> SamplingParams:
    """Takes the settings of an object, of keywords, or of an object in which keywords replace something.

    Raises:
        UsageError: for a keyword that there is none.
    """
    known = [field.name for field in fields(SamplingParams)]
    for name in keywords:
        if name not in known:
            raise UsageError(f'There is no setting "{name}". Settings are {", ".join(known)}.')
    return replace(base or SamplingParams(), **keywords)


def is_one(prompts: Any) -> bool:
    """Whether this is a prompt, and not several."""
    if isinstance(prompts, (str, Mapping)):
        return True
    if not is_list(prompts) or not prompts:
        return False
    first: Any = prompts[0]
    return (isinstance(first, int) and not isinstance(first, bool)) or (
        is_mapping(first) and "role" in first and "content" in first
    )


def json_schema(schema: Schema) -> Any:
    """The JSON Schema of a pydantic model; a schema itself as it is."""
    made = getattr(schema, "model_json_schema", None)
    if made is not None:
        return made()
    if isinstance(schema, Mapping):
        return dict(schema)
    raise UsageError(f"A schema is a mapping or a pydantic model, but this is {type(schema).__name__}.")


def parsed(text: str, schema: Schema | None) -> Any:
    """What an answer in JSON says; of a pydantic model an object of it."""
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
