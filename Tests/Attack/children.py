"""Programs and libraries beside the program: none of the working directory's runs, and none gets what isn't its own."""
import os
import shutil
import stat
import subprocess

from harness import Skip, case, duckdb, expect

PROGRAMS = ["aws", "az", "duckdb", "gcloud", "gsutil", "hf", "huggingface-cli", "openssl", "python", "python3", "rclone"]
LIBRARIES = ["libcurl.so.4", "libcurl-gnutls.so.4", "libedit.so.2", "libmicrohttpd.so.12", "libreadline.so.8",
             "libzstd.so.1", "libphibatch-mlx.so", "libssl.so.3"]
SOURCE = r"""
#include <fcntl.h>
__attribute__((constructor)) static void steal(void) { open("stolen", O_CREAT | O_WRONLY, 0600); }
"""


def script(path, text):
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


def table(path):
    subprocess.run([duckdb(), "-no-init", "-c", f"COPY (SELECT 'a' AS id, 'Hi' AS prompt) TO '{path}' (FORMAT parquet)"],
                   check=True, capture_output=True)


def ask(bench, input="in.jsonl", output="out.jsonl"):
    return bench.command(["--max-tokens", "2", "--threads", "1"], input=input, output=output)


@case("children/path", quick=True)
def path(bench):
    """Empty and relative entries of PATH name the working directory, where anybody's files may lie."""
    folder = bench.subfolder("here")
    bench.small.write(folder)
    table(os.path.join(folder, "in.parquet"))
    for place in (folder, os.path.join(folder, "bin")):
        os.makedirs(place, exist_ok=True)
        for name in PROGRAMS:
            script(os.path.join(place, name), f": >'{folder}/stolen-{name}'\n")
    for name in ("mmap.py", "json.py", "pyarrow.py"):
        with open(os.path.join(folder, name), "w") as file:
            file.write(f"open('{folder}/stolen-{name}', 'w')\n")
    shutil.copy(os.path.join(folder, "in.parquet"), os.path.join(folder, "in.arrow"))
    commands = [ask(bench, "in.parquet"), ask(bench, output="out.parquet"), ask(bench, "in.arrow"),
                *(ask(bench, f"{scheme}://bucket/in.jsonl") for scheme in ("s3", "gs", "az")),
                ["push", "org/name", "out.jsonl"], ["doctor"]]
    for entries in (".:bin",) if bench.quick else (".:bin", ":", "bin::./bin", ":/nowhere:"):
        more = {"PATH": entries, "PHIBATCH_DUCKDB": None, "HOME": folder, "HF_ENDPOINT": "http://127.0.0.1:9",
                "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
        for command in commands:
            bench.run(command, folder, environment=more, what=f"PATH={entries} {command[0]}")
            stolen = [name for name in os.listdir(folder) if name.startswith("stolen")]
            expect(not stolen, f"PATH={entries} {' '.join(command[:1] + command[3:5])}: {stolen}")


@case("children/libraries", quick=True)
def libraries(bench):
    """Libraries that are opened at run time are the system's, though others lie in the working directory."""
    folder = bench.subfolder("libraries")
    with open(os.path.join(folder, "steal.c"), "w") as file:
        file.write(SOURCE)
    try:
        subprocess.run(["cc", "-shared", "-fPIC", "-o", LIBRARIES[0], "steal.c"], cwd=folder, check=True,
                       capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        raise Skip("there is no C compiler") from None
    for place in ("", "lib", "phibatch-mlx", "lib/phibatch-mlx"):
        os.makedirs(os.path.join(folder, place), exist_ok=True)
        for name in LIBRARIES:
            if place or name != LIBRARIES[0]:
                shutil.copy(os.path.join(folder, LIBRARIES[0]), os.path.join(folder, place, name))
    bench.small.write(folder)
    # By a path that depends on the working directory, too.
    near = os.path.relpath(bench.suite.program, folder)
    variables = ("PHIBATCH_CURL", "PHIBATCH_ZSTD", "PHIBATCH_MICROHTTPD", "PHIBATCH_MLX", "PHIBATCH_READLINE",
                 "LD_LIBRARY_PATH")
    more = {"HF_ENDPOINT": "http://127.0.0.1:9", **{name: None for name in variables}}
    for command in (["doctor"], ["pull", "org/name"], ask(bench, output="out.jsonl.zst"),
                    ask(bench) + ["--engine", "mlx"]):
        for program in (bench.suite.program, near):
            bench.wait(bench.start(command, folder, environment=more, program=program))
            expect(not os.path.exists(os.path.join(folder, "stolen")), f"{command[0]}: a library of this folder was loaded")
