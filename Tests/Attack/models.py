"""Hostile model folders: each is refused with a message that says what is wrong, and nothing is written; none
crashes, hangs, or gives texts."""
import concurrent.futures
import json
import os
import shutil
import struct

from harness import Failure, case, expect, results, rows
from modelmaker import Maker

NAN, INFINITE = float("nan"), float("inf")
SETTINGS = ["--max-tokens", "2", "--threads", "1"]
LINES = '{"id":"a","prompt":"Hi"}\n{"id":"b","prompt":"Ho","temperature":0.8}\n'


def maker(bench):
    return bench.suite.once("maker", lambda: Maker(bench.suite.model, os.path.join(bench.suite.folder, "model")))


class Trial:
    """A changed model folder and a job on it."""
    def __init__(self, bench, model="model"):
        self.bench = bench
        self.folder = bench.subfolder("trial")
        with open(os.path.join(self.folder, "in.jsonl"), "w") as file:
            file.write(LINES)
        self.name = model
        self.model = maker(bench).make(os.path.join(self.folder, model))

    def run(self, more=(), model=None, seconds=60, **streams):
        streams.setdefault("environment", {"PHIBATCH_CACHE": "off"})
        command = self.bench.command(SETTINGS + list(more), model=model or self.name)
        return self.bench.run(command, self.folder, seconds=seconds, **streams)


def texts(folder):
    """What a run answered. (Its results also name the model, which may differ in what doesn't matter.)"""
    return [(row["id"], row.get("text")) for row in rows(folder)]


def good(bench):
    """What the unchanged model answers."""
    def make():
        trial = Trial(bench)
        trial.run().must_end_with(0, what="the unchanged model")
        return texts(trial.folder)
    return bench.suite.once("good model", make)


def attack(bench, what, change, codes=(69,), says=None, **more):
    """One change of the folder. codes: with 0 among them, the results must be those of the unchanged model."""
    trial = Trial(bench)
    before = set(os.listdir(trial.folder))
    change(trial.model)
    try:
        run = trial.run(**more)
    except Failure as failure:
        raise Failure(f"{what}: {failure}") from None
    run.must_end_with(*codes, what=what)
    if run.code == 0:
        expect(texts(trial.folder) == good(bench), f"{what}: accepted, with other texts")
    elif run.code == 69:
        expect(set(os.listdir(trial.folder)) == before, lambda: f"{what}: left {os.listdir(trial.folder)}")
    if says and run.code:
        expect(says.encode() in run.err, lambda: f"{what}: the message doesn't name {says}: {run}")
    trial.model = None
    shutil.rmtree(trial.folder)


def all_of(bench, trials, quick=3):
    """Tries all, and fails with what the first few say."""
    good(bench)
    trials = trials[:quick] if bench.quick else trials
    with concurrent.futures.ThreadPoolExecutor(bench.suite.cores) as pool:
        futures = [pool.submit(attack, bench, *trial[:2], **(trial[2] if len(trial) > 2 else {})) for trial in trials]
    wrong = [future.exception() for future in futures if future.exception()]
    for error in wrong:
        if not isinstance(error, Failure):
            raise error
    if wrong:
        raise Failure(f"{len(wrong)} of {len(trials)}: " + "; ".join(map(str, wrong[:4])))


# MARK: Numbers that are none

