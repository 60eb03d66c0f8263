#!/bin/sh
# Makes logits.json: golden logits of the checkpoints that LogitsTests writes, from Hugging Face
# transformers in float32.
#   Fixtures/make_logits.sh REFERENCE_LOGITS.py [PYTHON]
# Run from the top folder. Needs pip install torch transformers numpy safetensors.
set -e
tool=$1
python=${2:-python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PHIBATCH_EXPORT_SYNTHETIC=$folder swift test -c release -Xswiftc -enable-testing --filter exportCheckpoints
"$python" - "$folder" "$tool" "$python" > Tests/PhiModelTests/Fixtures/logits.json <<'PY'
import json, os, subprocess, sys
folder, tool, python = sys.argv[1:]
out = []
for name in sorted(os.listdir(folder)):
    model = os.path.join(folder, name)
    if not os.path.isdir(model):
        continue
    index = os.path.join(model, "model.safetensors.index.json")
    run = subprocess.run([python, tool, model, "--ids-file", os.path.join(folder, "prompts.jsonl"), "--greedy", "8"],
                         check=True, capture_output=True, text=True)
    prompts = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    for p in prompts:
        p["logits"] = [round(x, 5) for x in p["logits"]]
        p["gaps"] = [round(x, 5) for x in p["gaps"]]
    out.append({"name": name, "prompts": prompts})
print("[" + ",\n".join(json.dumps(g, separators=(",", ":")) for g in out) + "]")
PY
