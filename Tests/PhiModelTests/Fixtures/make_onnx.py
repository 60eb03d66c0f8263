"""Writes onnx.json: a tiny Phi-3 in ONNX with the names of onnxruntime-genai's builder, and the values that
onnxruntime's MatMulNBits gives for its matrices.

    pip install numpy onnx onnxruntime
    python3 make_onnx.py
"""

import json
import os
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HIDDEN, WIDE, VOCABULARY = 64, 32, 40
random = np.random.default_rng(34)
nodes, tensors, expected = [], [], {}


def values_of(node, initializers, rows, columns):
    """What the node makes of the unit matrix: the weights."""
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info(node.input[0], TensorProto.FLOAT, [columns, columns])],
        [helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, [columns, rows])],
        initializers,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {node.input[0]: np.eye(columns, dtype=np.float32)})[0].T


def add(path, rows, columns, bits, block, asymmetric=False):
    blocks = columns // block
    weight = random.integers(0, 256, (rows, blocks, block * bits // 8), dtype=np.uint8)
    # Products of few bits, so that all values are exact in half precision.
    scales = (random.integers(1, 8, rows * blocks) / 1024).astype(np.float32)
    inputs = [f"{path}.MatMul.weight_Q{bits}G{block}", f"{path}.MatMul.weight_scale"]
    own = [numpy_helper.from_array(weight, inputs[0]), numpy_helper.from_array(scales, inputs[1])]
    if asymmetric:
        inputs.append(f"{path}.MatMul.weight_zp")
        zeros = random.integers(0, 256, rows * ((blocks * bits + 7) // 8), dtype=np.uint8)
        own.append(numpy_helper.from_array(zeros, inputs[2]))
    name = "/" + path.replace(".", "/")
    node = helper.make_node(
        "MatMulNBits",
        [f"{name}/input", *inputs],
        [f"{name}/MatMul_Q{bits}/output_0"],
        name=f"{name}/MatMul_Q{bits}",
        domain="com.microsoft",
        K=columns,
        N=rows,
        bits=bits,
        block_size=block,
    )
    nodes.append(node)
    tensors.extend(own)
    expected[path] = values_of(node, own, rows, columns)


def add_float(name, array):
    tensors.append(numpy_helper.from_array(array.astype(np.float32), name))


add_float("model.embed_tokens.weight", random.normal(size=(VOCABULARY, HIDDEN)))
add_float("cos_cache", np.zeros((4, 16)))
tensors.append(numpy_helper.from_array(np.array([1, 2], np.int64), "/model/constants/INT64/1D/1"))
layer = "model.layers.0"
add_float(f"{layer}.input_layernorm.weight", np.ones(HIDDEN))
for part in "qkv":
    add(f"{layer}.attn.{part}_proj", HIDDEN, HIDDEN, 4, 32, asymmetric=part != "k")
add(f"{layer}.attn.o_proj", HIDDEN, HIDDEN, 8, 32, asymmetric=True)
add_float(f"{layer}.post_attention_layernorm.weight", np.ones(HIDDEN))
for part in ["gate", "up"]:
    add(f"{layer}.mlp.{part}_proj", WIDE, HIDDEN, 4, 64)
add(f"{layer}.mlp.down_proj", HIDDEN, WIDE, 4, 16, asymmetric=True)
add_float("model.layers.1.final_norm_layernorm.weight", np.full(HIDDEN, 2))
add("lm_head", VOCABULARY, HIDDEN, 8, 64)

graph = helper.make_graph(nodes, "main", [], [], tensors)
model = helper.make_model(graph, ir_version=8)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.onnx")
    onnx.save_model(
        model, path, save_as_external_data=True, location="model.onnx.data", size_threshold=512
    )
    files = {name: open(os.path.join(folder, name), "rb").read().hex() for name in sorted(os.listdir(folder))}
layers = {}
for name, values in expected.items():
    half = values.astype(np.float16)
    assert (half.astype(np.float32) == values).all(), name
    layers[name] = {"rows": len(values), "hex": half.tobytes().hex()}
place = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx.json")
with open(place, "w") as file:
    json.dump({"files": files, "layers": layers}, file, separators=(",", ":"))
    file.write("\n")