@case("models/not-finite", quick=True)
def not_finite(bench):
    places = [("model.layers.1.self_attn.qkv_proj.scales", -1, NAN), ("model.embed_tokens.scales", -1, INFINITE),
              ("model.layers.0.input_layernorm.weight", 575, NAN), ("model.norm.weight", 0, INFINITE),
              ("model.layers.1.mlp.down_proj.biases", 777, -INFINITE), ("model.embed_tokens.biases", 400_000, NAN),
              ("model.layers.1.post_attention_layernorm.weight", 300, -INFINITE),
              ("model.layers.0.mlp.gate_up_proj.scales", 5000, -INFINITE),
              ("model.layers.0.self_attn.o_proj.biases", 0, NAN)]
    trials = [(f"{number} in {name}", lambda model, place=(name, index, number): model.value(*place), {"says": name})
              for name, index, number in places]

    def plain(model, number):
        # A matrix that is not quantized.
        name = "model.layers.1.self_attn.o_proj"
        values = [0.01] * (576 * 576)
        values[1000] = number

        def change(tensors):
            for part in (".scales", ".biases", ".weight"):
                del tensors[name + part]
            tensors[name + ".weight"] = ("F16", [576, 576], struct.pack(f"<{len(values)}e", *values))
        model.weights(change)
        model.config(**{key: {**model.maker.config[key], name: False}
                        for key in ("quantization", "quantization_config")})
    trials += [(f"{number} in a plain matrix", lambda model, number=number: plain(model, number),
                {"says": "model.layers.1.self_attn.o_proj"}) for number in (NAN, INFINITE)]
    all_of(bench, trials)


