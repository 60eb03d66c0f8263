"""Whether phibatch quantize and mlx_lm.convert -q make the same of a model.

    pip install "mlx[cpu]" mlx-lm transformers torch
    python3 Tests/Quantize/mlx_convert.py [--program .build/release/phibatch] [MODEL ...]

Without models, small ones of all float types are made with transformers. For each, with several options: all tensors
are compared by their bytes, config.json and the index by their values, and mlx-lm loads what phibatch has written.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import mlx.core as mx
import mlx_lm
import numpy as np

OPTIONS = [[], ["--bits", "8"], ["--bits", "3", "--group-size", "32"], ["--bits", "6", "--group-size", "128"]]


def make(folder, kind, dtype):
    """A model as transformers saves it, with a tokenizer."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    torch.manual_seed(5)
    common = dict(
        vocab_size=300, hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=8,
        num_key_value_heads=2, max_position_embeddings=256, bos_token_id=1, eos_token_id=2, pad_token_id=0)
    if kind == "phi":
        model = transformers.PhiForCausalLM(transformers.PhiConfig(**common))
    else:
        config = transformers.Phi3Config(**common, tie_word_embeddings=kind == "phi3-tied")
        model = transformers.Phi3ForCausalLM(config)
    model.to(dtype).save_pretrained(folder, max_shard_size="1MB")
    vocabulary = {f"t{number}": number for number in range(300)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="t0"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="t2", unk_token="t0").save_pretrained(folder)
    # Older transformers write the type under this name, which mlx-lm reads.
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["torch_dtype"] = config.pop("dtype", None) or str(dtype).split(".")[-1]
    path.write_text(json.dumps(config))


def tensors(folder):
    found = {}
    for file in sorted(folder.glob("*.safetensors")):
        for name, array in mx.load(str(file)).items():
            found[name] = (file.name, str(array.dtype), array.shape, np.array(array.view(mx.uint8)).tobytes())
    return found


def compare(program, source, options, scratch):
    ours, theirs = scratch / "ours", scratch / "theirs"
    for folder in (ours, theirs):
        shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([program, "quantize", source, ours, *options, "--quiet"], check=True)
    given = dict(zip(options[::2], options[1::2]))
    command = ["mlx_lm.convert", "--hf-path", source, "--mlx-path", theirs, "-q"]
    command += ["--q-bits", given.get("--bits", "4"), "--q-group-size", given.get("--group-size", "64")]
    subprocess.run(command, check=True, capture_output=True)
    differences = []
    mine, wanted = tensors(ours), tensors(theirs)
    differences += [name for name in sorted(mine.keys() | wanted.keys()) if mine.get(name) != wanted.get(name)]
    for name in ("config.json", "model.safetensors.index.json"):
        if json.loads((ours / name).read_text()) != json.loads((theirs / name).read_text()):
            differences.append(name)
    try:
        model, _ = mlx_lm.load(str(ours))
        logits = model(mx.array([[1, 5, 9]]))
        if not bool(mx.isfinite(logits).all()):
            differences.append("logits that are not finite")
    except Exception as error:
        differences.append(f"mlx-lm can't load it: {error}")
    return differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=".build/release/phibatch")
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        models = arguments.models
        if not models:
            import torch

            for kind in ("phi3", "phi3-tied", "phi"):
                for dtype in (torch.bfloat16, torch.float16, torch.float32):
                    models.append(scratch / f"{kind}-{str(dtype).split('.')[-1]}")
                    make(models[-1], kind, dtype)
        for model in models:
            for options in OPTIONS:
                differences = compare(arguments.program, model, options, scratch)
                failures += bool(differences)
                verdict = "FAILED: " + ", ".join(differences[:5]) if differences else "the same"
                print(f"{model.name} {' '.join(options) or '(4 bits, groups of 64)'}: {verdict}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
