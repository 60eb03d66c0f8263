"""Instructions that each kernel variant uses for matrix products, beside those that they need: `make counts`.

x86's are counted by single steps (counts.c), arm's in the log of qemu-aarch64, where that and a C library for arm are.
AMX's and AVX-VNNI's are counted without having them, their instructions being stepped over. Products are of 96 rows
and 1,024 columns in 4 bits and groups of 64; what they need, phi_kernels.h says: multiply-adds, scaling and biases, no
loads.
"""
import glob
import re
import shutil
import subprocess
import sys
import tempfile

TOP = __file__.rsplit("/", 4)[0]
ROWS, COLUMNS, TOKENS = 96, 1024, (1, 8, 32)
ARM = ["--target=aarch64-linux-gnu", "-fuse-ld=" + (shutil.which("aarch64-linux-gnu-ld") or ""), "--gcc-toolchain=/usr",
       "--sysroot=/", "-I/usr/aarch64-linux-gnu/include", "-static"]


def compile_to(program, flags):
    sources = glob.glob(f"{TOP}/Sources/CPhiKernels/**/*.c", recursive=True) + [f"{TOP}/Tests/Benchmarks/KernelCounts/counts.c"]
    subprocess.run(["clang", *flags, "-O2", "-Wno-psabi", f"-I{TOP}/Sources/CPhiKernels/include", *sources, "-lm", "-o",
                    program], check=True)


def emulated(emulator, program, name, tokens):
    """The instructions of one product more, and those needed for each multiply-add."""
    logs = []
    for times in "12":
        command = [emulator, "-cpu", "max", "-singlestep", "-d", "exec,nochain", "-D", "/dev/stdout", program]
        logs.append(subprocess.run([*command, name, str(tokens), times], check=True, capture_output=True).stdout)
    needed = re.search(rb"^needed (\S+)", logs[0], re.MULTILINE)
    return logs[1].count(b"\nTrace ") - logs[0].count(b"\nTrace "), float(needed[1])


def counts():
    """Of each variant and number of tokens the instructions, and those needed for each multiply-add."""
    with tempfile.TemporaryDirectory() as folder:
        program = folder + "/counts"
        compile_to(program, [])
        for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
            name, tokens, steps, needed = line.split()
            yield name, int(tokens), int(steps), float(needed)
        emulator = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
        if not emulator or not shutil.which("aarch64-linux-gnu-ld"):
            print("arm is not counted: it takes qemu-aarch64 and gcc-aarch64-linux-gnu", file=sys.stderr)
            return
        compile_to(program, ARM)
        for name in ("i8mm", "dotprod"):
            for tokens in TOKENS:
                yield name, tokens, *emulated(emulator, program, name, tokens)


def main():
    print("instructions per 1,000 multiply-adds\n")
    print("| kernels | tokens | needed | used | times |\n|---|---|---|---|---|")
    for name, tokens, steps, needed in counts():
        used = steps / (ROWS * COLUMNS * tokens)
        print(f"| {name} | {tokens} | {1000 * needed:.1f} | {1000 * used:.1f} | {used / needed:.2f} |", flush=True)


if __name__ == "__main__":
    main()
