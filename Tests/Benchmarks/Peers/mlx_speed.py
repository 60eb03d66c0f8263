#!/usr/bin/env python3
"""Compare engine: mlx with mlx-lm's own batch generation, on one model and one machine, in one run.

    mlx_speed.py --model models/smollm2-demo [--python PYTHON] [--rounds 3] [--works 1,8,32,mixed]

Both get the same token ids, and generate as many tokens as they are told, whatever those are. They take turns. PYTHON
has mlx-lm and the back end that "make mlx" has fetched: pip install mlx-lm "mlx[cpu]==0.32.4". What is timed begins with
the first prompt, when the model is loaded, and ends with the last token. Nothing else may run meanwhile.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
WORKS = ["1", "8", "32", "mixed"]


def requests(work, prompt, new):
    """(token ids, tokens to generate) of each request; of "mixed" each has lengths of its own."""
    rng = random.Random(7)
    count = 32 if work == "mixed" else int(work)
    lengths = [(rng.choice([prompt // 4, prompt, 3 * prompt]), rng.choice([new // 4, new, 2 * new]))
               if work == "mixed" else (prompt, new) for _ in range(count)]
    return [([rng.randrange(10, 300) for _ in range(p)], max(1, g)) for p, g in lengths]


def mlx_lm(model, works):
    """Runs in a process of its own: prints the seconds of each work."""
    import mlx.core as mx
    from mlx_lm import load
    from mlx_lm.generate import BatchGenerator
    network, _ = load(model)
    mx.eval(network.parameters())
    for work in works:
        prompts, new = [p for p, _ in work], [g for _, g in work]
        generator = BatchGenerator(network, max_tokens=max(new), stop_tokens=[], completion_batch_size=len(work),
                                   prefill_batch_size=len(work))
        begin = time.perf_counter()
        generator.insert(prompts, new)
        count = 0
        while count < sum(new):
            responses = generator.next()
            # Newer versions tell of prompts, too.
            count += len(responses[-1] if isinstance(responses, tuple) else responses)
        print(json.dumps(time.perf_counter() - begin), flush=True)
        generator.close()


def phibatch(program, model, work):
    with tempfile.TemporaryDirectory() as folder:
        lines = [{"id": f"n{n}", "prompt": p, "max_tokens": g} for n, (p, g) in enumerate(work)]
        (Path(folder) / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        output = Path(folder) / "out.jsonl"
        done = subprocess.run(
            [program, "run", "--engine", "mlx", "--model", model, "--input", f"{folder}/in.jsonl", "--output", output,
             "--ignore-eos", "--workers", str(len(work)), "--speculate", "off", "--quiet"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"phibatch failed ({done.returncode}): {done.stderr[-2000:]}")
        results = [json.loads(line) for line in output.read_text().splitlines()]
    made = sum(result["usage"]["completion_tokens"] for result in results)
    if made != sum(g for _, g in work):
        sys.exit(f"phibatch made {made} tokens")
    return max(sum(result["timing"][part] for part in ("queued", "prefill", "decode")) for result in results)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", default=str(TOP / "models/smollm2-demo"))
    p.add_argument("--program", default=str(TOP / ".build/release/phibatch"))
    p.add_argument("--python", default=sys.executable, help="one that has mlx-lm")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--works", default=",".join(WORKS))
    p.add_argument("--prompt", type=int, default=32)
    p.add_argument("--new", type=int, default=16)
    p.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    a = p.parse_args()
    names = a.works.split(",")
    works = [requests(name, a.prompt, a.new) for name in names]
    if a.peer:
        return mlx_lm(a.model, works)
    if subprocess.run([a.python, "-c", "import mlx_lm"], capture_output=True).returncode:
        sys.exit(f'{a.python} has no mlx-lm: pip install mlx-lm "mlx[cpu]==0.32.4", or name another with --python')
    seconds = {name: ([], []) for name in names}
    command = [a.python, __file__, "--peer", "--model", a.model, "--prompt", str(a.prompt), "--new", str(a.new)]
    for _ in range(a.rounds):
        for name, work in zip(names, works):
            seconds[name][0].append(phibatch(a.program, a.model, work))
            peer = subprocess.run(command + ["--works", name], stdout=subprocess.PIPE, text=True, check=True)
            seconds[name][1].append(json.loads(peer.stdout.splitlines()[-1]))
            print(f"{name}: phibatch {seconds[name][0][-1]:.2f} s, mlx-lm {seconds[name][1][-1]:.2f} s", file=sys.stderr)
    print(f"{os.path.basename(a.model)}, {a.rounds} rounds, medians in seconds\n")
    print("| requests | prompt tokens | new tokens | phibatch | mlx-lm | times as fast |")
    print("|----------|---------------|------------|----------|--------|---------------|")
    for name, work in zip(names, works):
        own, other = map(statistics.median, seconds[name])
        tokens = sum(len(ids) for ids, _ in work), sum(g for _, g in work)
        print(f"| {name} | {tokens[0]} | {tokens[1]} | {own:.2f} | {other:.2f} | {other / own:.2f} |")


if __name__ == "__main__":
    main()
