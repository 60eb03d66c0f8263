#!/usr/bin/env python3
"""Time onnxruntime-genai, Microsoft's own runtime for Phi, over prompts of random token ids.

All requests are one batch of its generator. Prints one JSON line a measurement.

    run_onnx.py MODEL --prefill 512 --generate 1,8,32
    run_onnx.py MODEL --job 64                           # process start to last token
"""
import time

START = time.time()  # before the slow imports: --job counts them

import json
import os

import numpy as np
import onnxruntime_genai as genai

import timing

LARGEST = 32  # requests of a batch; more are several, one after the other


class Batches:
    def __init__(self, a):
        self.vocab, self.rng = timing.vocabulary(a.model), np.random.default_rng(1)
        config = genai.Config(a.model)
        # By itself it takes a thread for each core, of virtual machines one for two processors.
        options = {"intra_op_num_threads": a.threads or os.cpu_count()}
        config.overlay(json.dumps({"model": {"decoder": {"session_options": options}}}))
        self.model = genai.Model(config)

    def run(self, requests, prompt, generate):
        if requests > LARGEST:
            parts = [self.run(n, prompt, generate) for n in (LARGEST, requests - LARGEST)]
            return {key: parts[0][key] + parts[1][key] for key in parts[0]}
        parameters = genai.GeneratorParams(self.model)
        # As many tokens as are asked for, whatever the model would end with.
        parameters.set_search_options(batch_size=requests, do_sample=False, max_length=prompt + generate,
                                      min_length=prompt + generate)
        ids = self.rng.integers(3, self.vocab, (requests, prompt), dtype=np.int32)
        phases = timing.Phases()
        generator = genai.Generator(self.model, parameters)
        generator.append_tokens(ids)
        generator.generate_next_token()
        phases.end()
        while not generator.is_done():
            generator.generate_next_token()
        phases.end()
        generated = sum(len(generator.get_sequence(i)) - prompt for i in range(requests))
        return phases.result(requests, prompt, generated, requests)


if __name__ == "__main__":
    options = timing.parser(__doc__).parse_args()
    timing.measure(options, Batches(options).run, START)
