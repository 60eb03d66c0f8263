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

import numpy as np
import openvino as ov
import openvino_genai as genai

import timing


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
        self.vocab = timing.vocabulary(a.model)
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
        phases = timing.Phases()
        for _ in range(requests):
            # Different prompts: nothing to share.
            ids = self.rng.integers(3, self.vocab, (1, prompt), dtype=np.int64)
            handles.append(self.pipe.add_request(self.next_id, ov.Tensor(ids), config))
            self.next_id += 1
        seen = [0] * requests
        early = None
        while self.pipe.has_non_finished_requests():
            self.pipe.step()
            for i, h in enumerate(handles):
                if h.can_read():
                    for output in h.read().values():
                        seen[i] += len(output.generated_ids)
            if early is None and all(seen):
                phases.end()
                early = sum(seen)
        phases.end()
        return phases.result(requests, prompt, sum(seen), early)


def main():
    p = timing.parser(__doc__)
    p.add_argument("--tuned", action="store_true")
    p.add_argument("--dq-group", type=int)
    p.add_argument("--kv", help="KV cache precision")
    p.add_argument("--batched-tokens", type=int)
    p.add_argument("--cache-gb", type=int, default=8, help="131,200 tokens of 4 layers take 6.6")
    p.add_argument("--property", action="append", default=[], metavar="KEY=VALUE")
    a = p.parse_args()
    timing.measure(a, Pipeline(a).run, START)


if __name__ == "__main__":
    main()
