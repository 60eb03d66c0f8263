"""Logits of a Phi-4-mini-flash-reasoning (SambaY) checkpoint in float32, for make_logits.sh.

    reference_phi4flash.py MODEL_DIR --ids-file PROMPTS.jsonl --greedy N

transformers has no such model, so this is one written from the papers' formulas: SambaY and its gated memory units
(arXiv 2507.06607), Mamba's selective scan (arXiv 2312.00752), differential attention (arXiv 2410.05258). Each position
is computed by itself, in order, as the formulas say it. Prints what reference_logits.py prints.
Needs: pip install torch numpy
"""
import argparse
import json
import math
import os
import struct

import numpy as np
import torch
import torch.nn.functional as F


def tensors(folder, quantization):
    """All tensors in float32, with MLX's quantized ones expanded: scale * q + bias, lowest bits first."""
    raw = {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".safetensors"):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            data = file.read()
        header.pop("__metadata__", None)
        for key, entry in header.items():
            begin, end = entry["data_offsets"]
            piece = np.frombuffer(data[begin:end], np.uint8)
            if entry["dtype"] == "BF16":
                values = (piece.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
            else:
                values = piece.view({"F16": np.float16, "F32": np.float32, "U32": np.uint32}[entry["dtype"]])
            raw[key] = values.reshape(entry["shape"])
    made = {}
    for key, values in raw.items():
        path, _, end = key.rpartition(".")
        if path + ".scales" in raw and end in ("scales", "biases"):
            continue
        if path + ".scales" in raw and end == "weight":
            parameters = {**quantization, **(quantization.get(path) or {})}
            bits, group = parameters["bits"], parameters["group_size"]
            stream = np.unpackbits(np.ascontiguousarray(values).view(np.uint8), axis=1, bitorder="little")
            codes = stream.reshape(values.shape[0], -1, bits) @ (1 << np.arange(bits))
            scales, biases = (np.repeat(raw[f"{path}.{e}"].astype(np.float32), group, 1) for e in ("scales", "biases"))
            values = codes.astype(np.float32) * scales + biases
        made[key] = torch.from_numpy(np.array(values, np.float32))
    return made


class SambaY:
    def __init__(self, folder):
        with open(os.path.join(folder, "config.json")) as file:
            self.config = config = json.load(file)
        self.w = tensors(folder, config.get("quantization", {}))
        self.layers, self.width = config["num_hidden_layers"], config["hidden_size"]
        self.heads, self.groups = config["num_attention_heads"], config["num_key_value_heads"]
        self.n = self.width // self.heads
        self.states = config["mamba_d_state"]

    def linear(self, x, path):
        return F.linear(x, self.w[path + ".weight"], self.w.get(path + ".bias"))

    def norm(self, x, path):
        return F.layer_norm(x, (self.width,), self.w[path + ".weight"], self.w[path + ".bias"],
                            self.config["layer_norm_eps"])

    def mamba(self, x, path):
        """What a Mamba layer adds, and the scan's results before they are gated."""
        u, z = self.linear(x, path + "in_proj").chunk(2, 1)
        kernel = self.w[path + "conv1d.weight"][:, 0]
        length = kernel.shape[1]
        padded = torch.cat([torch.zeros(length - 1, u.shape[1]), u])
        u = F.silu(torch.stack([(padded[t:t + length].T * kernel).sum(1) for t in range(len(u))])
                   + self.w[path + "conv1d.bias"])
        rank = self.w[path + "dt_proj.weight"].shape[1]
        low, inputs, outputs = F.linear(u, self.w[path + "x_proj.weight"]).split([rank, self.states, self.states], 1)
        steps = F.softplus(self.linear(low, path + "dt_proj"))
        rates = -torch.exp(self.w[path + "A_log"])
        state = torch.zeros_like(rates)
        made = []
        for step, value, b, c in zip(steps, u, inputs, outputs):
            state = torch.exp(step[:, None] * rates) * state + (step * value)[:, None] * b
            made.append(state @ c + self.w[path + "D"] * value)
        made = torch.stack(made)
        return self.linear(made * F.silu(z), path + "out_proj"), made

    def attention(self, q, keys, values, number, path):
        """Of q [positions][heads * n]; pairs of heads differ, and each has the values of both."""
        count = len(q)
        window = self.config["sliding_window"] if number < self.layers // 2 else count
        distance = torch.arange(count)[:, None] - torch.arange(count)
        hidden = (distance < 0) | (distance >= window)
        q, keys, values = (x.reshape(count, -1, 2, self.n) for x in (q, keys, values))
        inner = path + "inner_cross_attn."
        first = 0.8 - 0.6 * math.exp(-0.3 * number)
        weight = {i: torch.exp((self.w[f"{inner}lambda_q{i}"] * self.w[f"{inner}lambda_k{i}"]).sum()) for i in "12"}
        factor = weight["1"] - weight["2"] + first
        results = []
        for pair in range(self.heads // 2):
            group = pair * self.groups // self.heads
            both = values[:, group].reshape(count, 2 * self.n)
            one, two = (
                (q[:, pair, side] @ keys[:, group, side].T / math.sqrt(self.n)).masked_fill(hidden, -math.inf)
                .softmax(1) @ both for side in (0, 1))
            x = one - factor * two
            x = x / torch.sqrt((x * x).mean(1, keepdim=True) + 1e-5) * self.w[inner + "subln.weight"]
            results.append(x * (1 - first))
        return self.linear(torch.cat(results, 1), path + "out_proj")

    def logits(self, ids):
        """After the last of the tokens."""
        x = self.w["model.embed_tokens.weight"][ids]
        memory = keys = values = None
        for number in range(self.layers):
            path = f"model.layers.{number}."
            mixer, is_shared = path + "attn.", number >= self.layers // 2 + 2
            n = self.norm(x, path + "input_layernorm")
            if number % 2 == 0 and is_shared:
                x = x + self.linear(memory * F.silu(self.linear(n, mixer + "in_proj")), mixer + "out_proj")
            elif number % 2 == 0:
                added, memory = self.mamba(n, mixer)
                x = x + added
            else:
                q = self.linear(n, mixer + "Wqkv")
                if not is_shared:
                    size = self.groups * self.n
                    q, keys, values = q.split([self.heads * self.n, size, size], 1)
                x = x + self.attention(q, keys, values, number, mixer)
            gate, up = self.linear(self.norm(x, path + "post_attention_layernorm"), path + "mlp.fc1").chunk(2, 1)
            x = x + self.linear(F.silu(gate) * up, path + "mlp.fc2")
        head = "model.embed_tokens" if self.config["tie_word_embeddings"] else "lm_head"
        return self.linear(self.norm(x[-1:], "model.final_layernorm"), head)[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--ids-file", required=True)
    parser.add_argument("--greedy", type=int, default=0)
    arguments = parser.parse_args()
    model = SambaY(arguments.model)
    with open(arguments.ids_file) as file, torch.no_grad():
        for ids in map(json.loads, file):
            last = model.logits(ids)
            found = {"ids": list(ids), "logits": last.tolist(), "greedy": [], "gaps": []}
            for _ in range(arguments.greedy):
                best = last.topk(2)
                found["greedy"].append(int(best.indices[0]))
                found["gaps"].append(float(best.values[0] - best.values[1]))
                ids = ids + [int(best.indices[0])]
                last = model.logits(ids)
            print(json.dumps(found), flush=True)


main()
