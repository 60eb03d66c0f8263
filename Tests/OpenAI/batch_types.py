#!/usr/bin/env python3
"""Reads a file of batch results with the types of the `openai` package, as a script of its users does.

    batch_types.py RESULTS

Prints one line for each result: custom_id, status, and what the answer holds. Exit status 1 if one doesn't fit.
"""
import json
import sys

from openai.types import Completion
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from openai.types.shared import ErrorObject

TYPES = {"chat.completion": ChatCompletion, "text_completion": Completion, "response": Response}

for line in open(sys.argv[1], encoding="utf-8"):
    result = json.loads(line)
    assert result["error"] is None and result["id"].startswith("batch_req_")
    response = result["response"]
    body = response["body"]
    if response["status_code"] != 200:
        error = ErrorObject.model_validate(body["error"])
        print(result["custom_id"], response["status_code"], error.code, error.message, sep="\t")
        continue
    answer = TYPES[body["object"]].model_validate(body, strict=True)
    if isinstance(answer, ChatCompletion):
        texts = [choice.message.content for choice in answer.choices]
        calls = [call.function for choice in answer.choices for call in choice.message.tool_calls or []]
        count = sum(len(choice.logprobs.content) for choice in answer.choices if choice.logprobs)
    elif isinstance(answer, Completion):
        texts, calls = [choice.text for choice in answer.choices], []
        count = sum(len(choice.logprobs.tokens) for choice in answer.choices if choice.logprobs)
    else:
        texts = [answer.output_text]
        calls = [item for item in answer.output if item.type == "function_call"]
        messages = [item for item in answer.output if item.type == "message"]
        count = sum(len(part.logprobs or []) for item in messages for part in item.content)
    said = [f"{call.name} {json.dumps(json.loads(call.arguments), separators=(',', ':'))}" for call in calls]
    print(result["custom_id"], 200, count, " ".join(said) or json.dumps(texts), sep="\t")
