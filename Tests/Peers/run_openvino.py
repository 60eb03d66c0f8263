#!/usr/bin/env python3
"""Time OpenVINO GenAI's continuous batching over prompts of random token ids.

Steps the pipeline by hand, so that prefill and generation are timed apart: steps up to the one
that gives the last request its first token are prefill, the steps after it are generation.
Prints one JSON line a measurement, with the numbers of tokens really processed.

    run_openvino.py MODEL --prefill 512 --generate 1,8,32            # as installed
    run_openvino.py MODEL --tuned --generate 1,8,32
    run_openvino.py MODEL --tuned --job 64                           # process start to last token
"""
import time

START = time.time()  # before the slow imports: --job counts them

import argparse
import json
import os

import numpy as np
import openvino as ov
import openvino_genai as genai


def properties(a):
    # A dictionary of what differs from the installed defaults.
    p = {}
    if a.threads:
        p["INFERENCE_NUM_THREADS"] = a.threads
    if a.tuned or a.dq_group is not None:
        # One scale for 128 activations, as the weights have; the default is finer and slower.
        p["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = str(128 if a.dq_group is None else a.dq_group)
    if a.kv:
        p["KV_CACHE_PRECISION"] = a.kv
    for item in a.property:
        key, value = item.split("=", 1)
        p[key] = value
    return p


def scheduler(a):
    s = genai.SchedulerConfig()
    s.cache_size = a.cache_gb
    s.max_num_seqs = 256
    if a.tuned or a.batched_tokens:
        # The default splits prompts into pieces of 256 tokens.
        s.max_num_batched_tokens = a.batched_tokens or 4096
    return s


class Pipeline:
    def __init__(self, a):
        self.vocab = json.load(open(os.path.join(a.model, "config.json")))["vocab_size"]
        self.rng = np.random.default_rng(1)
        self.next_id = 0
        self.pipe = genai.ContinuousBatchingPipeline(a.model, scheduler(a), "CPU", properties(a))

    def run(self, requests, prompt, generate):
        """(prefill seconds, generation seconds, tokens of each kind) of one batch of requests."""
        config = genai.GenerationConfig()
        config.max_new_tokens = generate
        config.ignore_eos = True
        config.do_sample = False
        handles = []
        begin, cpu_begin = time.perf_counter(), time.process_time()
        for _ in range(requests):
            # Different prompts: nothing to share.
            ids = self.rng.integers(3, self.vocab, (1, prompt), dtype=np.int64)
            handles.append(self.pipe.add_request(self.next_id, ov.Tensor(ids), config))
            self.next_id += 1
        seen = [0] * requests
        first = early = None
        while self.pipe.has_non_finished_requests():
            self.pipe.step()
            for i, h in enumerate(handles):
                if h.can_read():
                    for output in h.read().values():
                        seen[i] += len(output.generated_ids)
            if first is None and all(seen):
                first, cpu_first, early = time.perf_counter(), time.process_time(), sum(seen)
        end, cpu_end = time.perf_counter(), time.process_time()
        return {
            "requests": requests, "prompt_tokens": requests * prompt, "generated_tokens": sum(seen),
            "prefill_s": first - begin, "generation_s": end - first, "total_s": end - begin,
            "prefill_cpu_s": cpu_first - cpu_begin, "generation_cpu_s": cpu_end - cpu_first,
            "prefill_tps": requests * prompt / (first - begin),
            # Tokens chosen while others were still prefilling took no time in this phase.
            "generation_tps": (sum(seen) - early) / (end - first) if end > first and generate > 1 else None,
        }


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("--tuned", action="store_true")
    p.add_argument("--prefill", type=int, help="length of a single prompt")
    p.add_argument("--generate", default="", help="numbers of requests, of 128 + 128 tokens each")
    p.add_argument("--job", type=int, help="this many requests of 128 + 128 tokens, timed from process start")
    p.add_argument("--tokens", type=int, default=128, help="generated for each request")
    p.add_argument("--repeat", type=int, default=1)
    p.add_argument("--threads", type=int)
    p.add_argument("--dq-group", type=int)
    p.add_argument("--kv", help="KV cache precision")
    p.add_argument("--batched-tokens", type=int)
    p.add_argument("--cache-gb", type=int, default=5)
    p.add_argument("--property", action="append", default=[], metavar="KEY=VALUE")
    a = p.parse_args()

    pipeline = Pipeline(a)

    def show(name, result):
        print(json.dumps({"test": name, **result}), flush=True)

    if a.job:
        result = pipeline.run(a.job, 128, a.tokens)
        show(f"job{a.job}", {**result, "process_s": time.time() - START})
        return
    pipeline.run(1, a.prefill or 128, 4)  # warm up: first use compiles kernels and touches memory
    for _ in range(a.repeat):
        if a.prefill:
            show(f"pp{a.prefill}", pipeline.run(1, a.prefill, 1))
        for n in filter(None, a.generate.split(",")):
            show(f"tg{n}", pipeline.run(int(n), 128, a.tokens))


if __name__ == "__main__":
    main()
