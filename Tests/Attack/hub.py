"""A hub on the loopback address that lies, stalls, speaks TLS or damages: pull ends with the model or says why not."""
import hashlib
import http.server
import json
import os
import shutil
import socket
import socketserver
import ssl
import subprocess
import threading

from harness import Skip, case, expect

COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAME = "test-org/Tiny-Phi-4bit"
SMALL = {
    "config.json": b'{"model_type": "phi3"}', "tokenizer.json": b"{}", "tokenizer_config.json": b"{}",
    "model.safetensors": bytes(range(256)) * 40_000,
}


class Hub:
    """Serves `files` as a model or a data set."""
    def __init__(self, files=None, certificate=None):
        self.files = SMALL if files is None else files
        hub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_HEAD(self):
                hub.answer(self)

            do_GET = do_HEAD

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.address = f"{'https' if certificate else 'http'}://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler):
        name = handler.path.rsplit("/", 1)[-1]
        # Names with dots come without them: libcurl takes such steps itself.
        body = next((body for path, body in self.files.items() if path.rsplit("/", 1)[-1] == name), b"")
        if handler.path.startswith("/api/"):
            body = json.dumps({"sha": COMMIT, "siblings": [{"rfilename": name} for name in self.files]}).encode()
            status, headers = 200, {}
        elif handler.path.startswith("/large/") or not name.endswith(".safetensors"):
            status, headers = (200 if body else 404), {"ETag": f'"{hashlib.sha256(body).hexdigest()}"'}
            if handler.headers.get("Range"):
                start = int(handler.headers["Range"][len("bytes="):-1])
                status, headers["Content-Range"] = 206, f"bytes {start}-{len(body) - 1}/{len(body)}"
                body = body[start:]
        else:
            headers = {"Location": f"{self.address}/large/{name}", "X-Linked-Size": str(len(body)),
                       "X-Linked-Etag": f'"{hashlib.sha256(body).hexdigest()}"'}
            status, body = 302, b""
        try:
            handler.send_response(status)
            for field, value in {"Content-Length": str(len(body)), **headers}.items():
                handler.send_header(field, value)
            handler.end_headers()
            if handler.command != "HEAD":
                handler.wfile.write(body)
        except OSError:
            handler.close_connection = True


class Proxy:
    """Opens tunnels to this machine, whatever host is asked for; `status` is what it answers."""
    def __init__(self, status="200 Connected"):
        proxy = self
        self.heads = []

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                head = b""
                while b"\r\n\r\n" not in head:
                    more = self.request.recv(1)
                    if not more:
                        return
                    head += more
                proxy.heads.append(head)
                self.request.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
                if not status.startswith("200"):
                    return
                port = int(head.split(b" ")[1].rsplit(b":", 1)[1])
                with socket.create_connection(("127.0.0.1", port)) as other:
                    threading.Thread(target=proxy.copy, args=(other, self.request), daemon=True).start()
                    proxy.copy(self.request, other)

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]

    @staticmethod
    def copy(source, target):
        try:
            while data := source.recv(1 << 16):
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    __enter__ = Hub.__enter__
    __exit__ = Hub.__exit__


def variables(hub, folder, **more):
    # What this machine has set is not to count.
    clean = {name: None for name in ("HF_TOKEN", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "SSL_CERT_FILE", "SSL_CERT_DIR",
                                     "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PHIBATCH_CURL", "HTTPS_PROXY",
                                     "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy")}
    return {**clean, "HF_HOME": folder, "HF_ENDPOINT": hub.address if hub else None, **more}


def blobs(folder):
    return os.path.join(folder, "hub", "models--test-org--Tiny-Phi-4bit", "blobs")


def is_whole(folder):
    snapshot = os.path.join(folder, "hub", "models--test-org--Tiny-Phi-4bit", "snapshots", COMMIT)
    for name, body in SMALL.items():
        with open(os.path.join(snapshot, name), "rb") as file:
            expect(file.read() == body, f"{name} is not what the hub has")
    left = [name for name in os.listdir(blobs(folder)) if name.endswith(".incomplete")]
    expect(not left, f"left behind: {left}")


