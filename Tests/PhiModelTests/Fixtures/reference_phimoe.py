"""Lets reference_logits.py, which knows layers of two dimensions and Phi-3's names, compute Phi-3.5-MoE.

    reference_phimoe.py REFERENCE_LOGITS.py MODEL_DIR ...      # the rest as reference_logits.py

It gets the same tensors with each expert apart, and a model that puts them together again.
"""
import json
import os
import runpy
import struct
import sys
import tempfile
import types

import torch
from transformers import PhimoeConfig, PhimoeForCausalLM

MLX = {"gate_proj": "w1", "down_proj": "w2", "up_proj": "w3"}


def split(source, target):
    """Writes the checkpoint `source` with experts.N.w1, w2, w3 instead of stacks, as Hugging Face has them."""
    with open(os.path.join(source, "config.json")) as file:
        config = json.load(file)
    quantization = config.get("quantization", {})
    with open(os.path.join(source, "model.safetensors"), "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    parts, body = {}, b""

    def add(name, entry, shape, piece):
        nonlocal body
        parts[name] = {"dtype": entry["dtype"], "shape": shape, "data_offsets": [len(body), len(body) + len(piece)]}
        body += piece

    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        path, kind = name.rsplit(".", 1)
        if ".switch_mlp." not in name:
            add(name, entry, entry["shape"], data[begin:end])
            continue
        count, shape = entry["shape"][0], entry["shape"][1:]
        size = (end - begin) // count
        moe, _, layer = path.rpartition(".switch_mlp.")
        for number in range(count):
            expert = f"{moe}.experts.{number}.{MLX[layer]}"
            if path in quantization:
                quantization[expert] = quantization[path]
            add(f"{expert}.{kind}", entry, shape, data[begin + number * size:begin + (number + 1) * size])
    text = json.dumps(parts).encode()
    with open(os.path.join(target, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)
    with open(os.path.join(target, "config.json"), "w") as file:
        json.dump(config, file)


class Model(PhimoeForCausalLM):
    def __init__(self, config):
        super().__init__(config)
        # transformers 5 sets the frequencies of the length, and then uses the short ones all the same; Microsoft's own
        # code uses the long ones in sequences that are longer than the original context.
        rotary = self.model.rotary_emb
        if rotary.rope_type == "longrope":
            rotary.rope_init_fn = lambda config: (rotary.inv_freq, None)

    def load_state_dict(self, weights, strict):
        experts = range(self.config.num_local_experts)
        for number in range(self.config.num_hidden_layers):
            old, new = f"model.layers.{number}.block_sparse_moe.", f"model.layers.{number}.mlp."
            gate, down, up = (
                torch.stack([weights.pop(f"{old}experts.{e}.{w}.weight") for e in experts]) for w in ("w1", "w2", "w3"))
            weights[new + "experts.gate_up_proj"] = torch.cat([gate, up], 1)
            weights[new + "experts.down_proj"] = down
            weights[new + "router.weight"] = weights.pop(old + "gate.weight")
        return super().load_state_dict(weights, strict=strict)


tool, folder, *rest = sys.argv[1:]
with tempfile.TemporaryDirectory() as target:
    split(folder, target)
    sys.modules["transformers"] = types.SimpleNamespace(Phi3Config=PhimoeConfig, Phi3ForCausalLM=Model)
    sys.argv = [tool, target, *rest]
    runpy.run_path(tool, run_name="__main__")
