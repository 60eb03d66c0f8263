"""Servers on the loopback address: a hub with datasets, and a plain web server."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, List, Optional, Tuple
from urllib.parse import unquote, urlsplit

TOKEN = "hf_write"


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
        self.private = False
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
    """Hugging Face's hub, as far as huggingface_hub's own requests go: datasets are read and written. Files of more than
    200 bytes are large ones, and go to another origin, to which the token must not come; of more than a megabyte, in
    parts."""

    LARGE, CHUNK = 200, 1 << 20

    def __init__(self) -> None:
        super().__init__()
        self.datasets: Dict[str, Repository] = {}
        self.store: Dict[str, bytes] = {}
        self.parts: Dict[str, bytes] = {}
        self.leaks: List[str] = []

    def make(self, name: str, files: Dict[str, bytes]) -> str:
        self.datasets[name] = Repository()
        return self.datasets[name].commit("main", files)

    def answer(self, request: Any, body: bytes) -> None:
        path = unquote(urlsplit(request.path).path)
        words = path.strip("/").split("/")
        may = request.headers.get("Authorization") == f"Bearer {TOKEN}"
        if words[0] == "store":
            if request.headers.get("Authorization"):
                self.leaks.append(path)
            return self.keep(request, words[1:], body)
        if words[:3] == ["api", "repos", "create"] and may:
            wanted = json.loads(body)
            name = f"{wanted['organization']}/{wanted['name']}"
            made = {"url": f"{self.address}/datasets/{name}", "name": name}
            if wanted.get("type") != "dataset" or name in self.datasets:
                return self.json(request, 409, {"error": "You already created this dataset repo", **made})
            self.make(name, {".gitattributes": b"*.jsonl filter=lfs"})
            self.datasets[name].private = wanted.get("private", False) or wanted.get("visibility") == "private"
            return self.json(request, 200, made)
        if words[:2] == ["api", "validate-yaml"]:
            return self.json(request, 200, {"errors": [], "warnings": []})
        offset = 2 if words[0] == "api" else 1
        name = "/".join(words[offset:offset + 2]).removesuffix(".git")
        repository = self.datasets.get(name)
        if words[offset - 1] != "datasets" or repository is None or repository.private and not may:
            return self.json(request, 401, {"error": "Repository not found"}, X_Error_Code="RepoNotFound")
        rest = words[offset + 2:]
        if words[0] == "api":
            return self.api(request, name, repository, rest, body, may)
        if rest[:1] == ["info"] and may:
            return self.batch(request, json.loads(body))
        return self.resolve(request, repository, rest[1], "/".join(rest[2:]))

    def json(self, request: Any, status: int, value: Any, **fields: str) -> None:
        self.send(request, status, json.dumps(value).encode(), Content_Type="application/json", **fields)

    def api(self, request: Any, name: str, repository: Repository, rest: List[str], body: bytes, may: bool) -> None:
        revision = "/".join(rest[1:]) or "main"
        if request.command == "GET":
            commit, files = repository.at(revision.split("/")[0] if rest[:1] == ["tree"] else revision)
            if files is None:
                return self.json(request, 404, {"error": "no revision"}, X_Error_Code="RevisionNotFound")
            if rest[:1] == ["tree"]:
                return self.json(request, 200, [self.entry(name, body) for name, body in files.items()])
            listing = [{"rfilename": name} for name in sorted(files)]
            return self.json(request, 200, {
                "_id": "1", "id": name, "author": name.split("/")[0], "sha": commit, "private": repository.private,
                "gated": False, "disabled": False, "tags": [], "downloads": 0, "likes": 0, "siblings": listing,
                "lastModified": "2026-01-01T00:00:00.000Z", "createdAt": "2026-01-01T00:00:00.000Z"})
        if not may:
            return self.json(request, 401, {"error": "no token"})
        if rest[0] == "branch":
            if revision in repository.branches:
                return self.json(request, 409, {"error": "Reference already exists"})
            repository.branches[revision] = repository.branches["main"]
            return self.json(request, 201, {})
        if rest[0] == "preupload":
            files = json.loads(body)["files"]
            assert all(len(base64.b64decode(one["sample"])) == min(512, one["size"]) for one in files)
            modes = [{"path": one["path"], "shouldIgnore": False,
                      "uploadMode": "lfs" if one["size"] > self.LARGE else "regular"} for one in files]
            return self.json(request, 200, {"files": modes})
        assert rest[0] == "commit" and request.headers["Content-Type"] == "application/x-ndjson"
        files = {}
        head, *lines = [json.loads(line) for line in body.splitlines()]
        assert head["key"] == "header" and head["value"]["summary"]
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                assert value["encoding"] == "base64"
                files[value["path"]] = base64.b64decode(value["content"])
            else:
                assert line["key"] == "lfsFile" and value["algo"] == "sha256"
                files[value["path"]] = self.store[value["oid"]]
        commit = repository.commit(revision, files)
        self.json(request, 200, {"success": True, "commitOid": commit, "commitUrl": f"{self.address}/x/{commit}",
                                 "pullRequestUrl": None})

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

    # The store of large files, as Git LFS's batch API has it

    def batch(self, request: Any, wanted: Dict[str, Any]) -> None:
        assert wanted["operation"] == "upload" and wanted["hash_algo"] == "sha256"
        assert request.headers["Accept"] == "application/vnd.git-lfs+json"
        self.json(request, 200, {"transfer": "multipart", "objects": [self.action(one) for one in wanted["objects"]]})

    def action(self, one: Dict[str, Any]) -> Dict[str, Any]:
        oid, size = one["oid"], one["size"]
        if oid in self.store:
            return {"oid": oid, "size": size}
        place = f"{self.other}/store/{oid}"
        upload: Dict[str, Any] = {"href": place}
        if size > self.CHUNK:
            count = (size + self.CHUNK - 1) // self.CHUNK
            header = {f"{part + 1:05}": f"{place}/{part + 1}" for part in range(count)}
            upload = {"href": f"{place}/join", "header": {"chunk_size": str(self.CHUNK), **header}}
        verify = {"href": f"{place}/verify", "header": {}}
        return {"oid": oid, "size": size, "authenticated": True, "actions": {"upload": upload, "verify": verify}}

    def keep(self, request: Any, words: List[str], body: bytes) -> None:
        oid, *rest = words
        if request.command in ("GET", "HEAD"):
            return self.send(request, 200, self.store[oid])
        if request.command == "PUT" and not rest:
            self.store[oid] = body
        elif request.command == "PUT":
            self.parts[f"{oid}/{rest[0]}"] = body
        elif rest == ["join"]:
            parts = json.loads(body)["parts"]
            assert [part["etag"] for part in parts] == [f'"{part["partNumber"]}"' for part in parts]
            self.store[oid] = b"".join(self.parts[f"{oid}/{part['partNumber']}"] for part in parts)
        right = oid not in self.store or sha256(self.store[oid]) == oid
        self.send(request, 200 if right else 400, ETag=f'"{rest[0] if rest else 1}"')
