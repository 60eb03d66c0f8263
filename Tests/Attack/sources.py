"""Damaged adapters, and damaged models that are to be quantized: each is refused with a message that says what is
wrong, and nothing is written."""
import json
import os
import random
import shutil
import struct

from harness import case, expect

PREFIX = "base_model.model.model.layers.0.self_attn.o_proj.lora_"
WIDTH, RANK = 576, 2


def pack(header, data):
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return struct.pack("<Q", len(text)) + text + data


def damaged(good, header, data):
    """What may have become of a safetensors file, by name."""
    name = sorted(header)[0]

    def changed(**members):
        return pack({**header, name: {**header[name], **members}}, data)

    yield "empty", b""
    yield "a header of 2 to the 63", struct.pack("<Q", 1 << 63) + good[8:]
    yield "a header beyond the file", struct.pack("<Q", len(good)) + good[8:]
    yield "no JSON", pack(b"{" * 50, data)
    yield "nested lists", pack(b'{"a":' + b"[" * 100_000, data)
    for cut in (7, 8, 40, len(good) // 2, len(good) - 1):
        yield f"cut at {cut}", good[:cut]
    yield "a negative offset", changed(data_offsets=[-4, 8])
    yield "offsets turned round", changed(data_offsets=[8, 0])
    yield "offsets far away", changed(data_offsets=[0, 1 << 62])
    yield "a shape too large", changed(shape=[1 << 40, 1 << 40])
    yield "another shape", changed(shape=[1, 1])
    yield "no shape", changed(shape=[])
    yield "a type of other size", changed(dtype="F64")
    yield "an unknown type", changed(dtype="F8_E4M3")
    yield "NaN", pack(header, data[:4] + struct.pack("<f", float("nan")) + data[8:])
    yield "infinity", pack(header, data[:-4] + struct.pack("<f", float("inf")))


@case("sources/adapters", quick=True)
def adapters(bench):
    half = 4 * RANK * WIDTH
    header = {PREFIX + "A.weight": {"dtype": "F32", "shape": [RANK, WIDTH], "data_offsets": [0, half]},
              PREFIX + "B.weight": {"dtype": "F32", "shape": [WIDTH, RANK], "data_offsets": [half, 2 * half]}}
    data = struct.pack(f"<{half // 2}f", *(random.Random(1).uniform(-0.01, 0.01) for _ in range(half // 2)))
    config = {"peft_type": "LORA", "r": RANK, "lora_alpha": 4}
    good = pack(header, data)

    def attempt(what, weights, settings, code):
        folder = bench.subfolder("adapter")
        bench.small.write(folder)
        os.mkdir(os.path.join(folder, "a"))
        with open(os.path.join(folder, "a", "adapter_model.safetensors"), "wb") as file:
            file.write(weights)
        with open(os.path.join(folder, "a", "adapter_config.json"), "wb") as file:
            file.write(settings if isinstance(settings, bytes) else json.dumps(settings).encode())
        before = set(os.listdir(folder))
        run = bench.run(bench.command(bench.small.settings + ["--adapter", "a"]), folder, what=what)
        run.must_end_with(code, what=what)
        if code:
            left = {name for name in os.listdir(folder) if not name.startswith("out.jsonl")}
            expect(left == before and "out.jsonl" not in os.listdir(folder), f"{what}: left {os.listdir(folder)}")
            expect(b"a/adapter" in run.err, lambda: f"{what}: the message names no file: {run}")
        shutil.rmtree(folder)

    attempt("a good adapter", good, config, 0)
    for what, weights in damaged(good, header, data):
        attempt(f"weights: {what}", weights, config, 69)
    for what, settings in [
            ("empty", b""), ("a list", b"[]"), ("no rank", {**config, "r": None}), ("rank 0", {**config, "r": 0}),
            ("a huge rank", {**config, "r": 1 << 40}), ("another rank", {**config, "r": 3}),
            ("alpha of text", {**config, "lora_alpha": "x"}), ("alpha 1e300", {**config, "lora_alpha": 1e300}),
            ("DoRA", {**config, "use_dora": True}), ("escapes", {**config, "bias": "\x1b[2J\u202e"})]:
        attempt(f"configuration: {what}", good, settings, 69)


@case("sources/quantize", quick=True)
def quantize(bench):
    hidden, inner, vocabulary = 64, 128, 50
    shapes = {"model.embed_tokens.weight": [vocabulary, hidden], "lm_head.weight": [vocabulary, hidden],
              "model.norm.weight": [hidden]}
    for name, shape in [("input_layernorm", [hidden]), ("self_attn.qkv_proj", [3 * hidden, hidden]),
                        ("self_attn.o_proj", [hidden, hidden]), ("post_attention_layernorm", [hidden]),
                        ("mlp.gate_up_proj", [2 * inner, hidden]), ("mlp.down_proj", [hidden, inner])]:
        shapes[f"model.layers.0.{name}.weight"] = shape
    header, end, draw = {}, 0, random.Random(2)
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + 4 * count]}
        end += 4 * count
    data = struct.pack(f"<{end // 4}f", *(draw.uniform(-0.2, 0.2) for _ in range(end // 4)))
    config = {"model_type": "phi3", "hidden_act": "silu", "hidden_size": hidden, "num_hidden_layers": 1,
              "num_attention_heads": 4, "intermediate_size": inner, "vocab_size": vocabulary, "rms_norm_eps": 1e-5,
              "max_position_embeddings": 128, "eos_token_id": 2}
    good = pack(header, data)

    def attempt(what, weights, code):
        folder = bench.subfolder("quantize")
        os.mkdir(os.path.join(folder, "m"))
        with open(os.path.join(folder, "m", "config.json"), "w") as file:
            json.dump(config, file)
        with open(os.path.join(folder, "m", "model.safetensors"), "wb") as file:
            file.write(weights)
        run = bench.run(["quantize", "m", "out"], folder, what=what)
        run.must_end_with(code, what=what)
        if code:
            out = os.path.join(folder, "out")
            left = os.listdir(out) if os.path.isdir(out) else []
            expect("config.json" not in left and "model.safetensors" not in left, f"{what}: left {left}")
        shutil.rmtree(folder)

    attempt("a good source", good, 0)
    for what, weights in damaged(good, header, data):
        attempt(what, weights, 69)
