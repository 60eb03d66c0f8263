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

PATHS = ( "model", "adapter", "output", "errors", "prompt_file", "answers", )  # fmt: skip