@case("hub/tls", quick=True)
def tls(bench):
    """A hub with a certificate of its own is refused, unless a variable names its CA."""
    if not shutil.which("openssl"):
        raise Skip("no openssl to make a certificate with")
    folder = bench.subfolder("tls")
    certificate, key = os.path.join(folder, "ca.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=hub", "-addext", "subjectAltName=IP:127.0.0.1,DNS:hub.example", "-days", "2", "-keyout", key,
                    "-out", certificate], check=True, capture_output=True)
    with Hub(certificate=(certificate, key)) as hub:
        def pull(code, *words, **more):
            home = bench.subfolder("home")
            run = bench.run(["pull", NAME], home, environment=variables(hub, home, **more), what=f"{more}")
            run.must_end_with(code, what=f"{more}")
            for word in words:
                expect(word.encode() in run.err, lambda: f"{more}: nothing of {word}: {run}")
            if code == 0:
                is_whole(home)
            return run

        pull(69, "SSL_CERT_FILE", "certificate")
        for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            pull(0, **{name: certificate})
        pull(69, "CURL_CA_BUNDLE names", CURL_CA_BUNDLE=os.path.join(folder, "none.pem"))
        pull(0, SSL_CERT_FILE="/none", REQUESTS_CA_BUNDLE=certificate)

        # Through a tunnel: the token is the hub's, and the password the proxy's.
        name = hub.address.replace("127.0.0.1", "hub.example")
        with Proxy() as proxy:
            address = f"http://me:secret@127.0.0.1:{proxy.port}"
            pull(0, HF_ENDPOINT=name, HTTPS_PROXY=address, HF_TOKEN="hf_x", SSL_CERT_FILE=certificate)
        expect(proxy.heads, "the proxy is not used")
        for head in proxy.heads:
            expect(head.startswith(b"CONNECT hub.example:") and b"Proxy-Authorization: Basic bWU6c2VjcmV0" in head
                   and b"hf_x" not in head, f"the proxy is asked {head}")
        with Proxy("407 Proxy Authentication Required") as proxy:
            address = f"http://me:secret@127.0.0.1:{proxy.port}"
            run = pull(69, "response 407", "proxy", HF_ENDPOINT=name, HTTPS_PROXY=address, SSL_CERT_FILE=certificate)
        expect(b"secret" not in run.err, f"the password is told: {run}")
        expect(len(proxy.heads) <= 2, f"a refusal is tried again: {proxy.heads}")


def everything(folder):
    """Names and kinds of all that is below a folder."""
    return sorted(os.path.relpath(os.path.join(top, name), folder)
                  for top, folders, files in os.walk(folder) for name in folders + files)


@case("hub/dataset-names", quick=True)
def dataset_names(bench):
    """A data set whose listing or README names files elsewhere makes and replaces nothing outside the cache."""
    rows = b'{"prompt":"Hi"}\n'
    victim = os.path.join(bench.subfolder("victim"), "kept.jsonl")
    with open(victim, "w") as file:
        file.write("mine")
    head = "---\nconfigs:\n- config_name: default\n  %s\n---\n"
    steps = "../" * 5
    for what, files, selector in [
            ("a step up", {f"{steps}up/train.jsonl": rows}, ""),
            ("an absolute path", {f"{victim}": rows}, ""),
            ("an absolute path of a split", {f"{victim[:-10]}train.jsonl": rows}, "/train"),
            ("a step up below a folder", {f"data/{steps}up/train.jsonl": rows}, "/train"),
            ("a pattern", {f"{steps}up/x.jsonl": rows}, "/**"),
            ("data_files", {"README.md": (head % f"data_files: {steps}up/*.jsonl").encode(),
                            f"{steps}up/x.jsonl": rows}, ""),
            ("data_files with **", {"README.md": (head % "data_files: '**/*.jsonl'").encode(),
                                    f"a/{steps}up/x.jsonl": rows}, ""),
            ("data_files that are absolute", {"README.md": (head % f"data_files: {victim}").encode(),
                                              victim: rows}, ""),
            ("data_dir", {"README.md": (head % f"data_dir: {steps}up").encode(), f"{steps}up/x.jsonl": rows}, ""),
            ("a split", {"README.md": (head % f"data_files: [{{split: '{steps}s', path: '{steps}up/x.jsonl'}}]").encode(),
                         f"{steps}up/x.jsonl": rows}, f"/{steps}s"),
            ("an empty component", {"data//train.jsonl": rows}, ""),
            ("a control character", {"data/tr\nain.jsonl": rows}, ""),
            ("a long component", {"x" * 256 + ".jsonl": rows}, "")]:
        top = bench.subfolder("names")
        home, folder = os.path.join(top, "a/b/c/d/home"), os.path.join(top, "a/b/c/d/work")
        os.makedirs(home)
        os.makedirs(folder)
        with Hub(files) as hub:
            run = bench.run(bench.command(["--max-tokens", "1"], input="hf://datasets/test-org/set" + selector), folder,
                            environment=variables(hub, home), what=what)
        expect(run.code != 0 and run.err.strip(), lambda: f"{what}: {run}")
        inside = [name for name in everything(top) if not name.startswith("a/b/c/d/") and name not in
                  ("a", "a/b", "a/b/c", "a/b/c/d")] + everything(folder)
        expect(not inside, lambda: f"{what}: it made {inside}")
        expect(not os.path.islink(victim) and os.path.getsize(victim) == 4, f"{what}: a file of the user is replaced")
        expect(os.listdir(os.path.dirname(victim)) == ["kept.jsonl"], f"{what}: a file is made beside the user's")
