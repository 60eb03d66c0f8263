"""``phibatch demo``: a job with real answers, by a small model."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import List

from ._errors import PhibatchError
from ._run import run

_PROMPTS = [
    ("gravity", "What is gravity?"),
    ("salt", "Why is the sea salty?"),
    ("haiku", "Write a haiku about rain."),
    ("list", "Name three planets."),
    ("sum", "What is 2 + 2?"),
    ("letter", "Write a short letter that thanks a neighbour."),
]


def main(arguments: List[str]) -> int:
    """Runs the demo. Its files stay."""
    parser = argparse.ArgumentParser(
        prog="phibatch demo", description="Answer a few prompts with a small model, and show the answers."
    )
    parser.add_argument("--output", default="phibatch-demo", help="a folder for the job and its results")
    options = parser.parse_args(arguments)
    folder = Path(options.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({"id": name, "prompt": prompt}) + "\n" for name, prompt in _PROMPTS]
        (folder / "prompts.jsonl").write_text("".join(lines), encoding="utf-8")
        job = folder / "job.yaml"
        job.write_text(
            "model: smollm2-demo\ninput: prompts.jsonl\noutput: answers.jsonl\nmax_tokens: 96\ntemperature: 0\n",
            encoding="utf-8",
        )
        done = run(job)
        for answer, (_, prompt) in zip(done.raw(), _PROMPTS):
            print(f"-- {prompt}\n{str(answer.get('text', answer.get('error'))).strip()}\n")
        print(f"The answers are in {done.path}; the job is {job}: phibatch run {job}")
    except PhibatchError as error:
        print(f"phibatch: {error}", file=sys.stderr)
        return error.exit_code or 69
    except KeyboardInterrupt:
        return 130
    return 0
