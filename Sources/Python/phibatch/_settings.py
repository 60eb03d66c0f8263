"""Settings by name. "make settings" writes this file from the program's table: change that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from os import PathLike

#: Settings of answers, of a loaded model, of `map`, and of whole jobs, which "phibatch help job" describes.
Asked = TypedDict("Asked", {
    "system": "str | None", "prefix": "str | None", "chat": "bool | None", "control_tokens": "str | None",
    "max_tokens": "int | None", "temperature": "float | None", "top_p": "float | None", "top_k": "int | None",
    "min_p": "float | None", "presence_penalty": "float | None", "frequency_penalty": "float | None",
    "repetition_penalty": "float | None", "no_repeat_ngram_size": "int | None",
    "logit_bias": "Mapping[int, float] | None", "seed": "int | None", "stop": "str | Sequence[str] | None",
    "min_tokens": "int | None", "samples": "int | None", "ignore_eos": "bool | None",
    "response_format": "Mapping[str, object] | None", "regex": "str | None", "grammar": "str | None",
    "json_mode": "bool | str | None", "tools": "Sequence[Mapping[str, object]] | None", "indent": "int | None",
    "open_objects": "bool | None", "retries": "int | None", "tool_choice": "str | None", "max_tool_calls": "int | None",
    "reasoning": "str | None", "max_reasoning_tokens": "int | None", "reasoning_effort": "str | None",
    "reasoning_ending": "str | None", "tokens": "bool | None", "logprobs": "int | None",
}, total=False)  # fmt: skip
LoadSettings = TypedDict("LoadSettings", {
    "adapter": "str | PathLike[str] | None", "engine": "str | None", "workers": "int | str | None",
    "threads": "int | str | None", "kv_budget": "int | str | None", "kv": "str | None", "long_rope": "str | None",
    "prefill_chunk": "int | None", "speculate": "int | str | None",
}, total=False)  # fmt: skip
MapSettings = TypedDict("MapSettings", {
    "limit": "int", "messages": "Sequence[Mapping[str, str]]", "allow_empty": "bool", "task": "str",
    "completion": "str", "choices": "str | Sequence[str]", "max_failures": "int | str", "keep_old": "int",
    "provenance": "bool", "answers": "str | PathLike[str]", "answers_limit": "int | str",
    "checkpoint_interval": "float",
}, total=False)  # fmt: skip
JobSettings = TypedDict("JobSettings", {
    "model": "str | PathLike[str]", "input": "str | PathLike[str] | Sequence[str | PathLike[str]]",
    "input_format": "str", "delimiter": "str", "quotes": "str", "rows": "int", "pick": "Mapping[str, object]",
    "output": "str | PathLike[str]", "output_format": "str", "errors": "str | PathLike[str]", "shard": "str",
    "until": "int | str", "prompt": "str", "prompt_file": "str | PathLike[str]",
    "steps": "Sequence[Mapping[str, object]]", "id": "str", "line_settings": "str | Sequence[str]",
    "keep": "Sequence[str] | Mapping[str, str]", "results": "str", "error_lines": "str", "unsupported": "str",
}, total=False)  # fmt: skip
#: Fields of a line that are settings.
LINE = ( "max_tokens", "temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty",
    "repetition_penalty", "no_repeat_ngram_size", "logit_bias", "seed", "stop", "min_tokens", "choices", "ignore_eos",
    "response_format", "schema", "regex", "grammar", "json_mode", "tools", "tool_choice", "max_tool_calls",
    "max_reasoning_tokens", "reasoning_effort", )  # fmt: skip

FLAGS = ( "chat", "allow_empty", "ignore_eos", "open_objects", "tokens", "provenance", )  # fmt: skip

PATHS = ( "model", "adapter", "output", "errors", "prompt_file", "answers", )  # fmt: skip

ATTRIBUTES = """Attributes:
    system: system message, as it is
    prefix: beginning of the answer, a template; the model continues it, and text holds the rest
    chat: use the model's chat template (the default), or give the model the bare prompt
    control_tokens: texts such as <|end|> in a line's fields: stay text (the default), or are special tokens as in
        Hugging Face's tokenizers
    max_tokens: the most tokens of a completion; no line can exceed it (default 256)
    temperature: 0 is greedy (default 0)
    top_p: keep the likeliest tokens whose probabilities add up to this (default 1: all)
    top_k: keep the N likeliest tokens (default 0: all)
    min_p: keep tokens at least this likely, relative to the likeliest (default 0: all)
    presence_penalty: subtracted from the logit of each token in the completion, -2 to 2 (default 0)
    frequency_penalty: subtracted from a token's logit for each time it is in the completion, -2 to 2 (default 0)
    repetition_penalty: divides positive logits of tokens in prompt or completion, multiplies negative ones (default 1:
        none)
    no_repeat_ngram_size: no sequence of N tokens is repeated, the prompt's included (default 0: off)
    logit_bias: added to the logit of token ID, -100 to 100; may be repeated (a map in a job file)
    seed: seed of the random streams; a line's own replaces it (default 0)
    stop: a string, or a list of them, that ends a completion; a line may add its own
    min_tokens: sampled tokens before which neither the end of sequence nor a stop string ends a completion (default 0)
    choices: the answers to choose from, two or more: the result is the likeliest, with the probability of each; {{
        FIELD }} alone names a field with a list of them (see "phibatch help choices")
    samples: results for each line, each with its own random stream (default 1)
    ignore_eos: go on after the end of sequence, up to max_tokens; for benchmarks (default: stop there)
    response_format: as in OpenAI's API: json_object, text, or an object with type: json_schema
    regex: a regular expression (ECMA-262, lookahead at its beginning only) that matches answers as a whole
    grammar: a context-free grammar that answers follow, in GBNF: a file, or the text itself
    json_mode: answers are JSON: true for any document, or object or array for one of anything
    tools: functions that the model may call, as in OpenAI's API: a file, or in a job file the list itself
    indent: indent JSON by N spaces per level, a line for each member and item (default: no white space)
    open_objects: objects may have members that the schema doesn't name (default: only if it has additionalProperties,
        patternProperties or unevaluatedProperties, or names none)
    retries: how many times an answer that breaks its constraint is generated again, each time with another random
        stream (default 3)
    tool_choice: whether the model calls tools: as it likes (the default), never, in each answer, or the one of this
        name
    max_tool_calls: the most calls in an answer (default: no limit)
    reasoning: the model's reasoning, between <think> and </think>: apart from the text, in it, or left out (default
        separate, if the model's files say that it reasons)
    max_reasoning_tokens: the most tokens of reasoning, 0 for none: then it is ended, and the answer follows within
        max_tokens (default: no limit; three quarters of max_tokens before a constrained answer)
    reasoning_effort: the same as a share of max_tokens: none of them, an eighth, a quarter, a half or three quarters
    reasoning_ending: the sentence that ends reasoning at its limit (default "That is enough; I answer now.")
    tokens: add the completion's token ids to each result (default: leave them out)
    logprobs: add log-probabilities of each chosen token and the K likeliest, 0 to 20
"""