@case("models/overflow")
def overflow(bench):
    """Finite weights whose logits are not: an error of the line, never a text."""
    def huge(model):
        def change(tensors):
            dtype, shape, data = tensors["model.norm.weight"]
            tensors["model.norm.weight"] = (dtype, shape, struct.pack("<f", 3e38) * (len(data) // 4))
        model.weights(change)
    trial = Trial(bench)
    huge(trial.model)
    run = trial.run(["--max-failures", "100%"])
    run.must_end_with(0, 69, what="logits that overflow")
    if run.code == 0:
        for row in rows(trial.folder):
            expect("error" in row and "text" not in row, f"a result from logits that are not finite: {row}")


@case("models/mended", quick=True)
def mended(bench):
    """After a damaged model is mended, the same command completes: the damage left nothing behind."""
    trial = Trial(bench)
    weights = trial.model.file("model.safetensors")
    times = os.stat(weights)
    cache = {"PHIBATCH_CACHE": bench.subfolder("cache")}
    trial.model.value("model.layers.1.self_attn.qkv_proj.scales", -1, NAN)
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
    run = trial.run(environment=cache)
    expect(run.code != 0, f"a scale that is not a number gives {results(trial.folder)}")
    trial.model.put("model.safetensors", open(maker(bench).weights, "rb").read())
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
    trial.run(environment=cache).must_end_with(0, what="the mended model")
    expect(texts(trial.folder) == good(bench), "the mended model's texts differ")


@case("models/one-byte", quick=True)
def one_byte(bench):
    """A finished or stopped job is not gone on with if one byte of the model is another one."""
    trial = Trial(bench)
    cache = {"PHIBATCH_CACHE": bench.subfolder("cache")}
    trial.run(environment=cache).must_end_with(0)
    before = results(trial.folder)
    weights = trial.model.file("model.safetensors")
    times, size = os.stat(weights), os.path.getsize(weights)
    places = [size * part // 23 + 12_345 * part for part in range(1, 23)]
    missed = []
    for place in places[:4] if bench.quick else places:
        def flip():
            with open(weights, "r+b") as file:
                file.seek(place)
                byte = file.read(1)[0]
                file.seek(place)
                file.write(bytes([byte ^ 1]))
            os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
        flip()
        run = trial.run(environment=cache)
        if run.code == 0:
            missed.append(place)
        else:
            run.must_end_with(65, what=f"byte {place}")
        expect(results(trial.folder) == before, f"byte {place}: the output is changed")
        flip()
    expect(not missed, lambda: f"{len(missed)} changed bytes are not noticed, of {size} e.g. byte {missed[0]}")
    trial.run(environment=cache).must_end_with(0, what="the model as it was")


# MARK: The weights' file

@case("models/truncated")
def truncated(bench):
    size = os.path.getsize(maker(bench).weights)
    sizes = [0, 1, 7, 8, 9, 100, 4000, 5000, 1 << 20, size // 2, size - 4096, size - 1]
    all_of(bench, [(f"cut to {count} bytes", lambda model, count=count: model.cut(count),
                    {"says": "model.safetensors"}) for count in sizes])


@case("models/header", quick=True)
def header(bench):
    def length(count):
        def change(model):
            with open(model.file("model.safetensors"), "r+b") as file:
                file.write(struct.pack("<Q", count))
        return change

    def entry(name, **changes):
        def change(header):
            header[name].update(changes)
        return lambda model: model.header(change)
    norm, scales = "model.norm.weight", "model.layers.0.self_attn.qkv_proj.scales"
    whole = json.dumps
    trials = [(f"a header of {count} bytes", length(count)) for count in
              (0, 1, 2, 100, 1 << 31, 1 << 32, 1 << 62, 1 << 63, (1 << 64) - 1, 100_000_001)]
    trials += [(f"header {text[:20]}", lambda model, text=text: model.header(lambda _: text)) for text in
               (b"{", b"[]", b"null", b"\xff\xfe", b"{}" + b"\0" * 50, b'{"a":' * 5000, b'{"model.norm.weight":[]}')]
    trials += [(f"{name} {changes}", entry(name, **changes)) for name, changes in (
        (norm, {"dtype": "F8"}), (norm, {"dtype": 5}), (norm, {"dtype": "F16"}), (norm, {"shape": [-576]}),
        (norm, {"shape": [575]}), (norm, {"shape": [1 << 62, 4]}), (norm, {"shape": [1 << 63]}), (norm, {"shape": []}),
        (norm, {"shape": [576.5]}), (norm, {"shape": "576"}), (norm, {"shape": [1] * 10_000}), (norm, {"shape": None}),
        (norm, {"data_offsets": [-1, 2303]}), (norm, {"data_offsets": [2304, 0]}), (norm, {"data_offsets": [0]}),
        (norm, {"data_offsets": [1 << 60, (1 << 60) + 2304]}), (norm, {"data_offsets": [0, 1 << 64]}),
        (norm, {"data_offsets": [0, 2304]}), (norm, {"data_offsets": None}), (scales, {"shape": [18, 960]}),
        (scales, {"shape": [960, 17]}), (scales, {"dtype": "I16"}), (scales, {"dtype": "BF16", "shape": [1]}))]

    def twice(header):
        return (whole(header)[:-1] + "," + whole({norm: header[norm]})[1:]).encode()

    def gone(name):
        return lambda model: model.weights(lambda tensors: tensors.pop(name))
    trials += [("a name that comes twice", lambda model: model.header(twice))]
    trials += [(f"no {name}", gone(name)) for name in (norm, scales, "model.embed_tokens.weight",
                                                        "model.layers.1.mlp.down_proj.biases")]
    all_of(bench, trials)


@case("models/index")
def index(bench):
    """An index that doesn't fit is passed over for the files themselves; it leads nowhere else."""
    def put(content):
        return lambda model: model.put("model.safetensors.index.json", content)
    maps = [{"model.norm.weight": name} for name in
            ("none.safetensors", "../in.jsonl", "/etc/passwd", "", ".", "..", "a/b/c", "model.safetensors/x",
             "model.safetensors\0", "x" * 5000, "\x1b[2J")]
    contents = [json.dumps({"weight_map": each}) for each in maps + [[], 5, None, {"a": 5}, {"a": {}}, {}]]
    contents += ["", "{", "[" * 100_000, "null", '{"weight_map":{}}x', b"\xff\xff", "{}"]
    trials = [(f"index {content[:60]!r}", put(content), {"codes": (0, 69)}) for content in contents]

    def only(name):
        def change(model):
            put(json.dumps({"weight_map": {key: name for key in model.maker.tensors}}))(model)
            os.rename(model.file("model.safetensors"), os.path.join(os.path.dirname(model.path), "w.safetensors"))
        return change
    trials += [(f"all in {name}", only(name)) for name in ("../w.safetensors", "none.safetensors")]
    # What it moves lies beside the folder.
    all_of(bench, trials[:-2])
    for what, change in trials[-2:]:
        trial = Trial(bench)
        change(trial.model)
        trial.run().must_end_with(69, what=what)
