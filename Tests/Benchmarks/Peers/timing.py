"""What the scripts that time an engine from Python have in common: options, the runs that are asked for, and a JSON
line for each, with the numbers of tokens really processed."""
import argparse
import json
import os
import time

def parser(text):
    p = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("--prefill", type=int, help="length of a single prompt")
    p.add_argument("--generate", default="", help="numbers of requests")
    p.add_argument("--job", type=int, help="this many requests, timed from process start")
    p.add_argument("--prompt", type=int, default=128, help="of each request")
    p.add_argument("--tokens", type=int, default=128, help="generated for each request")
    p.add_argument("--repeat", type=int, default=1)
    p.add_argument("--threads", type=int)
    return p


def vocabulary(model):
    with open(os.path.join(model, "config.json")) as file:
        return json.load(file)["vocab_size"]


class Phases:
    """When prefill and generation began and ended: steps up to the one that gives the last request its first token are
    prefill, the steps after it are generation."""

    def __init__(self):
        self.times = [(time.perf_counter(), time.process_time())]

    def end(self):
        self.times.append((time.perf_counter(), time.process_time()))

    def result(self, requests, prompt, generated, early):
        """early: tokens that were generated when prefill ended; they took no time in the other phase."""
        (begin, cpu_begin), (first, cpu_first), (end, cpu_end) = self.times
        return {
            "requests": requests, "prompt_tokens": requests * prompt, "generated_tokens": generated,
            "prefill_s": first - begin, "generation_s": end - first, "total_s": end - begin,
            "prefill_cpu_s": cpu_first - cpu_begin, "generation_cpu_s": cpu_end - cpu_first,
            "prefill_tps": requests * prompt / (first - begin),
            "generation_tps": (generated - early) / (end - first) if generated > early else None,
        }


def measure(a, run, start):
    """run(requests, prompt, generate) gives the result of one batch of requests."""
    def show(name, result):
        print(json.dumps({"test": name, **result}), flush=True)

    if a.job:
        result = run(a.job, a.prompt, a.tokens)
        show(f"job{a.job}", {**result, "process_s": time.time() - start})
        return
    run(1, min(a.prefill or a.prompt, 512), 4)  # warm up: first use compiles kernels and touches memory
    for _ in range(a.repeat):
        if a.prefill:
            show(f"pp{a.prefill}", run(1, a.prefill, 1))
        for n in filter(None, a.generate.split(",")):
            show(f"tg{n}", run(int(n), a.prompt, a.tokens))
