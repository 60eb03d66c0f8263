#!/usr/bin/env python3
"""Shows what "engine: mlx" does on a GPU: whether it is right, and how fast, as one JSON file.

    make mlx MLX=mlx-cuda-12 && make install PREFIX=FOLDER
    gpu.py pack FOLDER models/smollm2-demo PARTS    # pieces that travel one by one, for a machine without a network
    gpu.py run PARTS FOUND.json                            # there, in at most 8 minutes

`run` takes a folder of parts, or an installed PREFIX with --model. It needs Python's numpy, which makes models of the
named geometries. Nothing is compiled. What there is no time for is noted as left out. Without a GPU all of it can be
tried: --presets tiny --batch 1,8 --prefill 64 --generate 16.

The file has: the device and the program's first line; beside the processor's the demo job's equal answers, and the largest
difference of log-probabilities of the same tokens; resuming after kill -9; tokens/s by number of requests, with the GPU's
memory and the shares of its bandwidth and peak; and mlx_lm's batch_generate on the demo model, if Python has it.
"""
import argparse
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PEERS = TOP / "Tests/Benchmarks/Peers"
# Bytes a second, and multiplications and additions a second in float16, of the data sheets (SXM, dense).
GPUS = {"H200": (4.8e12, 9.89e14), "H100": (3.35e12, 9.89e14), "A100": (2.04e12, 3.12e14)}


def pack(prefix, model, parts, size):
    """An archive of PREFIX and the model, cut into pieces."""
    parts.mkdir(parents=True)
    with tempfile.TemporaryFile() as whole:
        with tarfile.open(fileobj=whole, mode="w:xz") as archive:
            archive.add(prefix, "prefix")
            archive.add(model, "model")
        whole.seek(0)
        for number in range(1000):
            piece = whole.read(size)
            if not piece:
                break
            (parts / f"part-{number:03}").write_bytes(piece)
    print(f"{number} parts in {parts}")


def unpack(parts, folder):
    with tempfile.TemporaryFile() as whole:
        for part in sorted(parts.glob("part-*")):
            whole.write(part.read_bytes())
        whole.seek(0)
        with tarfile.open(fileobj=whole, mode="r:xz") as archive:
            archive.extractall(folder, filter="data")


