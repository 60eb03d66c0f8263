"""The program that comes with the package."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path

from ._errors import ProcessError

try:
    __version__ = metadata.version("phibatch")
except metadata.PackageNotFoundError:
    __version__ = "0"


def program() -> str:
    """Returns the path of the ``phibatch`` program: the package's own, unless ``PHIBATCH_PROGRAM`` names another."""
    named = os.environ.get("PHIBATCH_PROGRAM")
    if named:
        return named
    own = Path(__file__).parent / "bin" / "phibatch"
    if own.exists():
        return str(own)
    raise ProcessError(
        "The package has no phibatch program for this machine; PHIBATCH_PROGRAM can name one.",
        code="no_program",
    )


def environment() -> dict[str, str]:
    """Returns the program's environment, in which this Python's programs and pip come first."""
    own = os.path.dirname(sys.executable)
    return {**os.environ, "PATH": os.pathsep.join([own, os.environ.get("PATH", os.defpath)])}


def main() -> None:
    """The console script: becomes the program, except for ``phibatch demo``."""
    if sys.argv[1:2] == ["demo"]:
        from ._demo import main as demo

        sys.exit(demo(sys.argv[2:]))
    try:
        path = program()
        os.execve(path, [path, *sys.argv[1:]], environment())
    except (OSError, ProcessError) as error:
        sys.exit(f"phibatch: {error}")
