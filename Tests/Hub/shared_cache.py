"""Whether phibatch and huggingface_hub find in one cache what the other has fetched.

    pip install huggingface_hub
    python3 Tests/Hub/shared_cache.py [--program .build/release/phibatch]

A small hub runs on the loopback address; each of the two fetches a model from it into an empty cache, and the other
one must then use that cache without the network.
"""

import argparse
import hashlib
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "test-org/Tiny-Phi-4bit"
FILES = {
    "config.json": b'{"model_type": "phi3"}',
    "tokenizer.json": b"{}",
    "tokenizer_config.json": b"{ }",
    "model.safetensors": bytes(range(256)) * 4000,
}


def git_hash(body):
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


def entry(name):
    """What the hub says of a file in the listing of a folder."""
    body = FILES[name]
    result = {"type": "file", "path": name, "size": len(body), "oid": git_hash(body)}
    if name.endswith(".safetensors"):
        result["lfs"] = {"oid": hashlib.sha256(body).hexdigest(), "size": len(body), "pointerSize": 132}
    return result


class Hub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    def answer(self):
        if "/tree/" in self.path:
            return self.send(200, {"Content-Type": "application/json"}, json.dumps([entry(name) for name in FILES]).encode())
        if self.path.startswith("/api/models/"):
            listing = {"id": REPOSITORY, "sha": COMMIT, "siblings": [{"rfilename": name} for name in FILES]}
            return self.send(200, {"Content-Type": "application/json"}, json.dumps(listing).encode())
        name = self.path.split("?")[0].rsplit("/", 1)[-1]
        body = FILES.get(name)
        if body is None:
            return self.send(404, {"X-Error-Code": "EntryNotFound"}, b"")
        if self.path.startswith("/large/"):
            return self.send(200, {}, body)
        if not name.endswith(".safetensors"):
            return self.send(200, {"ETag": f'"{git_hash(body)}"', "X-Repo-Commit": COMMIT}, body)
        headers = {
            "Location": f"http://localhost:{self.server.server_port}/large/{name}",
            "X-Linked-Etag": f'"{hashlib.sha256(body).hexdigest()}"',
            "X-Linked-Size": str(len(body)),
            "X-Repo-Commit": COMMIT,
        }
        self.send(302, headers, b"")

    def send(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


PYTHON = "import sys; from huggingface_hub import snapshot_download; print(snapshot_download(sys.argv[1]))"


def run(command, cache, address, offline):
    variables = dict(os.environ, HF_HOME=cache, HF_ENDPOINT=address, HF_HUB_DISABLE_XET="1")
    variables["HF_HUB_OFFLINE"] = "1" if offline else "0"
    result = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120)
    return result.returncode, result.stdout.strip(), result.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=".build/release/phibatch")
    program = parser.parse_args().program
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    ours, theirs = [program, "pull", REPOSITORY], [sys.executable, "-c", PYTHON, REPOSITORY]
    failures = 0
    for name, first, second in [("phibatch, then huggingface_hub", ours, theirs), ("huggingface_hub, then phibatch", theirs, ours)]:
        with tempfile.TemporaryDirectory() as cache:
            fetched = run(first, cache, address, offline=False)
            # phibatch pull asks the hub by its nature; "models" looks at the cache alone.
            check = [program, "models"] if second is ours else second
            found = run(check, cache, address, offline=True)
            wanted = REPOSITORY if second is ours else f"snapshots/{COMMIT}"
            passed = fetched[0] == 0 and found[0] == 0 and wanted in found[1]
            print(f"{'passed' if passed else 'FAILED'}: {name}")
            if not passed:
                failures += 1
                print(fetched, found)
    server.shutdown()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
