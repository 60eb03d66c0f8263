"""Writes published.json: matrices as other programs publish them, and the values that those give.

    pip install numpy torch compressed-tensors
    python3 make_published.py

AWQ and GPTQ are packed and computed here as AutoAWQ and GPTQModel do; the others by their own libraries.
"""

import json
import os

import numpy as np
import torch
from compressed_tensors.compressors.pack_quantized.helpers import pack_to_int32

ROWS, COLUMNS = 16, 128
random = np.random.default_rng(33)
torch.manual_seed(33)
cases = []

TYPES = {
    np.dtype("int32"): "I32",
    np.dtype("int64"): "I64",
    np.dtype("int8"): "I8",
    np.dtype("uint8"): "U8",
    np.dtype("uint32"): "U32",
    np.dtype("float16"): "F16",
    np.dtype("float32"): "F32",
}


def tensor(array):
    if isinstance(array, torch.Tensor):
        if array.dtype == torch.bfloat16:
            return {"type": "BF16", "shape": list(array.shape), "hex": array.view(torch.int16).numpy().tobytes().hex()}
        array = array.detach().numpy()
    array = np.ascontiguousarray(array)
    return {"type": TYPES[array.dtype], "shape": list(array.shape), "hex": array.tobytes().hex()}


def add(name, config, tensors, values, bits, key="quantization_config"):
    """bits: of a code once it is converted; 8 also where values are quantized anew, which `values` then is not."""
    cases.append(
        {
            "name": name,
            "config": {key: config},
            "tensors": {end: tensor(array) for end, array in tensors.items()},
            "values": tensor(values),
            "bits": bits,
        }
    )


def words(codes, bits, order=None):
    """Codes [..., n] in I32 words, first one lowest; `order` says which code has each place of a word."""
    per = 32 // bits
    parts = codes.reshape(*codes.shape[:-1], -1, per).astype(np.uint32)
    if order:
        parts = parts[..., order]
    packed = np.zeros(parts.shape[:-1], np.uint32)
    for place in range(per):
        packed |= parts[..., place] << np.uint32(bits * place)
    return packed.view(np.int32)


def integers(bits, groups, symmetric=False):
    codes = random.integers(0, 2**bits, (ROWS, COLUMNS))
    zeros = np.full((ROWS, groups), 2 ** (bits - 1))
    if not symmetric:
        zeros = random.integers(1, 2**bits, (ROWS, groups))
    scales = (random.normal(size=(ROWS, groups)) / 2 ** (bits + 3)).astype(np.float16)
    return codes, zeros, scales


def values(codes, zeros, scales, group_of):
    return (codes - zeros[:, group_of]).astype(scales.dtype) * scales[:, group_of]


# AWQ: rows of a word in the order 0 2 4 6 1 3 5 7.
for group in [32, 64]:
    codes, zeros, scales = integers(4, COLUMNS // group)
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    add(
        f"AWQ, groups of {group}",
        {"quant_method": "awq", "bits": 4, "group_size": group, "version": "gemm", "zero_point": True},
        {
            ".qweight": words(codes.T, 4, order),
            ".qzeros": words(zeros.T, 4, order),
            ".scales": scales.T,
        },
        values(codes, zeros, scales, np.arange(COLUMNS) // group),
        4,
    )


def gptq(name, bits, group, form, symmetric, order=None):
    groups = COLUMNS // group
    codes, zeros, scales = integers(bits, groups, symmetric)
    if form == "gptq" and not symmetric:
        # The first version's borrow from the next zero.
        zeros[2, 0] = 0
    packed = words(zeros.T, bits).view(np.uint32)
    if form == "gptq":
        ones = np.uint32(sum(1 << bits * place for place in range(32 // bits)))
        packed = packed - ones
    group_of = np.arange(COLUMNS) // group if order is None else order
    add(
        name,
        {"quant_method": "gptq", "bits": bits, "group_size": group, "checkpoint_format": form, "sym": symmetric},
        {
            ".qweight": np.ascontiguousarray(words(codes, bits).T),
            ".qzeros": packed.view(np.int32),
            ".scales": scales.T,
            ".g_idx": np.asarray(group_of, np.int32),
        },
        values(codes, zeros, scales, group_of),
        8 if order is not None else bits,
    )


gptq("GPTQ, 4 bits", 4, 32, "gptq", False)
gptq("GPTQ, 4 bits, symmetric", 4, 64, "gptq", True)
gptq("GPTQ, 4 bits, version 2", 4, 32, "gptq_v2", False)
gptq("GPTQ, 8 bits", 8, 32, "gptq", False)
gptq("GPTQ, 8 bits, symmetric, version 2, by rows", 8, COLUMNS, "gptq_v2", True)
gptq("GPTQ, 2 bits", 2, 64, "gptq", False)
gptq("GPTQ, 4 bits, columns in another order", 4, 32, "gptq", False, random.permutation(COLUMNS) // 32)


def compressed(name, bits, groups, zeros=None, kind=torch.bfloat16, plain=False, order=None, shape=None):
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1)
    codes = torch.from_numpy(random.integers(low, high, (ROWS, COLUMNS)).astype(np.int8))
    scales = (torch.randn(ROWS, groups) / 2 ** (bits + 3)).to(kind)
    if shape:
        scales = scales[:1, :1].reshape(shape)
    form = "int-quantized" if plain else "pack-quantized"
    tensors = {".weight_scale": scales}
    if plain:
        tensors[".weight"] = codes
    else:
        tensors[".weight_packed"] = pack_to_int32(codes, bits)
        tensors[".weight_shape"] = np.array([ROWS, COLUMNS])
    points = torch.zeros(ROWS, groups, dtype=torch.int8)
    if zeros:
        points = torch.from_numpy(random.integers(low, high, (ROWS, groups)).astype(np.int8))
        packed = pack_to_int32(points, bits, packed_dim=0) if zeros == "packed" else points
        tensors[".weight_zero_point"] = packed.contiguous()
    group_of = np.arange(COLUMNS) // (COLUMNS // groups)
    if order is not None:
        group_of = order
        tensors[".weight_g_idx"] = np.asarray(order, np.int32)
    scales = scales.reshape(1, 1).expand(ROWS, 1) if shape else scales
    result = (codes.to(kind) - points[:, group_of].to(kind)) * scales[:, group_of]
    weights = {"num_bits": bits, "type": "int", "strategy": "group", "group_size": COLUMNS // groups}
    add(
        name,
        {
            "quant_method": "compressed-tensors",
            "format": form,
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": None}},
        },
        tensors,
        result,
        8 if order is not None else bits,
    )


compressed("compressed-tensors, W4A16", 4, 4)
compressed("compressed-tensors, W4A16, asymmetric", 4, 2, zeros="packed")
compressed("compressed-tensors, W4A16, F16", 4, 4, kind=torch.float16, zeros="packed")
compressed("compressed-tensors, W4A16, columns in another order", 4, 4, order=random.permutation(COLUMNS) // 32)
compressed("compressed-tensors, W8A16, by rows", 8, 1)
compressed("compressed-tensors, W8A16, asymmetric, F32", 8, 4, zeros="packed", kind=torch.float32)
compressed("compressed-tensors, W8, not packed", 8, 1, plain=True)
compressed("compressed-tensors, W8, not packed, asymmetric", 8, 1, zeros="plain", plain=True)
compressed("compressed-tensors, W8, one scale", 8, 1, plain=True, shape=[1])

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "published.json")
with open(path, "w") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")
