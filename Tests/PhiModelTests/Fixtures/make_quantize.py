"""Writes quantize.json, what mlx makes of single rows, and quantize_models.json, what mlx_lm.convert makes of the
models that the test QuantizeModelTests exports.

    pip install "mlx[cpu]" mlx-lm numpy
    PHIBATCH_EXPORT_QUANTIZE=FOLDER swift test --filter QuantizeModelTests
    python3 make_quantize.py FOLDER
"""

import base64
import fnmatch
import hashlib
import importlib
import json
import pathlib
import struct
import sys
import tempfile

import mlx.core as mx
import numpy as np

HERE = pathlib.Path(__file__).parent
TYPES = {"F16": mx.float16, "BF16": mx.bfloat16, "F32": mx.float32}
COLUMNS = 128


def content(array):
    return np.array(array.view(mx.uint8)).tobytes()


def text(array):
    return base64.b64encode(content(array)).decode()


def rows(random, bits):
    """Rows of all kinds; the last two have many values halfway between two codes."""
    values = random.normal(size=(8, COLUMNS)).astype(np.float32)
    values *= np.float32(10) ** random.integers(-9, 3, size=(8, 1)).astype(np.float32)
    values[0, :64] = 0
    values[0, 64:] = 5
    values[1] = -np.abs(values[1])
    values[2] = np.abs(values[2])
    values[3] = 1000 + 1e-3 * values[3]
    values[4] = 60000 * np.sign(values[4])
    values[5, :50] = 0
    top = (1 << bits) - 1
    for row in range(6, 8):
        half = np.rint(2 * top * random.random(COLUMNS)) / 2
        half[:: 32] = (0, top, 0, top)
        values[row] = (half - row % 3) * np.float32(0.25)
    return values


def groups():
    random = np.random.default_rng(7)
    cases = []
    for name, kind in TYPES.items():
        for bits in (2, 3, 4, 5, 6, 8):
            source = mx.array(rows(random, bits)).astype(kind)
            for group in (32, 64, 128):
                parts = mx.quantize(source, group_size=group, bits=bits)
                case = {"type": name, "bits": bits, "group": group, "columns": COLUMNS}
                # The rows are the same for all group sizes.
                case["source"] = text(source) if group == 32 else ""
                case["words"], case["scales"], case["biases"] = (text(part) for part in parts)
                cases.append(case)
    return cases


class NoTokenizer:
    def save_pretrained(self, folder):
        pass


class Bytes:
    """A limit in bytes where mlx-lm has whole gigabytes."""

    def __init__(self, count):
        self.count = count

    def __lshift__(self, bits):
        return self.count


def predicate(options):
    def parameters(bits, group):
        return {"group_size": group, "bits": bits, "mode": "affine"}

    def choose(path, module):
        for pattern, bits, group in reversed(options["rules"]):
            if fnmatch.fnmatchcase(path, pattern):
                return parameters(bits, group) if bits else False
        if options["embedding_bits"] and path.endswith("embed_tokens"):
            return parameters(options["embedding_bits"], options["group"])
        return True

    return choose


def convert(source, target, options):
    """mlx_lm's own, without the tokenizer that these folders have none of."""
    module, utils = importlib.import_module("mlx_lm.convert"), importlib.import_module("mlx_lm.utils")
    make_shards = utils.make_shards

    def load(path, **_):
        model, config = utils.load_model(pathlib.Path(path), lazy=True)
        return model, NoTokenizer(), config

    module.load = load
    utils.make_shards = lambda weights: make_shards(weights, Bytes(options["limit"]))
    try:
        module.convert(
            str(source), str(target), quantize=True, q_bits=options["bits"], q_group_size=options["group"],
            quant_predicate=predicate(options))
    finally:
        utils.make_shards = make_shards


def tensors(folder):
    found = {}
    for file in sorted(folder.glob("*.safetensors")):
        data = file.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + length])
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = entry["data_offsets"]
            digest = hashlib.sha256(data[8 + length + begin : 8 + length + end]).hexdigest()
            found[name] = [file.name, entry["dtype"], entry["shape"], digest]
    return dict(sorted(found.items()))


def models(folder):
    cases = []
    for source in sorted(path.parent for path in pathlib.Path(folder).glob("*/options.json")):
        options = json.loads((source / "options.json").read_text())
        with tempfile.TemporaryDirectory() as scratch:
            target = pathlib.Path(scratch) / "model"
            convert(source, target, options)
            config = json.loads((target / "config.json").read_text())
            index = json.loads((target / "model.safetensors.index.json").read_text())
            cases.append({"name": source.name, "config": config, "index": index, "tensors": tensors(target)})
    return cases


def write(name, cases):
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (HERE / name).write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    write("quantize.json", groups())
    if len(sys.argv) > 1:
        write("quantize_models.json", models(sys.argv[1]))
