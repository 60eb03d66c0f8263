"""Writes k_blocks.json: blocks of GGUF's types and what the Python package gguf makes of them.

    pip install gguf numpy
    python3 make_k_blocks.py
"""

import json
import os

import gguf
import numpy

SIZES = {
    "Q4_K": 144,
    "Q5_K": 176,
    "Q6_K": 210,
}
# Where each type keeps its half-precision factors.
FACTORS = {
    "Q4_K": [0, 2],
    "Q5_K": [0, 2],
    "Q6_K": [208],
}

random = numpy.random.default_rng(20)
cases = []
for name, size in SIZES.items():
    for number in range(3):
        block = random.integers(0, 256, size, dtype=numpy.uint8)
        for place in FACTORS[name]:
            block[place : place + 2] = numpy.array([random.normal() / 64], dtype=numpy.float16).view(numpy.uint8)
        if name == "Q6_K" and number == 2:
            block[193:208:2] = block[192:208:2]
        values = gguf.quants.dequantize(block.reshape(1, -1), gguf.GGMLQuantizationType[name])
        cases.append(
            {
                "type": name,
                "block": block.tobytes().hex(),
                "values": [int(bits) for bits in values.astype(numpy.float32).view(numpy.uint32).ravel()],
            }
        )
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "k_blocks.json")
with open(path, "w") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")
