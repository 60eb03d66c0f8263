#!/usr/bin/env python3
"""Makes adapter.json: logits of the checkpoint and the adapters that AdapterTests writes, merged by Hugging Face's PEFT
in float32.

    make_adapter.py REFERENCE_LOGITS.py FOLDER      FOLDER holds base, adapter and dora, as
                                                    PHIBATCH_EXPORT_ADAPTER=FOLDER make test FILTER=AdapterTests
                                                    writes them

Needs pip install torch transformers peft numpy safetensors.
"""
import contextlib
import io
import json
import os
import runpy
import sys

import peft
import transformers

tool, folder = sys.argv[1:]


original = transformers.Phi3ForCausalLM


class Merged(original):
    def load_state_dict(self, *arguments, **options):
        result = super().load_state_dict(*arguments, **options)
        peft.PeftModel.from_pretrained(self, os.path.join(folder, adapter)).merge_and_unload()
        return result


ids = [i * 11 % 320 for i in range(24)]
transformers.Phi3ForCausalLM = Merged
sys.argv = [tool, os.path.join(folder, "base"), "--ids", ",".join(map(str, ids))]
result = {"ids": ids}
for adapter, name in [("adapter", "logits"), ("dora", "dora")]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        runpy.run_path(tool, run_name="__main__")
    line = next(line for line in out.getvalue().splitlines() if line.startswith("{"))
    result[name] = [round(x, 5) for x in json.loads(line)["logits"]]
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "adapter.json")
with open(path, "w") as file:
    file.write(json.dumps(result, separators=(",", ":")) + "\n")
