"""A progress bar: tqdm's if it is installed, else a line on a terminal."""

from __future__ import annotations

import sys
import time
from typing import Any


def shown(shows: bool | None) -> bool:
    """Whether to show progress; by default on terminals and in notebooks, which show IPython's widgets."""
    if shows is not None:
        return shows
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return sys.stderr.isatty() or type(shell).__name__ == "ZMQInteractiveShell"


class Bar:
    """A progress bar.

    Args:
        total: the final count; None if unknown.
        shows: None shows it on terminals and in notebooks.
        unit: the unit of counts; ``B`` for bytes.
    """

    def __init__(self, total: int | None, *, shows: bool | None = None, unit: str = "result") -> None:
        shows = shown(shows)
        self._tqdm: Any = None
        self._scale = 1_000_000 if unit == "B" else 1
        self._shows = shows
        self._drawn = 0.0
        self.count = 0
        if shows:
            try:
                from tqdm.auto import tqdm  # pyright: ignore
            except ImportError:
                return
            name = "fetching" if unit == "B" else "phibatch"
            self._tqdm = tqdm(total=total, desc=name, unit=unit, unit_scale=unit == "B", smoothing=0.1)

    def set(self, count: int, total: int | None, note: str = "") -> None:
        """Sets the count and the total."""
        more, self.count = count - self.count, count
        if not self._shows:
            return
        if self._tqdm is not None:
            if total is not None and self._tqdm.total != total:
                self._tqdm.total = total
                self._tqdm.refresh()
            if note:
                self._tqdm.set_postfix_str(note, refresh=False)
            self._tqdm.update(more)
            return
        now = time.monotonic()
        if now - self._drawn > 0.2 or count == total:
            self._drawn = now
            of = "" if total is None else f"/{total // self._scale}"
            note = note or ("MB fetched" if self._scale > 1 else "")
            sys.stderr.write(f"\rphibatch: {count // self._scale}{of} {note}\x1b[K")
            sys.stderr.flush()

    def close(self) -> None:
        """Closes the bar, which stays in its last state."""
        if self._tqdm is not None:
            self._tqdm.close()
        elif self._shows and self._drawn:
            sys.stderr.write("\n")
