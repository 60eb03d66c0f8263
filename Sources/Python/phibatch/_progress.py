"""A progress bar: a line on a terminal."""

from __future__ import annotations

import sys
import time


def shown(shows: bool | None) -> bool:
    """Whether to show progress; by default on terminals and in notebooks, which show IPython's widgets."""
    if shows is not None:
        return shows
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return sys.stderr.isatty() or type(shell).__name__ == "ZMQInteractiveShell"


class Bar:
    """A progress bar.

    Args:
        shows: None shows it on terminals and in notebooks.
        unit: what one of the shown counts stands for.
        what: the text after the count, unless `set` has another.
    """

    def __init__(self, shows: bool | None = None, unit: int = 1, what: str = "") -> None:
        self._shows = shown(shows)
        self._unit = unit
        self._what = what
        self._drawn = 0.0
        self.count = 0

    def set(self, count: int, total: int | None, note: str = "") -> None:
        """Sets the count and the total; None if it is unknown."""
        self.count = count
        now = time.monotonic()
        if self._shows and (now - self._drawn > 0.2 or count == total):
            self._drawn = now
            of = "" if total is None else f"/{total // self._unit}"
            sys.stderr.write(f"\rphibatch: {count // self._unit}{of} {note or self._what}\x1b[K")
            sys.stderr.flush()

    def close(self) -> None:
        """Closes the bar, which stays in its last state."""
        if self._drawn:
            sys.stderr.write("\n")
