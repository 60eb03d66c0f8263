#!/usr/bin/env python3
"""Export a random-weight Phi model for OpenVINO GenAI, with 4-bit weights.

The model is built from its configuration, traced to 16 bits by optimum-intel and compressed by
nncf without data: `ratio=1.0` makes every matrix of the layers 4 bits wide. The embedding and the
output matrix stay 8 bits wide unless --all-layers is given. Needs 18 GB of memory for two minutes.

    export_openvino.py OUT --preset phi-3-mini
"""
import argparse
import gc
import os
import shutil

import nncf
import openvino as ov
from optimum.exporters.openvino import export_from_model
from optimum.intel import OVConfig

from geometry import PRESETS
from random_phi import random_model


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out")
    p.add_argument("--preset", choices=sorted(PRESETS), default="phi-3-mini")
    p.add_argument("--group-size", type=int, default=128)
    p.add_argument("--sym", action="store_true", help="no zero points")
    p.add_argument("--all-layers", action="store_true", help="embedding and output in 4 bits too")
    p.add_argument("--float-dir", help="keep the 16-bit export here and use it again (7.6 GB)")
    a = p.parse_args()

    full = a.float_dir or a.out + ".16bit"
    if not os.path.exists(os.path.join(full, "openvino_model.xml")):
        model = random_model(a.preset)
        export_from_model(model, full, task="text-generation-with-past", stateful=True,
                          ov_config=OVConfig(dtype="fp16"), patch_16bit_model=True, preprocessors=[])
        del model
        gc.collect()

    mode = nncf.CompressWeightsMode.INT4_SYM if a.sym else nncf.CompressWeightsMode.INT4_ASYM
    compressed = nncf.compress_weights(ov.Core().read_model(os.path.join(full, "openvino_model.xml")),
                                       mode=mode, ratio=1.0, group_size=a.group_size,
                                       all_layers=a.all_layers)
    os.makedirs(a.out, exist_ok=True)
    ov.save_model(compressed, os.path.join(a.out, "openvino_model.xml"), compress_to_fp16=False)
    for name in ("config.json", "generation_config.json"):
        shutil.copy(os.path.join(full, name), a.out)
    if not a.float_dir:
        shutil.rmtree(full)
    print(a.out)


if __name__ == "__main__":
    main()