class Memory(threading.Thread):
    """The most memory of the GPU in use, in MB; None where nvidia-smi doesn't tell."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.over = None, threading.Event()

    def run(self):
        while not self.over.wait(0.2):
            used = ask("nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits")
            if used:
                self.most = max(self.most or 0, int(used.split()[0]))


def ask(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


class Look:
    def __init__(self, options, program, model, folder):
        self.options, self.program, self.model, self.folder = options, program, model, folder
        self.end = time.monotonic() + 60 * options.minutes
        self.found = {"date": time.strftime("%Y-%m-%d"), "version": ask(program, "--version")}

    def step(self, name, body):
        """Notes what a step finds, or why it doesn't; each is worth having without the others."""
        begin = time.monotonic()
        if self.end - begin < 20:
            self.found[name] = "left out: no time"
        else:
            try:
                self.found[name] = body()
            except Exception as error:
                self.found[name] = f"failed: {type(error).__name__}: {error}"
        print(f"{name} ({time.monotonic() - begin:.0f} s): {json.dumps(self.found[name])[:300]}", flush=True)
        self.options.found.write_text(json.dumps(self.found, indent=1) + "\n")

    def call(self, *arguments):
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=max(1, self.end - time.monotonic()))
        if done.returncode not in (0, 3):
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-600:]}")
        return done

    def job(self, output, engine, *more):
        return ["run", TOP / "jobs/demo.yaml", "--model", self.model, "--output", output, "--engine", engine,
                "--logprobs", "1", "--tokens", *more]

    def rows(self, output):
        return {row["id"]: row for row in map(json.loads, (self.folder / output).read_text().splitlines())}

    def device(self):
        name = ask("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
        lines = self.call("doctor").stdout.splitlines()
        return {"nvidia-smi": name, "doctor": [line.strip() for line in lines if line.startswith("mlx")]}

    def answers(self):
        """The demo job's, beside the processor's."""
        said = self.call(*self.job("mlx.jsonl", "mlx")).stderr.splitlines()
        self.call(*self.job("cpu.jsonl", "cpu"))
        ours, others = self.rows("cpu.jsonl"), self.rows("mlx.jsonl")
        most, compared = 0.0, 0
        for name in ours.keys() & others.keys():
            pair = [side[name].get("logprobs", {}).get("content", []) for side in (ours, others)]
            tokens = [side[name].get("tokens", []) for side in (ours, others)]
            for a, b, one, other in zip(*pair, *tokens):
                # After the first other token the texts are others.
                if one != other:
                    break
                most, compared = max(most, abs(a["logprob"] - b["logprob"])), compared + 1
        return {"first line": said[0] if said else "", "lines": len(ours), "same lines": ours.keys() == others.keys(),
                "equal texts": sum(ours[i].get("text") == others.get(i, {}).get("text") for i in ours),
                "tokens compared": compared, "largest difference of log-probabilities": most}

    def resume(self):
        """Kill -9 once something is done; the same command goes on."""
        log = self.folder / "killed.jsonl.log"
        command = [str(self.program), *map(str, self.job("killed.jsonl", "mlx", "--workers", "4"))]
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and time.monotonic() < self.end:
            if log.exists() and log.read_bytes().count(b'"finish_reason"') > 3:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.05)
        killed = process.wait() == -signal.SIGKILL
        said = self.call(*self.job("killed.jsonl", "mlx", "--workers", "4")).stderr
        whole, found = self.rows("mlx.jsonl"), self.rows("killed.jsonl")
        return {"killed": killed, "resumed": [line for line in said.splitlines() if "earlier run" in line],
                "same lines": list(whole) == list(found),
                "equal texts": sum(whole[i].get("text") == found.get(i, {}).get("text") for i in whole)}

    def speed(self, preset):
        model = self.folder / preset
        subprocess.run([sys.executable, PEERS / "make_mlx.py", model, "--preset", preset], check=True,
                       stdout=subprocess.DEVNULL)
        weights = sum(file.stat().st_size for file in model.glob("*.safetensors"))
        # Four bits and two numbers of 16 bits for 64 weights.
        parameters = weights * 8 / 4.5
        name = ask("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
        bandwidth, peak = next((GPUS[key] for key in GPUS if key in name), (None, None))
        tests = []
        for prefill, batch in [(self.options.prefill, self.options.batch), (16 * self.options.prefill, "1")]:
            memory = Memory()
            memory.start()
            done = self.call("bench", "--model", model, "--engine", "mlx", "--json", "--repeats", "1", "--prefill",
                             prefill, "--batch", batch, "--prompt", "128", "--generate", self.options.generate)
            memory.over.set()
            for test in json.loads(done.stdout)["tests"]:
                requests, rate = test.get("requests", 1), test["tokens_per_second"]
                row = {"test": test["test"], "requests": requests, "prompt": test["prompt_tokens"] // requests,
                       "tokens/s": rate, "gpu MB": memory.most}
                if bandwidth:
                    row["of bandwidth"] = rate / requests * weights / bandwidth if test["test"] != "prefill" else None
                    row["of peak"] = 2 * parameters * rate / peak
                tests.append(row)
        return {"weights MB": weights >> 20, "tests": tests}

    def mlx_lm(self):
        if not importlib.util.find_spec("mlx_lm"):
            return "left out: Python has no mlx_lm"
        from mlx_lm import batch_generate, load
        model, tokenizer = load(str(self.model))
        found = {}
        for requests in map(int, self.options.batch.split(",")):
            prompts = [[(7 * i + number) % 30000 + 100 for i in range(128)] for number in range(requests)]
            begin = time.monotonic()
            batch_generate(model, tokenizer, prompts, max_tokens=self.options.generate)
            found[requests] = requests * self.options.generate / (time.monotonic() - begin)
        ours = json.loads(self.call("bench", "--model", self.model, "--engine", "mlx", "--json", "--repeats", "1", "--batch",
                                    self.options.batch, "--prompt", "128", "--generate", self.options.generate).stdout)
        return {"mlx_lm, prompts included": found,
                "phibatch": {t["requests"]: t["tokens_per_second"] for t in ours["tests"] if t["test"] != "prefill"}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_subparsers(required=True, dest="which")
    one = which.add_parser("pack")
    one.add_argument("prefix", type=Path)
    one.add_argument("model", type=Path)
    one.add_argument("parts", type=Path)
    one.add_argument("--part-mb", type=int, default=50)
    other = which.add_parser("run")
    other.add_argument("source", type=Path, help="a folder of parts, or an installed PREFIX")
    other.add_argument("found", type=Path)
    other.add_argument("--model", type=Path, help="the demo model, where nothing is packed")
    other.add_argument("--minutes", type=float, default=8)
    other.add_argument("--presets", default="phi-3-mini,phi-4-mini")
    other.add_argument("--batch", default="1,8,32,128,512")
    other.add_argument("--prefill", type=int, default=512, help="and 16 times as much")
    other.add_argument("--generate", type=int, default=128)
    options = parser.parse_args()
    if options.which == "pack":
        return pack(options.prefix, options.model, options.parts, options.part_mb << 20)
    with tempfile.TemporaryDirectory() as folder:
        folder, prefix, model = Path(folder), options.source.resolve(), options.model
        if any(options.source.glob("part-*")):
            unpack(options.source, folder)
            prefix, model = folder / "prefix", folder / "model"
        look = Look(options, prefix / "bin/phibatch", model.resolve(), folder)
        look.step("device", look.device)
        look.step("answers", look.answers)
        look.step("resume", look.resume)
        for preset in options.presets.split(","):
            look.step(preset, lambda: look.speed(preset))
        look.step("mlx_lm", look.mlx_lm)


if __name__ == "__main__":
    main()
