#!/bin/sh
# Makes logits.json: golden logits of the checkpoints that LogitsTests writes, from Hugging Face
# transformers in float32. What is in logits.json already stays: only new checkpoints are computed.
#   Fixtures/make_logits.sh REFERENCE_LOGITS.py [PYTHON]
# Run from the top folder. Needs pip install torch transformers numpy safetensors.
set -e
tool=$1
python=${2:-python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PHIBATCH_EXPORT_SYNTHETIC=$folder swift test -c release -Xswiftc -enable-testing --filter matchesExactArithmetic
"$python" - "$folder" "$tool" "$python" Tests/PhiModelTests/Fixtures/logits.json <<'PY'
import json, os, subprocess, sys
folder, tool, python, goldens = sys.argv[1:]
# The tool knows Phi-3 by name; for another model_type it gets that one's classes under the same names. Of models that
# read images, too, Phi-3's class gets the language model's tensors.
start = """
import json, runpy, sys, types, transformers
name = {"phi3": "Phi3", "phi": "Phi", "llama": "Llama", "qwen2": "Qwen2", "qwen3": "Qwen3",
        "phi4mm": "Phi3", "phi3_v": "Phi3"}[
    json.load(open(sys.argv[2] + "/config.json"))["model_type"]]
class Model(getattr(transformers, name + "ForCausalLM")):
    def load_state_dict(self, weights, strict):
        others = ("model.embed_tokens_extend.", "model.vision_embed_tokens.")
        weights = {k.replace(".base_layer.", "."): v for k, v in weights.items()
                   if not k.startswith(others) and ".lora_" not in k}
        return super().load_state_dict(weights, strict=strict)
sys.modules["transformers"] = types.SimpleNamespace(
    Phi3Config=getattr(transformers, name + "Config"), Phi3ForCausalLM=Model)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
with open(goldens) as file:
    lines = file.read().strip()[1:-1].split(",\n")
known = {json.loads(line)["name"] for line in lines}
for name in sorted(os.listdir(folder)):
    model = os.path.join(folder, name)
    if not os.path.isdir(model) or name in known:
        continue
    index = os.path.join(model, "model.safetensors.index.json")
    with open(os.path.join(model, "config.json")) as file:
        kind = json.load(file)["model_type"]
    own = os.path.join(os.path.dirname(goldens), f"reference_{kind}.py")
    # transformers has no phi4flash: that one's reference is its own model.
    begin = [own] if kind == "phi4flash" else [own, tool] if os.path.exists(own) else ["-c", start, tool]
    run = subprocess.run([python, *begin, model, "--ids-file", os.path.join(folder, "prompts.jsonl"), "--greedy", "8"],
                         check=True, capture_output=True, text=True)
    prompts = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    for p in prompts:
        p["logits"] = [round(x, 5) for x in p["logits"]]
        p["gaps"] = [round(x, 5) for x in p["gaps"]]
    lines.append(json.dumps({"name": name, "prompts": prompts}, separators=(",", ":")))
with open(goldens, "w") as file:
    file.write("[" + ",\n".join(lines) + "]\n")
PY
