#!/usr/bin/env python3
"""What phibatch quantize --calibrate gives: perplexity of the embedded model as floats, in 4 bits, and calibrated.

    pip install numpy safetensors
    python3 Tests/Quantize/calibrate.py [--calibration FILE] [TEXT ...]

The embedded model is expanded to float16 first. Texts are cut into windows of 512 tokens, of which the second half
counts. Without TEXT: the Debian FAQ; without --calibration: the Debian Policy Manual, both from their packages.
"""

import argparse
import gzip
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

from safetensors.numpy import save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Peers"))
from perplexity import expanded  # noqa: E402

DEBIAN = {"debian-faq": "usr/share/doc/debian/FAQ/debian-faq.en.txt.gz",
          "debian-policy": "usr/share/doc/debian-policy/policy.txt.gz"}


def debian(package, folder):
    # Its own unprivileged user can't write here, which apt-get would warn of.
    subprocess.run(["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", package], cwd=folder, check=True)
    [archive] = folder.glob(f"{package}_*.deb")
    subprocess.run(["dpkg-deb", "-x", archive, folder / "x"], check=True)
    text = folder / f"{package}.txt"
    text.write_bytes(gzip.decompress((folder / "x" / DEBIAN[package]).read_bytes()))
    return text


def expand(model, folder):
    """A model folder with the same weights as float16."""
    folder.mkdir()
    for file in model.glob("*.json"):
        shutil.copy(file, folder)
    config, weights = expanded(model)
    for key in ("quantization", "quantization_config"):
        config.pop(key, None)
    (folder / "config.json").write_text(json.dumps({**config, "torch_dtype": "float16"}))
    save_file({name: x.astype("float16") for name, x in weights.items()}, folder / "model.safetensors")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=".build/release/phibatch")
    parser.add_argument("--model", type=pathlib.Path, default=pathlib.Path("models/smollm2-demo"))
    parser.add_argument("--calibration", type=pathlib.Path)
    parser.add_argument("--windows", default="32")
    parser.add_argument("--group-size", default="64")
    parser.add_argument("texts", nargs="*", type=pathlib.Path)
    a = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        texts = a.texts or [debian("debian-faq", folder)]
        calibration = a.calibration or debian("debian-policy", folder)
        source = folder / "float16"
        expand(a.model, source)
        models = {"float16": source}
        for kind, options in (("4 bits", []), ("4 bits, calibrated", ["--calibrate", calibration])):
            models[kind] = folder / kind.replace(" ", "-")
            subprocess.run([a.program, "quantize", source, models[kind], "--group-size", a.group_size, *options,
                            "--quiet"], check=True)
        for text in texts:
            values = []
            for kind, model in models.items():
                done = subprocess.run([f"{a.program}-dev", "perplexity", "--model", model, "--windows", a.windows, text],
                                      check=True, capture_output=True, text=True, env={"PHIBATCH_CACHE": "off"})
                values.append(float(done.stdout.split()[1]))
                print(f"{text.name}: {kind}: {values[-1]:.3f}", flush=True)
            exact, plain, better = map(math.log, values)
            closed = (plain - better) / (plain - exact)
            print(f"{text.name}: {100 * closed:.0f} % of the gap (of the logarithms) is closed")
            failed |= closed < 1 / 3
    return failed


if __name__ == "__main__":
    sys.exit(main())
