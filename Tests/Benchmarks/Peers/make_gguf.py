#!/usr/bin/env python3
"""Write a random-weight Phi model as a Q4_0 GGUF file, for timing llama.cpp.

With experts it is of Mixtral's architecture, which llama.cpp and its forks all know, of the same shapes as Phi-3.5-MoE.
Every matrix is Q4_0, the embedding and the output too: that is llama.cpp's fastest 4-bit type,
and the file is then as small as phibatch's. The tokenizer is a stand-in of the right size; the
benchmarks feed token ids.

    make_gguf.py OUT.gguf --preset phi-3-mini
"""
import argparse
import math

import gguf
import numpy as np

from geometry import ORIGINAL_CONTEXT, PRESETS, Geometry

BLOCK, BLOCK_BYTES = 32, 18  # Q4_0: one f16 scale, then 32 four-bit values


def q4_0(rng, rows, columns):
    """Random blocks with a variance of 1/columns, so that activations keep their size."""
    blocks = np.empty((rows * columns // BLOCK, BLOCK_BYTES), np.uint8)
    scale = np.float16(1 / (math.sqrt(columns) * 4.6))  # 4.6: deviation of a uniform 0 ... 15
    blocks[:, :2] = np.frombuffer(scale.tobytes(), np.uint8)
    blocks[:, 2:] = np.frombuffer(rng.bytes(len(blocks) * 16), np.uint8).reshape(-1, 16)
    return blocks.reshape(rows, -1)


def tensors(g, rng):
    """(name, shape, maker) of every tensor; made one at a time to keep memory small."""

    def matrix(name, *shape):
        *stack, columns = shape
        return name, shape, lambda: q4_0(rng, math.prod(stack), columns).reshape(*stack, -1)

    def vector(name, values):
        return name, (len(values),), lambda: np.asarray(values, np.float32)

    ones = np.ones(g.hidden)
    yield matrix("token_embd.weight", g.vocab, g.hidden)
    if g.longrope:
        short, long = g.rope_factors()
        yield vector("rope_factors_long.weight", long)
        yield vector("rope_factors_short.weight", short)
    for i in range(g.layers):
        p = f"blk.{i}."
        yield vector(p + "attn_norm.weight", ones)
        for part, rows in g.attention_rows.items():
            yield matrix(f"{p}attn_{part}.weight", rows, g.hidden)
        yield matrix(p + "attn_output.weight", g.hidden, g.hidden)
        yield vector(p + "ffn_norm.weight", ones)
        if g.experts:
            yield (p + "ffn_gate_inp.weight", (g.experts, g.hidden),
                   lambda: rng.standard_normal((g.experts, g.hidden)).astype(np.float32))
            for part in ("gate", "up"):
                yield matrix(f"{p}ffn_{part}_exps.weight", g.experts, g.intermediate, g.hidden)
            yield matrix(p + "ffn_down_exps.weight", g.experts, g.hidden, g.intermediate)
            continue
        yield matrix(p + "ffn_up.weight", 2 * g.intermediate, g.hidden)
        yield matrix(p + "ffn_down.weight", g.hidden, g.intermediate)
    yield vector("output_norm.weight", ones)
    if not g.tied:
        yield matrix("output.weight", g.vocab, g.hidden)


def write_metadata(w, g):
    w.add_name("random")  # a name with "phi-3" makes llama.cpp insist on phi-3's special tokens
    w.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
    w.add_context_length(g.context)
    w.add_sliding_window(g.context)  # all of it; ik_llama.cpp wants to be told
    w.add_rope_scaling_orig_ctx_len(ORIGINAL_CONTEXT)
    w.add_embedding_length(g.hidden)
    w.add_feed_forward_length(g.intermediate)
    w.add_block_count(g.layers)
    w.add_head_count(g.heads)
    w.add_head_count_kv(g.kv_heads)
    w.add_layer_norm_rms_eps(1e-5)
    if g.experts:
        w.add_expert_count(g.experts)
        w.add_expert_used_count(2)
    w.add_rope_dimension_count(g.rotary_dimensions)
    w.add_rope_freq_base(10000.0)
    if g.longrope:
        w.add_rope_scaling_attn_factors(g.rope_attention_factor())

    special = ["<unk>", "<s>", "</s>"]
    byte = [f"<0x{i:02X}>" for i in range(256)]
    words = [f"w{i}" for i in range(g.vocab - len(special) - len(byte))]
    kind = gguf.TokenType
    w.add_tokenizer_model("llama")
    w.add_token_list(special + byte + words)
    w.add_token_scores([0.0] * len(special + byte) + [-float(i) for i in range(len(words))])
    w.add_token_types([kind.UNKNOWN, kind.CONTROL, kind.CONTROL]
                      + [kind.BYTE] * len(byte) + [kind.NORMAL] * len(words))
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out")
    p.add_argument("--preset", choices=sorted(PRESETS), default="phi-3-mini")
    p.add_argument("--seed", type=int, default=0)
    a = p.parse_args()
    g = Geometry(a.preset)

    w = gguf.GGUFWriter(a.out, "llama" if g.experts else "phi3")
    write_metadata(w, g)
    made = list(tensors(g, np.random.default_rng(a.seed)))
    for name, shape, _ in made:
        if len(shape) == 1 or "gate_inp" in name:
            w.add_tensor_info(name, shape, np.dtype(np.float32), math.prod(shape) * 4)
        else:
            packed = (*shape[:-1], shape[-1] // BLOCK * BLOCK_BYTES)
            w.add_tensor_info(name, packed, np.dtype(np.uint8), math.prod(packed),
                              raw_dtype=gguf.GGMLQuantizationType.Q4_0)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_ti_data_to_file()
    for _, _, make in made:
        w.write_tensor_data(make())
    w.close()
    print(f"{a.out}: {len(made)} tensors")


if __name__ == "__main__":
    main()
