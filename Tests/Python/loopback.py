"""Servers on the loopback address: a hub with datasets, a plain web server, and a store of objects."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple
from urllib.parse import parse_qs, unquote, urlsplit
from urllib.request import Request, urlopen

TOKEN = "hf_write"


def git_hash(body: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def signature_problem(request: Any, body: bytes, secret: str, service: str = "s3") -> str:
    """What is wrong with a signature, as botocore makes it."""
    from botocore.auth import S3SigV4Auth, SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    given = request.headers.get("Authorization") or ""
    if "SignedHeaders=" not in given:
        return "not signed"
    region = given.split("Credential=")[1].split("/")[2]
    names = given.split("SignedHeaders=")[1].split(",")[0].split(";")
    if request.headers["x-amz-content-sha256"] != sha256(body):
        return "another content"
    url = f"http://{request.headers['Host']}{request.path}"
    again = AWSRequest(request.command, url, headers={name: request.headers[name] for name in names}, data=body)
    again.context["timestamp"] = request.headers["x-amz-date"]
    key = Credentials("AKIDEXAMPLE", secret, request.headers.get("x-amz-security-token"))
    signer = (S3SigV4Auth if service == "s3" else SigV4Auth)(key, service, region)
    right = signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again)
    return "" if given.endswith(f"Signature={right}") else f"{request.command} {request.path}: another signature"


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


class Signed(Server):
    """Hands requests on to a store of objects, if botocore signs them as they are signed."""

    def __init__(self, store: str, secret: str) -> None:
        super().__init__()
        self.store, self.secret = store, secret
        self.wrong: List[str] = []
        self.refused: List[int] = []
        """Statuses for parts that are put, each once, before they are handed on."""

    def answer(self, request: Any, body: bytes) -> None:
        problem = self.problem(request, body)
        if problem:
            self.wrong.append(problem)
            return self.send(request, 403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>")
        if self.refused and "partNumber" in request.path:
            status = self.refused.pop(0)
            if status:
                return self.send(request, status)
        headers = {k: v for k, v in request.headers.items() if k.lower() not in ("host", "connection")}
        # Else urllib says that it is a form.
        headers.setdefault("Content-Type", "application/octet-stream")
        onward = Request(self.store + self.onward(request), data=body or None, headers=headers, method=request.command)
        try:
            reply = urlopen(onward)
        except OSError as error:
            reply = error  # type: ignore[assignment]
        content = reply.read()
        request.send_response(reply.status)
        for name, value in reply.headers.items():
            if name.lower() not in ("connection", "transfer-encoding", "date", "server", "content-length"):
                request.send_header(name, value)
        length = reply.headers.get("Content-Length") if request.command == "HEAD" else str(len(content))
        request.send_header("Content-Length", length or "0")
        request.end_headers()
        request.wfile.write(content)

    def onward(self, request: Any) -> str:
        return str(request.path)

    def problem(self, request: Any, body: bytes) -> str:
        return signature_problem(request, body, self.secret)


class Bearing(Signed):
    """Hands requests on to fake-gcs-server, if they have the token. That takes whole objects at addresses alone that are
    signed, whatever the signature."""

    def onward(self, request: Any) -> str:
        return request.path + ("?X-Goog-Algorithm=any" if request.command == "PUT" else "")

    def problem(self, request: Any, body: bytes) -> str:
        return "" if request.headers.get("Authorization") == f"Bearer {self.secret}" else "no token"


class Keys(Server):
    """All that gives keys of some hours: Amazon's machines, containers, STS and sign-on, Google's machines and tokens.
    Google's store is there, too, and wants the token that was given."""

    token, session = "token-that-asks", "session/of+some=hours"
    why = {"container": "answers 403", "identity": "ExpiredTokenException", "process": "no key in the answer",
           "sign-on": "answers 403", "role": "AccessDenied", "roles": "the key of this machine's role is not to be had"}

    def __init__(self, secret: str) -> None:
        super().__init__()
        self.secret, self.gives = secret, True
        self.objects: Dict[str, bytes] = {}
        self.wrong: List[str] = []
        self.signer: Any = None

    def key(self) -> Dict[str, str]:
        return {"AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey": self.secret}

    def account(self, kind: str, folder: Path) -> Dict[str, Any]:
        """Google's file of a user or a service, or of an identity of another provider."""
        external = {"type": "external_account", "audience": "//iam.googleapis.com/a b",
                    "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": f"{self.address}/exchange"}
        if kind == "file":
            (folder / "token").write_text(self.token + "\n")
            return {**external, "credential_source": {"file": str(folder / "token")}}
        if kind == "url":
            form = {"type": "json", "subject_token_field_name": "id"}
            return {**external, "service_account_impersonation_url": f"{self.address}/a@b.c:generateAccessToken",
                    "credential_source": {"url": f"{self.address}/subject", "headers": {"Metadata": "True"}, "format": form}}
        if kind == "user":
            return {"type": "authorized_user", "client_id": "id", "client_secret": self.secret,
                    "refresh_token": self.token, "token_uri": f"{self.address}/token"}
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        self.signer = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        text = self.signer.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                         serialization.NoEncryption())
        return {"type": "service_account", "client_email": "a@b.c", "private_key": text.decode(),
                "token_uri": f"{self.address}/token"}

    def answer(self, request: Any, body: bytes) -> None:
        path, fields = request.path, request.headers
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}

        def reply(right: bool, made: Any, refusal: bytes = b"") -> None:
            if self.gives and not right:
                self.wrong.append(f"{request.command} {path}")
            content = made if isinstance(made, bytes) else json.dumps(made).encode()
            status = 200 if self.gives and right else 403 if not refusal else 400
            self.send(request, status, content if status == 200 else refusal)

        key = {"Code": "Success", **self.key(), "Token": self.session}
        if path == "/latest/api/token":
            if not self.gives:
                return self.send(request, 404)
            return reply(request.command == "PUT" and bool(fields["x-aws-ec2-metadata-token-ttl-seconds"]),
                         self.token.encode())
        if path.startswith("/latest/meta-data/iam/security-credentials/"):
            is_role = path.endswith("/a-role")
            return reply(fields["X-aws-ec2-metadata-token"] == self.token, key if is_role else b"a-role\n")
        if path == "/container":
            return reply(fields["Authorization"] == self.token, key)
        if path == "/federation/credentials?role_name=r&account_id=1":
            small = {name[0].lower() + name[1:]: value for name, value in self.key().items()}
            return reply(fields["x-amz-sso_bearer_token"] == self.token,
                         {"roleCredentials": {**small, "sessionToken": self.session}})
        if path == "/" and form.get("Action", "").startswith("AssumeRole"):
            return reply(*self.role(request, body, form))
        bearer = {"access_token": self.session, "expires_in": 3599, "token_type": "Bearer"}
        if path.startswith("/computeMetadata/v1/instance/service-accounts/default/token"):
            if not self.gives:
                return self.send(request, 404)
            return reply(fields["Metadata-Flavor"] == "Google", bearer)
        if path == "/token":
            right = form.get("refresh_token") == self.token if self.signer is None else self.signed(form["assertion"])
            return reply(right, bearer, b'{"error": "invalid_grant"}')
        if path == "/subject":
            return reply(fields["Metadata"] == "True", {"id": self.token}, b'{"error": "invalid_grant"}')
        if path == "/exchange":
            wanted = {"audience": "//iam.googleapis.com/a b", "subject_token": self.token,
                      "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange"}
            # The token is for the store, or for whoever gives another account's.
            given = {**bearer, "access_token": self.session if "devstorage" in form["scope"] else "federated"}
            return reply(wanted.items() <= form.items(), given, b'{"error": "invalid_grant"}')
        if path == "/a@b.c:generateAccessToken":
            right = fields["Authorization"] == "Bearer federated" and "devstorage" in json.loads(body)["scope"][0]
            return reply(right, {"accessToken": self.session, "expireTime": "2999-01-01T00:00:00Z"})
        if fields["Authorization"] == f"Bearer {self.session}" and path in self.objects:
            return self.send(request, 200, self.objects[path], ETag='"1"')
        self.send(request, 403, b"<Error><Code>AccessDenied</Code></Error>")

    def role(self, request: Any, body: bytes, form: Dict[str, str]) -> Tuple[bool, bytes, bytes]:
        """The role "between" is for who has the machine's key; the other for who has its key, or that of the profile."""
        between, token = form["RoleArn"].endswith("/between"), request.headers.get("x-amz-security-token")
        made, code = {**self.key(), "SessionToken": self.session}, "AccessDenied"
        if "WebIdentityToken" in form:
            right, code = form["WebIdentityToken"] == self.token, "ExpiredTokenException"
        elif between:
            right = token == self.session and not signature_problem(request, body, self.secret, "sts")
            made = {**made, "SecretAccessKey": self.secret[::-1], "SessionToken": "between"}
        else:
            right = token in (None, "between") and not signature_problem(request, body, self.secret[::-1], "sts")
            right = right and form["ExternalId"] == "of+us" and form["DurationSeconds"] == "900"
        right = right and (between or form["RoleArn"] == "arn:aws:iam::1:role/a+b") and bool(form["RoleSessionName"])
        content = "".join(f"<{name}>{value}</{name}>" for name, value in made.items())
        refusal = f"<Error><Code>{code}</Code></Error>"
        return right, f"<R><Credentials>{content}</Credentials></R>".encode(), refusal.encode()

    def signed(self, assertion: str) -> bool:
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding

        def plain(text: str) -> bytes:
            return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

        said, _, signature = assertion.rpartition(".")
        self.signer.public_key().verify(plain(signature), said.encode(), padding.PKCS1v15(), hashes.SHA256())
        claims = json.loads(plain(said.partition(".")[2]))
        return claims["iss"] == "a@b.c" and claims["aud"] == f"{self.address}/token" and claims["exp"] > claims["iat"]


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
            if wanted.get("type") != "dataset" or name in self.datasets:
                return self.json(request, 409, {"error": "You already created this dataset repo"})
            self.make(name, {".gitattributes": b"*.jsonl filter=lfs"})
            self.datasets[name].private = wanted.get("private", False)
            return self.json(request, 200, {"url": f"{self.address}/datasets/{name}", "name": name})
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
