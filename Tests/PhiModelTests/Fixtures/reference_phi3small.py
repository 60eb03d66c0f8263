"""Lets reference_logits.py compute Phi-3-small, which transformers has not: from its formulas, in float32.

    reference_phi3small.py REFERENCE_LOGITS.py MODEL_DIR ...      # the rest as reference_logits.py

Attention is written out with a mask of single positions, and not by blocks as the engine has it.
"""
import runpy
import sys
import types

import torch
from torch.nn.functional import layer_norm, linear


class Config:
    def __init__(self, **keys):
        keys.pop("attn_implementation", None)
        self.__dict__.update(keys)


def rotated(x, config, longer):
    """x [heads, positions, dimensions]: pairs (i, i + half), slowed down by LongRoPE's factors, if there are some."""
    half, scaling, scale = x.shape[-1] // 2, config.rope_scaling, 1.0
    periods = config.rope_embedding_base ** (torch.arange(half).float() / half)
    if scaling:
        periods = periods * torch.tensor(scaling["long_factor" if longer else "short_factor"])
        scale = scaling["long_mscale" if longer else "short_mscale"]
    angle = torch.arange(x.shape[1]).float()[:, None] / periods
    cos, sin = scale * angle.cos(), scale * angle.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Model:
    def __init__(self, config):
        self.config = config

    def float(self):
        return self

    eval = float

    def load_state_dict(self, weights, strict):
        self.weights = weights
        return [], []

    def tie_weights(self):
        pass

    def linear(self, x, path):
        return linear(x, self.weights[path + ".weight"], self.weights[path + ".bias"])

    def norm(self, x, path):
        return layer_norm(x, x.shape[-1:], self.weights[path + ".weight"], self.weights[path + ".bias"],
                          self.config.layer_norm_epsilon)

    def sees(self, number, count):
        c, position = self.config, torch.arange(count)
        causal = position[:, None] >= position
        every = c.dense_attention_every_n_layers
        if every and (number + 1) % every == 0:
            return causal
        block = position // c.blocksparse_block_size
        near = block[:, None] - block < c.blocksparse_num_local_blocks
        step = 0 if c.blocksparse_homo_head_pattern else max(1, c.blocksparse_vert_stride // c.num_attention_heads)
        head = torch.arange(c.num_attention_heads)[:, None, None]
        return causal & (near | ((block + head * step + 1) % c.blocksparse_vert_stride == 0))

    def attention(self, x, path, number):
        c = self.config
        size, own = c.hidden_size // c.num_attention_heads, c.num_attention_heads // c.num_key_value_heads
        longer = len(x) > getattr(c, "original_max_position_embeddings", len(x))
        groups = self.linear(x, path + "query_key_value").view(len(x), c.num_key_value_heads, own + 2, size)
        q = groups[:, :, :own].reshape(len(x), -1, size).transpose(0, 1)
        k, v = (groups[:, :, own + i].transpose(0, 1).repeat_interleave(own, 0) for i in (0, 1))
        scores = rotated(q, c, longer) @ rotated(k, c, longer).transpose(1, 2)
        scores = scores * (c.mup_attn_multiplier / size if c.mup_use_scaling else size ** -0.5)
        found = scores.masked_fill(~self.sees(number, len(x)), -torch.inf).softmax(-1) @ v
        return self.linear(found.transpose(0, 1).reshape(len(x), -1), path + "dense")

    def feed_forward(self, x, path):
        x, limit = self.linear(x, path + "up_proj"), self.config.gegelu_limit
        gate, up = x[:, ::2].clamp(max=limit), x[:, 1::2].clamp(-limit, limit)
        return self.linear(gate * torch.sigmoid(1.702 * gate) * (up + 1), path + "down_proj")

    def __call__(self, ids, use_cache):
        c, embedding = self.config, self.weights["model.embed_tokens.weight"]
        x = embedding[ids[0]] * c.mup_embedding_multiplier
        for number in range(c.num_hidden_layers):
            path = f"model.layers.{number}."
            x = x + self.attention(self.norm(x, path + "input_layernorm"), path + "self_attn.", number)
            x = x + self.feed_forward(self.norm(x, path + "post_attention_layernorm"), path + "mlp.")
        logits = linear(self.norm(x, "model.final_layernorm"), embedding) / c.mup_width_multiplier
        return types.SimpleNamespace(logits=logits[None])


sys.modules["transformers"] = types.SimpleNamespace(Phi3Config=Config, Phi3ForCausalLM=Model)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
