"""What many clients do to `phibatch serve`, good ones and bad ones at once, on loopback.

    python3 Tests/Serve/load.py --program .build/release/phibatch --model models/smollm2-demo [--clients 256] [--seconds 60]

Each client asks over and over, every other time for a stream. Beside them are readers who take 400 bytes a second,
connections that are left half open, clients who go away, bodies that are no requests, and batches. All answers must be
whole and no line of a batch lost, memory must stay what it was once all were there, and in the end nothing may be under
way. Each minute says how it is. Exit status 1 if anything is amiss.
"""

import argparse
import asyncio
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HOSTILE = [
    os.urandom(2000),
    b"[" * 100_000,
    b'{"a":' + b"1" * 500_000 + b"}",
    b'{"model":"demo","messages":[' + b'{"role":"user","content":"a"},' * 2000 + b"]}",
    b'{"model":"demo","messages":[{"role":"user","content":"' + b"word " * 20_000 + b'"}]}',
]


class Load:
    def __init__(self, port, process, seconds):
        self.port, self.process = port, process
        self.end = time.monotonic() + seconds
        self.asked = self.answers = self.turned_away = self.refused = self.batches = self.lost = 0
        self.faults = []

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) // 1024

    async def send(self, body):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        writer.write((head % len(body)).encode() + body)
        await writer.drain()
        return reader, writer

    def body(self, number, **more):
        message = {"role": "user", "content": f"Say {number}."}
        return json.dumps({"model": "demo", "messages": [message], "max_tokens": 8, **more}).encode()

    async def again(self, one):
        while time.monotonic() < self.end:
            try:
                await one()
            except (AssertionError, OSError, asyncio.TimeoutError) as error:
                self.lost += one in (self.client, self.batch)
                self.faults.append(f"{one.__name__}: {error!r}"[:300])
                await asyncio.sleep(0.1)

    async def client(self):
        stream = random.random() < 0.5
        self.asked += 1
        reader, writer = await self.send(self.body(random.random(), stream=stream))
        data = await asyncio.wait_for(reader.read(-1), 600)
        writer.close()
        if data.startswith(b"HTTP/1.1 429"):
            self.turned_away += 1
            return await asyncio.sleep(1)
        assert data.startswith(b"HTTP/1.1 200"), data[:200]
        assert (b"data: [DONE]" if stream else b'"total_tokens"') in data, data[-200:]
        self.answers += 1

    async def slow_reader(self):
        reader, writer = await self.send(self.body(1, stream=True, max_tokens=200))
        while time.monotonic() < self.end and await reader.read(20):
            await asyncio.sleep(0.05)
        writer.transport.abort()

    async def half_open(self):
        _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(random.choice([b"", b"POST /v1/ch", b"GET /health HTTP/1.1\r\nX: "]))
        await asyncio.sleep(3 * random.random())
        writer.transport.abort()

    async def goes_away(self):
        _, writer = await self.send(self.body(2, stream=random.random() < 0.5, max_tokens=400))
        await asyncio.sleep(random.random())
        writer.transport.abort()

    async def attack(self):
        reader, writer = await self.send(random.choice(HOSTILE))
        data = await asyncio.wait_for(reader.read(-1), 600)
        writer.close()
        assert data.startswith((b"HTTP/1.1 400", b"HTTP/1.1 429")), data[:200]
        self.refused += 1

    def call(self, method, path, body=None, **fields):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/{path}", body, fields, method=method)
        while True:
            try:
                with urllib.request.urlopen(request, timeout=60) as reply:
                    return reply.read()
            except urllib.error.HTTPError as error:
                if error.code != 429:
                    raise
                self.turned_away += 1
                time.sleep(1)

    async def batch(self):
        """One of so many lines, which are all there in the end; then its files go."""
        lines = [{"custom_id": f"c{number}", "method": "POST", "url": "/v1/chat/completions",
                  "body": json.loads(self.body(number))} for number in range(20)]
        content = "".join(json.dumps(line) + "\n" for line in lines)
        mark = "between-parts-of-a-form"
        form = (f'--{mark}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--{mark}\r\n'
                f'Content-Disposition: form-data; name="file"; filename="in.jsonl"\r\n\r\n{content}\r\n--{mark}--\r\n')
        form, kind = form.encode(), {"Content-Type": f"multipart/form-data; boundary={mark}"}
        sent = json.loads(await asyncio.to_thread(self.call, "POST", "files", form, **kind))["id"]
        asked = {"input_file_id": sent, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
        made = json.loads(await asyncio.to_thread(self.call, "POST", "batches", json.dumps(asked).encode()))
        until = self.end + 300
        while made["status"] in ("validating", "in_progress", "finalizing"):
            assert time.monotonic() < until, made
            await asyncio.sleep(1)
            made = json.loads(await asyncio.to_thread(self.call, "GET", f"batches/{made['id']}"))
        assert made["status"] == "completed", made
        output = await asyncio.to_thread(self.call, "GET", f"files/{made['output_file_id']}/content")
        there = [json.loads(line)["custom_id"] for line in output.splitlines()]
        assert there == [line["custom_id"] for line in lines], there
        for file in (sent, made["output_file_id"]):
            await asyncio.to_thread(self.call, "DELETE", f"files/{file}")
        self.batches += 1

    def state(self):
        return (f"{self.asked} asked: {self.answers} answers, {self.turned_away} turned away; {self.batches} batches; "
                f"{self.refused} bodies refused; {self.lost} lost, {len(self.faults)} faults")

    async def watch(self):
        """How much memory there was in each second."""
        memory = []
        while time.monotonic() < self.end:
            await asyncio.sleep(1)
            memory.append(self.memory())
            if len(memory) % 60 == 0:
                print(f"{len(memory)} s: {memory[-1]} MB; {self.state()}", flush=True)
        return memory

    async def run(self, clients):
        kinds = [(self.client, clients), (self.slow_reader, 16), (self.half_open, 24), (self.goes_away, 8),
                 (self.attack, 2), (self.batch, 1)]
        memory, *_ = await asyncio.gather(
            self.watch(), *(self.again(one) for one, count in kinds for _ in range(count))
        )
        until = time.monotonic() + 60
        left = -1
        while left and time.monotonic() < until:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")
            left = int(re.search(rb"\nphibatch_requests (\d+)", await reader.read(-1)).group(1))
            writer.close()
        quarter = max(1, len(memory) // 4)
        early, late = max(memory[:quarter]), max(memory[-quarter:])
        print(self.state())
        print(f"memory {memory[0]} MB at the start, {memory[len(memory) // 2]} MB in the middle, {memory[-1]} MB at the end; at "
              f"most {early} MB in the first quarter, {late} MB in the last; {left} requests left")
        for fault in self.faults[:5]:
            print(fault)
        return (not self.faults and not self.lost and not left and late < 1.2 * early + 20 and self.answers > 0
                and self.batches > 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--clients", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    with tempfile.TemporaryDirectory() as folder:
        command = [given.program, "serve", given.model, "--port", "0", "--name", "demo", "--folder", folder]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        found = re.search(r":(\d+)/v1", process.stderr.readline())
        # What it says in an hour is more than a pipe holds.
        threading.Thread(target=process.stderr.read, daemon=True).start()
        good = False
        try:
            if found:
                good = asyncio.run(Load(int(found.group(1)), process, given.seconds).run(given.clients))
        finally:
            process.terminate()
            status = process.wait(30)
    print(f"the server ended with {status}")
    sys.exit(0 if good and status == 143 else 1)


main()
