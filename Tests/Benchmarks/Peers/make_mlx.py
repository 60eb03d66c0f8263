#!/usr/bin/env python3
"""Write a random-weight Phi checkpoint in MLX's 4-bit format with groups of 64, for timing phibatch.

There is no tokenizer in the folder: the benchmarks feed token ids.

    make_mlx.py OUT --preset phi-3-mini
"""
import argparse
import json
import math
import os
import struct

import numpy as np

from geometry import ORIGINAL_CONTEXT, PRESETS, Geometry

BITS, GROUP = 4, 64
BYTES = {"U32": 4, "F16": 2}


def tensors(g, rng):
    """(name, type, shape, maker) of every tensor, in file order."""

    def quantized(name, rows, columns):
        # value = scale * q + bias: q is uniform in 0 ... 15, so a bias of -7.5 scales centres it,
        # and 4.6 is its deviation.
        scale = 1 / (math.sqrt(columns) * 4.6)
        groups = (rows, columns // GROUP)
        yield name + ".weight", "U32", (rows, columns * BITS // 32), lambda: rng.bytes(rows * columns // 2)
        yield name + ".scales", "F16", groups, lambda: np.full(groups, scale, np.float16).tobytes()
        yield name + ".biases", "F16", groups, lambda: np.full(groups, -7.5 * scale, np.float16).tobytes()

    def floats(name, shape, make):
        yield name, "F16", shape, lambda: make(shape).astype(np.float16).tobytes()

    def norm(name):
        yield from floats(name + ".weight", (g.hidden,), np.ones)
        if g.experts:
            yield from floats(name + ".bias", (g.hidden,), np.zeros)

    def stacked(name, rows, columns):
        for tensor, kind, (_, width), make in quantized(name, g.experts * rows, columns):
            yield tensor, kind, (g.experts, rows, width), make

    yield from quantized("model.embed_tokens", g.vocab, g.hidden)
    for i in range(g.layers):
        p = f"model.layers.{i}."
        yield from norm(p + "input_layernorm")
        for part, rows in g.attention_rows.items():
            yield from quantized(f"{p}self_attn.{part}_proj", rows, g.hidden)
        yield from quantized(p + "self_attn.o_proj", g.hidden, g.hidden)
        yield from norm(p + "post_attention_layernorm")
        if g.experts:
            p += "block_sparse_moe."
            yield from floats(p + "gate.weight", (g.experts, g.hidden), rng.standard_normal)
            yield from stacked(p + "switch_mlp.gate_proj", g.intermediate, g.hidden)
            yield from stacked(p + "switch_mlp.up_proj", g.intermediate, g.hidden)
            yield from stacked(p + "switch_mlp.down_proj", g.hidden, g.intermediate)
            continue
        yield from quantized(p + "mlp.gate_up_proj", 2 * g.intermediate, g.hidden)
        yield from quantized(p + "mlp.down_proj", g.hidden, g.intermediate)
    yield from norm("model.norm")
    if not g.tied:
        yield from quantized("lm_head", g.vocab, g.hidden)


def configuration(g):
    scaling = None
    if g.longrope:
        short, long = g.rope_factors()
        scaling = {"type": "longrope", "short_factor": short, "long_factor": long}
    experts = {"num_local_experts": g.experts, "num_experts_per_tok": 2} if g.experts else {}
    return {
        **experts, "model_type": "phimoe" if experts else "phi3", "hidden_act": "silu",
        "architectures": ["PhiMoEForCausalLM" if experts else "Phi3ForCausalLM"],
        "hidden_size": g.hidden, "num_hidden_layers": g.layers, "num_attention_heads": g.heads,
        "num_key_value_heads": g.kv_heads, "intermediate_size": g.intermediate,
        "vocab_size": g.vocab, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "rope_scaling": scaling, "partial_rotary_factor": g.rotary,
        "max_position_embeddings": g.context, "original_max_position_embeddings": ORIGINAL_CONTEXT,
        "tie_word_embeddings": g.tied, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
        "sliding_window": None, "torch_dtype": "float16",
        "quantization": {"group_size": GROUP, "bits": BITS},
    }


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out")
    p.add_argument("--preset", choices=sorted(PRESETS), default="phi-3-mini")
    p.add_argument("--seed", type=int, default=0)
    a = p.parse_args()
    g = Geometry(a.preset)

    os.makedirs(a.out, exist_ok=True)
    made = list(tensors(g, np.random.default_rng(a.seed)))
    header, offset = {"__metadata__": {"format": "mlx"}}, 0
    for name, kind, shape, _ in made:
        end = offset + math.prod(shape) * BYTES[kind]
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(a.out, "model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for *_, make in made:
            f.write(make())
    with open(os.path.join(a.out, "config.json"), "w") as f:
        json.dump(configuration(g), f, indent=2)
    print(f"{a.out}: {len(made)} tensors")


if __name__ == "__main__":
    main()
