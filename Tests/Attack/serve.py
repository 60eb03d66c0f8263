"""Requests to serve that can be read in two ways, that have no end, or whose clients say nothing more."""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

from harness import Failure, Skip, case, expect

HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
FORM = (b"POST /v1/files HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        b"Content-Type: multipart/form-data; boundary=----boundary123\r\n")
SECOND = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"


def body(**settings):
    question = [{"role": "user", "content": "Hi"}]
    return json.dumps({"messages": question, "max_tokens": 3, "temperature": 0, **settings}).encode()


def length(bytes):
    return b"Content-Length: %d\r\n" % len(bytes)


def part(name, content, file=None):
    named = f'name="{name}"' + (f'; filename="{file}"' if file else "")
    return f"------boundary123\r\nContent-Disposition: form-data; {named}\r\n\r\n".encode() + content + b"\r\n"


class Server:
    def __init__(self, bench):
        folder = bench.subfolder("serve")
        self.process = bench.start(["serve", bench.suite.model, "--port", "0", "--folder", folder], folder, stdout=None)
        self.said = b""
        for line in self.process.stderr:
            self.said += line
            if found := re.search(rb"http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                break
        else:
            self.process.wait()
            raise (Skip if b"libmicrohttpd" in self.said else Failure)(f"it doesn't serve: {self.said}")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def __enter__(self):
        # The model is loaded.
        self.send(HEAD + length(body()) + b"Connection: close\r\n\r\n" + body())
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def connection(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=120)

    def send(self, *pieces, seconds=120):
        """All that comes until the server closes the connection."""
        answer = b""
        with self.connection() as connection:
            connection.settimeout(seconds)
            try:
                for piece in pieces:
                    connection.sendall(piece)
            except OSError:
                pass
            try:
                while more := connection.recv(1 << 16):
                    answer += more
            except socket.timeout:
                raise Failure(f"the connection stays open after {answer[:300]}")
            except OSError:
                pass
        return answer

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) << 10

    def metric(self, name):
        text = self.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").decode()
        return float(re.search(rf"^phibatch_{name} (\S+)", text, re.M)[1])


def status(answer):
    return int(answer.split(b" ", 2)[1]) if answer else 0


@case("serve/two-lengths", quick=True)
def two_lengths(bench):
    """A body of two lengths is refused, the connection closed, and nothing of the body read as a second request."""
    chunked = b"Transfer-Encoding: chunked\r\n"
    with Server(bench) as server:
        for what, fields, content in [
                ("length and chunks", length(SECOND) + chunked, b"0\r\n\r\n" + SECOND),
                ("chunks and length", chunked + b"Content-Length: 5\r\n", b"0\r\n\r\n" + SECOND),
                ("the shorter length first", b"Content-Length: 0\r\n" + length(SECOND), SECOND),
                ("the longer length first", length(SECOND) + b"Content-Length: 0\r\n", SECOND),
                ("one length twice", length(SECOND) * 2, SECOND),
                ("two lengths in one field", b"Content-Length: 0, %d\r\n" % len(SECOND), SECOND),
                ("a length with a sign", b"Content-Length: +0\r\n", SECOND),
                ("a space before the colon", b"Content-Length : %d\r\n" % len(SECOND), SECOND),
                ("another coding", b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n" + SECOND),
                ("no coding", b"Transfer-Encoding: identity\r\n", SECOND),
                ("chunks twice", chunked * 2, b"0\r\n\r\n" + SECOND),
                ("two hosts", b"Host: localhost\r\n" + length(SECOND), SECOND)]:
            for head in (HEAD, HEAD.replace(b"POST", b"GET").replace(b"chat/completions", b"models")):
                answer = server.send(head + fields + b"\r\n" + content, seconds=30)
                expect(status(answer) == 400, f"{what}: {answer[:300]}")
                expect(b'"object":"list"' not in answer, f"{what}: the body is a second request: {answer[:1000]}")


@case("serve/hosts", quick=True)
def hosts(bench):
    """Without a key only names of this machine are answered."""
    with Server(bench) as server:
        def asked(name, **fields):
            more = "".join(f"{field}: {value}\r\n" for field, value in fields.items())
            head = f"GET /v1/models HTTP/1.1\r\nHost: {name}\r\n{more}Connection: close\r\n\r\n"
            return status(server.send(head.encode()))

        for name in ("localhost", "localhost:80", "127.0.0.1", "127.0.0.1:8000", "[::1]", "[::1]:8000"):
            expect(asked(name) == 200, f"{name} is refused")
            expect(asked("localhost", Origin=f"http://{name}") == 200, f"the origin {name} is refused")
        for name in ("[::1].evil.com", "[::1]evil", "[::1]:8000.evil.com", "localhost.evil.com", "127.0.0.1.evil.com",
                     "localhost:80.evil.com", "127.evil.com", "[::1", "evil.com", "localhost:80:80", "127.0.0.\u0661"):
            expect(asked(name) in (400, 403), f"{name} is answered")
            expect(asked("localhost", Origin=f"http://{name}") in (400, 403), f"the origin {name} is answered")


@case("serve/endless-forms", quick=True)
def endless_forms(bench):
    """What of a form has no end costs no memory, and is not read for ever."""
    if not os.path.exists("/proc/self/status"):
        raise Skip("no /proc")
    much = [b"x" * (1 << 20)] * 200
    fields = b"Transfer-Encoding: chunked\r\n\r\n"
    with Server(bench) as server:
        before = server.memory()
        for what, start in [
                ("a part's header", b"------boundary123\r\nContent-Disposition: form-data; name=\"file\"; x=\""),
                ("a part's name", b"------boundary123\r\nContent-Disposition: form-data; name=\""),
                ("a purpose", b"------boundary123\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\n"),
                ("a field that counts for nothing",
                 b"------boundary123\r\nContent-Disposition: form-data; name=\"expires_after[x]\"\r\n\r\n"),
                ("what comes before the parts", b"")]:
            chunks = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [start, *much] if piece]
            server.send(FORM + fields, *chunks, b"0\r\n\r\n")
            expect(server.memory() < before + (64 << 20), f"{what}: {server.memory() - before} bytes more")
        answer = server.send(FORM + b"Content-Length: 99999999999\r\n\r\n")
        expect(status(answer) == 413, f"a form of 100 GB: {answer[:300]}")


@case("serve/two-files", quick=True)
def two_files(bench):
    """A form has one file and one purpose: two are not joined."""
    line = b'{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":%s}\n' % body()
    purpose = part("purpose", b"batch")
    with Server(bench) as server:
        for what, parts, right in [
                ("one", [purpose, part("file", line, "a.jsonl")], 200),
                ("one before its purpose", [part("file", line, "a.jsonl"), purpose], 200),
                ("two files", [purpose, part("file", line, "a.jsonl"), part("file", line, "b.jsonl")], 400),
                ("two files apart", [part("file", line, "a"), purpose, part("file", line, "b")], 400),
                ("two purposes", [part("purpose", b"ba"), part("purpose", b"tch"), part("file", line, "a")], 400)]:
            content = b"".join(parts) + b"------boundary123--\r\n"
            answer = server.send(FORM + length(content) + b"\r\n" + content)
            expect(status(answer) == right, f"{what}: {answer[:400]}")


@case("serve/gone-clients", quick=True)
def gone_clients(bench):
    """A client that has gone, or sends nothing more, is forgotten."""
    with Server(bench) as server:
        before = server.metric("cancelled_total")
        # One waits for its answer, one reads its stream.
        for settings in ({}, {"stream": True}):
            content = body(max_tokens=4000, temperature=1.0, n=4, ignore_eos=True, **settings)
            with server.connection() as connection:
                connection.sendall(HEAD + length(content) + b"\r\n" + content)
                if settings:
                    expect(connection.recv(10) == b"HTTP/1.1 2", "no stream")
                    connection.shutdown(socket.SHUT_WR)
                    with contextlib.suppress(OSError):
                        while connection.recv(1 << 16):
                            pass
        deadline = time.monotonic() + 120
        while server.metric("cancelled_total") < before + 2:
            expect(time.monotonic() < deadline, "requests whose clients have gone go on")
            time.sleep(0.2)
