#!/usr/bin/env python3
"""Make a random-weight Phi model for onnxruntime-genai with its own model builder: 4-bit MatMulNBits, int8 arithmetic.

Blocks of 32 weights are what Microsoft publishes for processors (cpu-int4-rtn-block-32-acc-level-4). Needs 18 GB of
memory for some minutes.

    export_onnx.py OUT --preset phi-3-mini
"""
import argparse
import os
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from geometry import PRESETS
from random_phi import random_model


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out")
    p.add_argument("--preset", choices=sorted(PRESETS), default="phi-3-mini")
    p.add_argument("--block-size", type=int, default=32)
    a = p.parse_args()

    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(a.out))) as folder:
        model = random_model(a.preset)
        model.save_pretrained(folder)
        model.config.save_pretrained(a.out)
        del model
        # A stand-in: the benchmarks feed token ids.
        words = Tokenizer(models.WordLevel({"<unk>": 0, "<s>": 1, "</s>": 2}, unk_token="<unk>"))
        PreTrainedTokenizerFast(tokenizer_object=words).save_pretrained(folder)
        subprocess.run([sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", folder, "-o", a.out,
                        "-p", "int4", "-e", "cpu", "-c", folder, "--extra_options", "accuracy_level=4",
                        f"block_size={a.block_size}"], check=True)
    print(a.out)


if __name__ == "__main__":
    main()
