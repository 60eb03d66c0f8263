"""Servers on the loopback address: a hub with datasets, and a plain web server."""

from __future__ import annotations

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, List, Optional, Tuple
from urllib.parse import unquote, urlsplit

TOKEN = "hf_read"


def git_hash(body: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


class Server:
    """Runs until the end of a `with`; `log` has the method, the path and the fields of each request."""

    def __init__(self) -> None:
        self.log: List[Tuple[str, str, Dict[str, str]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments: Any) -> None:
                pass

            def handle_one(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.log.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}))
                outer.answer(self, body)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_one

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        # Who has seen enough ends a connection.
        self.server.handle_error = lambda *arguments: None  # type: ignore[method-assign]
        self.port = self.server.server_port
        self.address = f"http://127.0.0.1:{self.port}"
        self.other = f"http://localhost:{self.port}"

    def __enter__(self) -> Any:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *arguments: Any) -> None:
        self.server.shutdown()
        self.server.server_close()

    def asked(self, method: str, part: str) -> List[Tuple[str, Dict[str, str]]]:
        return [(path, fields) for made, path, fields in self.log if made == method and part in path]

    def answer(self, request: Any, body: bytes) -> None:
        raise NotImplementedError

    @staticmethod
    def send(request: Any, status: int, body: bytes = b"", cut: Optional[int] = None, **fields: str) -> None:
        request.send_response(status)
        for name, value in fields.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(body if cut is None else body[:cut])
            if cut is not None:
                request.close_connection = True


class Web(Server):
    """Files by their paths. `tags` gives ETags; `cuts` ends answers early, each once; `moved` leads elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.files: Dict[str, bytes] = {}
        self.cuts: Dict[str, List[int]] = {}
        self.moved: Dict[str, str] = {}
        self.after_cut: Any = None

    def answer(self, request: Any, body: bytes) -> None:
        path = urlsplit(request.path).path
        if path in self.moved:
            return self.send(request, 302, Location=self.moved[path])
        content = self.files.get(path)
        if content is None:
            return self.send(request, 404)
        tag = f'"{sha256(content)[:20]}"'
        wanted = request.headers.get("If-Match")
        if wanted and wanted != tag:
            return self.send(request, 412, ETag=tag)
        cut = self.cuts[path].pop(0) if self.cuts.get(path) else None
        start = int((request.headers.get("Range") or "bytes=0-")[6:-1])
        if start:
            total = f"bytes {start}-{len(content) - 1}/{len(content)}"
            self.send(request, 206, content[start:], cut, ETag=tag, Content_Range=total)
        else:
            self.send(request, 200, content, cut, ETag=tag)
        if cut is not None and self.after_cut:
            self.after_cut()


class Repository:
    def __init__(self) -> None:
        self.branches: Dict[str, str] = {}
        self.commits: Dict[str, Dict[str, bytes]] = {}
        self.commit("main", {})

    def commit(self, branch: str, files: Dict[str, bytes]) -> str:
        all_files = {**self.commits.get(self.branches.get(branch, ""), {}), **files}
        listing = json.dumps(sorted((name, sha256(body)) for name, body in all_files.items()))
        commit = hashlib.sha1(f"{len(self.commits)}{listing}".encode()).hexdigest()
        self.branches[branch], self.commits[commit] = commit, all_files
        return commit

    def at(self, revision: str) -> Tuple[str, Optional[Dict[str, bytes]]]:
        commit = self.branches.get(revision, revision)
        return commit, self.commits.get(commit)


class Hub(Server):
    """Hugging Face's hub, as far as datasets are read. Files of more than 200 bytes are large ones, and come from another
    origin, to which the token must not come."""

    LARGE = 200

    def __init__(self) -> None:
        super().__init__()
        self.datasets: Dict[str, Repository] = {}
        self.store: Dict[str, bytes] = {}
        self.leaks: List[str] = []

    def make(self, name: str, files: Dict[str, bytes]) -> str:
        self.datasets[name] = Repository()
        return self.datasets[name].commit("main", files)

    def answer(self, request: Any, body: bytes) -> None:
        path = unquote(urlsplit(request.path).path)
        words = path.strip("/").split("/")
        if words[0] == "store":
            if request.headers.get("Authorization"):
                self.leaks.append(path)
            return self.send(request, 200, self.store[words[1]])
        offset = 2 if words[0] == "api" else 1
        name = "/".join(words[offset:offset + 2]).removesuffix(".git")
        repository = self.datasets.get(name)
        if words[offset - 1] != "datasets" or repository is None:
            return self.json(request, 401, {"error": "Repository not found"}, X_Error_Code="RepoNotFound")
        rest = words[offset + 2:]
        if words[0] == "api":
            return self.api(request, name, repository, rest)
        return self.resolve(request, repository, rest[1], "/".join(rest[2:]))

    def json(self, request: Any, status: int, value: Any, **fields: str) -> None:
        self.send(request, status, json.dumps(value).encode(), Content_Type="application/json", **fields)

    def api(self, request: Any, name: str, repository: Repository, rest: List[str]) -> None:
        revision = "/".join(rest[1:]) or "main"
        commit, files = repository.at(revision.split("/")[0] if rest[:1] == ["tree"] else revision)
        if files is None:
            return self.json(request, 404, {"error": "no revision"}, X_Error_Code="RevisionNotFound")
        if rest[:1] == ["tree"]:
            return self.json(request, 200, [self.entry(name, body) for name, body in files.items()])
        listing = [{"rfilename": name} for name in sorted(files)]
        self.json(request, 200, {"id": name, "sha": commit, "private": False, "gated": False, "siblings": listing})

    def entry(self, name: str, body: bytes) -> Dict[str, Any]:
        entry: Dict[str, Any] = {"type": "file", "path": name, "size": len(body), "oid": git_hash(body)}
        if len(body) > self.LARGE:
            entry["lfs"] = {"oid": sha256(body), "size": len(body), "pointerSize": 132}
        return entry

    def resolve(self, request: Any, repository: Repository, revision: str, name: str) -> None:
        commit, files = repository.at(revision)
        if files is None or name not in files:
            code = "RevisionNotFound" if files is None else "EntryNotFound"
            return self.send(request, 404, X_Error_Code=code, X_Repo_Commit=commit)
        body = files[name]
        if len(body) <= self.LARGE:
            return self.send(request, 200, body, ETag=f'"{git_hash(body)}"', X_Repo_Commit=commit)
        self.store[sha256(body)] = body
        self.send(request, 302, Location=f"{self.other}/store/{sha256(body)}", X_Repo_Commit=commit,
                  X_Linked_Etag=f'"{sha256(body)}"', X_Linked_Size=str(len(body)))
