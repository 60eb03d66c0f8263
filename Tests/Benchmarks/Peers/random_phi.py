"""A Phi model of a preset's shapes with random weights, for engines that take it from transformers."""
import sys

import torch
from transformers import Phi3Config, Phi3ForCausalLM

from geometry import ORIGINAL_CONTEXT, Geometry


def random_model(preset):
    g = Geometry(preset)
    if g.experts:
        sys.exit(f"{preset}: only models without experts are made here")
    rope = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": g.rotary}
    if g.longrope:
        short, long = g.rope_factors()
        rope.update(rope_type="longrope", original_max_position_embeddings=ORIGINAL_CONTEXT,
                    short_factor=short, long_factor=long)
    config = Phi3Config(hidden_size=g.hidden, num_hidden_layers=g.layers,
                        intermediate_size=g.intermediate, num_attention_heads=g.heads,
                        num_key_value_heads=g.kv_heads, vocab_size=g.vocab,
                        tie_word_embeddings=g.tied, max_position_embeddings=g.context,
                        original_max_position_embeddings=ORIGINAL_CONTEXT, sliding_window=None,
                        rope_parameters=rope, bos_token_id=1, eos_token_id=2, pad_token_id=0,
                        dtype="float16")
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float16)  # 7.6 GB instead of 15
    model = Phi3ForCausalLM(config).eval()
    torch.set_default_dtype(torch.float32)
    return model
