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
    "Q2_K": 84,
    "Q3_K": 110,
    "IQ4_NL": 18,
    "IQ4_XS": 136,
    "TQ1_0": 54,
    "TQ2_0": 66,
    "MXFP4": 17,
    "IQ1_S": 50,
    "IQ1_M": 56,
    "IQ2_XXS": 66,
    "IQ2_XS": 74,
    "IQ2_S": 82,
    "IQ3_XXS": 98,
    "IQ3_S": 110,
}
# Where each type keeps its half-precision factors.
FACTORS = {
    "Q4_K": [0, 2],
    "Q5_K": [0, 2],
    "Q6_K": [208],
    "Q2_K": [80, 82],
    "Q3_K": [108],
    "IQ4_NL": [0],
    "IQ4_XS": [0],
    "TQ1_0": [52],
    "TQ2_0": [64],
    "MXFP4": [],
    "IQ1_S": [0],
    "IQ1_M": [],
    "IQ2_XXS": [0],
    "IQ2_XS": [0],
    "IQ2_S": [0],
    "IQ3_XXS": [0],
    "IQ3_S": [0],
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
        if name == "Q2_K" and number == 2:
            block[1:16:2] = block[0:16:2]
        if name in ("IQ2_XS", "IQ2_S") and number == 2:
            # Two scales in a byte.
            block[-8:] = block[-8:] % 16 * 17
        if name == "IQ1_M":
            # A number of half precision in the high bits of four words.
            bits = int(numpy.array(random.normal() / 64, dtype=numpy.float16).view(numpy.uint16))
            for place in range(4):
                block[49 + 2 * place] = block[49 + 2 * place] & 0xF | bits >> 4 * place << 4 & 0xF0
        if name == "MXFP4":
            # The powers of two near both ends, and one in the middle.
            block[0] = [1, 120, 250][number]
        if name == "TQ1_0":
            # Each byte holds five digits to base 3, or four.
            digits = random.integers(0, 243, 52)
            digits[48:] = digits[48:] // 3 * 3
            block[:52] = (digits * 256 + 242) // 243
        if name == "TQ2_0":
            # A code of 3 stands for nothing.
            digits = random.integers(0, 3, (64, 4))
            block[:64] = digits @ [1, 4, 16, 64]
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
