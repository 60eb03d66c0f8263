#!/usr/bin/env python3
"""Write a Phi checkpoint for vLLM: 4 bits in GPTQ's layout, or 8 bits in that of compressed-tensors.

    make_vllm.py OUT --bits 4 --preset phi-3-mini            # random weights, for timing
    make_vllm.py OUT --bits 8 --model models/smollm2-demo    # those of an MLX checkpoint, for perplexity

Both are symmetric and rounded to nearest: 4 bits with a scale for a group of 128 (64 where 128 don't divide the rows),
8 bits with one for a row. Embedding, output and norms are 16 bits wide, as such checkpoints have them.
"""
import argparse
import json
import math
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from geometry import PRESETS, Geometry
from make_mlx import configuration
from perplexity import expanded


def quantized(x, bits, hidden):
    """Integers, and a scale for each group of a row."""
    grouped = x.reshape(len(x), -1, math.gcd(128, hidden) if bits == 4 else x.shape[1])
    largest = np.take_along_axis(grouped, np.abs(grouped).argmax(-1)[..., None], -1)
    scales = (largest / -8).astype(np.float16) if bits == 4 else np.abs(largest) / 127
    integers = np.rint(grouped / np.where(scales == 0, 1, scales)).clip(-2**(bits - 1), 2**(bits - 1) - 1)
    return integers.astype(np.int8), scales


def rounded(x, bits, hidden):
    """What the checkpoint has of a matrix, as float32."""
    integers, scales = quantized(x, bits, hidden)
    return (integers * scales.astype(np.float32)).reshape(x.shape)


def packed(name, x, bits, hidden):
    """A matrix's tensors."""
    integers, scales = quantized(x, bits, hidden)
    if bits == 8:
        return {f"{name}.weight": integers.reshape(x.shape), f"{name}.weight_scale": scales[..., 0]}
    rows, groups, group = integers.shape
    # 8 rows of the transposed matrix in an integer, the first one lowest; a zero of 8 is written as 7.
    nibbles = (integers + 8).astype(np.uint8).reshape(rows, -1, 8).transpose(1, 0, 2)
    return {
        f"{name}.qweight": np.ascontiguousarray(nibbles[..., ::2] | nibbles[..., 1::2] << 4).view(np.int32)[..., 0],
        f"{name}.qzeros": np.full((groups, rows // 8), 0x77777777, np.int32),
        f"{name}.scales": np.ascontiguousarray(scales[..., 0].T),
        f"{name}.g_idx": np.arange(groups * group, dtype=np.int32) // group,
    }


def quantization(bits, hidden):
    if bits == 4:
        return {"quant_method": "gptq", "bits": 4, "group_size": math.gcd(128, hidden), "sym": True, "desc_act": False}
    common = {"num_bits": 8, "type": "int", "symmetric": True}
    return {"quant_method": "compressed-tensors", "format": "int-quantized", "ignore": ["lm_head"],
            "config_groups": {"group_0": {
                "targets": ["Linear"], "weights": {**common, "strategy": "channel", "dynamic": False},
                "input_activations": {**common, "strategy": "token", "dynamic": True}}}}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out", type=Path)
    p.add_argument("--bits", type=int, choices=(4, 8), required=True)
    p.add_argument("--preset", choices=sorted(PRESETS), default="phi-3-mini")
    p.add_argument("--model", type=Path, help="an MLX checkpoint instead of random weights")
    a = p.parse_args()
    rng = np.random.default_rng(0)
    config, weights = expanded(a.model) if a.model else (configuration(Geometry(a.preset)), None)
    hidden, inner, vocab = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    heads = config["num_attention_heads"] + 2 * config["num_key_value_heads"]

    def value(name, *shape):
        if weights:
            return weights[name]
        # A variance of 1/columns, so that activations keep their size.
        return rng.standard_normal(shape, np.float32) / math.sqrt(shape[1]) if shape[1:] else np.ones(shape)

    def save(number, names, *shape, more={}):
        floats = {n: value(n, *shape).astype(np.float16) for n in names}
        save_file({**floats, **more}, a.out / f"model-{number:02}.safetensors", {"format": "pt"})

    a.out.mkdir(parents=True, exist_ok=True)
    matrices = {"self_attn.qkv_proj": (heads * hidden // config["num_attention_heads"], hidden),
                "self_attn.o_proj": (hidden, hidden), "mlp.gate_up_proj": (2 * inner, hidden),
                "mlp.down_proj": (hidden, inner)}
    layers = config["num_hidden_layers"]
    for i in range(layers):  # a file a layer: that needs little memory
        made, prefix = {}, f"model.layers.{i}."
        for part, shape in matrices.items():
            made |= packed(prefix + part, value(f"{prefix}{part}.weight", *shape), a.bits, hidden)
        save(i, [f"{prefix}input_layernorm.weight", f"{prefix}post_attention_layernorm.weight"], hidden, more=made)
    save(layers, ["model.norm.weight"], hidden)
    embeddings = ["model.embed_tokens.weight"] + ([] if config["tie_word_embeddings"] else ["lm_head.weight"])
    save(layers + 1, embeddings, vocab, hidden)
    config["quantization_config"] = quantization(a.bits, hidden)
    del config["quantization"]
    (a.out / "config.json").write_text(json.dumps(config, indent=2))
    print(f"{a.out}: {layers + 2} files")


if __name__ == "__main__":
    main()
