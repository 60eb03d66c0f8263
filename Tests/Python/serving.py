"""``phibatch serve``, with OpenAI's own client."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable, List, Tuple

import pytest
from conftest import needs

from phibatch._program import program

openai = needs("openai")
QUESTION: Any = [{"role": "user", "content": "Name a colour."}]


class Server:
    """A server on a free port; its files outlast it."""

    def __init__(self, model: str, folder: Path, *arguments: str, environment: Any = None) -> None:
        self.process = subprocess.Popen(
            [program(), "serve", model, "--port", "0", "--folder", str(folder), "--name", "demo", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        assert self.process.stderr is not None
        self.said: List[str] = []
        for line in self.process.stderr:
            self.said.append(line)
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found.group(1))
                break
        else:
            lacking = "libmicrohttpd" in "".join(self.said)
            (pytest.skip if lacking else pytest.fail)("".join(self.said))
        threading.Thread(target=self.said.extend, args=(self.process.stderr,), daemon=True).start()
        self.client = openai.OpenAI(
            base_url=f"http://127.0.0.1:{self.port}/v1", api_key="secret", max_retries=0, timeout=600
        )

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)

    def raw(self, data: bytes) -> Tuple[socket.socket, Any]:
        """Sends bytes as they are."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=600)
        connection.sendall(data)
        return connection, connection.makefile("rb")

    def metric(self, name: str) -> float:
        text = self.client.get("/../metrics", cast_to=str)
        return float(re.search(rf"^phibatch_{name} (\S+)$", text, re.M).group(1))  # type: ignore[union-attr]


def ask(client: Any, **settings: Any) -> Any:
    return client.chat.completions.create(**{"model": "demo", "messages": QUESTION, "max_tokens": 12, **settings})


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.02)
