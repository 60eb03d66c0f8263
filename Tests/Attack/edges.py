"""The small inputs of ../shared/cases that once became something else in silence, or were refused where people expect an
answer: each as its README says, where that folder is there (PHIBATCH_SHARED)."""
import json
import os
import shutil
import socket
import subprocess
import sys

from harness import REFUSALS, Skip, case, expect, rows, wait_until

SHARED = os.environ.get("PHIBATCH_SHARED", "")
HERE = os.path.join(SHARED, "cases")
# The Python package's tests have a venv with the libraries that write models.
PYTHON = next(filter(os.path.exists, [os.path.abspath(".build/python-venv/bin/python"), sys.executable]))


def place(bench, kind):
    """A copy of a kind's folder, in which its programs and the runs work."""
    source = os.path.join(HERE, kind)
    if not SHARED or not os.path.isdir(source):
        raise Skip("PHIBATCH_SHARED names no folder with cases")
    folder = bench.subfolder(kind)
    shutil.copytree(source, folder, dirs_exist_ok=True)
    os.chmod(folder, 0o700)
    os.symlink(bench.suite.model, f"{folder}/M")
    return folder


def made(folder, *command):
    """Runs what makes a case's files."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, "M": "M"})
    if "ModuleNotFoundError" in done.stderr or "ImportError" in done.stderr:
        raise Skip(f"{done.stderr.splitlines()[-1]}: Tests/Python/venv.sh installs it, from the network")
    expect(done.returncode == 0, done.stderr)


def run(bench, folder, *settings, tokens=4, input="in.jsonl", output="out.jsonl", codes=(0,), **more):
    done = bench.run(bench.command(["--max-tokens", str(tokens), "--restart", *settings], input=input, output=output, **more), folder)
    done.must_end_with(*codes, what=f"{input} {settings}")
    return done.err.decode()


def answers(bench, folder, *settings, **more):
    """By id: the result, the body of an answer, or the code of an error."""
    run(bench, folder, "--max-failures", "100%", *settings, **more)
    found = {}
    for row in rows(folder):
        body = (row.get("response") or {}).get("body") or row
        fault = row.get("error") or body.get("error")
        found[row.get("custom_id") or row["id"]] = fault["code"] if fault else body
    return found


def refused(found):
    return {name for name, body in found.items() if isinstance(body, str)}


def only(found, *names):
    expect(refused(found) == set(names), f"refused are {refused(found)} in place of {names}")


@case("edges/roles", quick=True)
def roles(bench):
    for template in ("phi-3.5-mini", "phi-4", "smollm2"):
        folder = place(bench, "roles")
        os.mkdir(f"{folder}/m")
        for name in os.listdir(bench.suite.model):
            if name != "chat_template.jinja":
                os.symlink(os.path.join(os.path.abspath(bench.suite.model), name), f"{folder}/m/{name}")
        shutil.copy(f"{SHARED}/fixtures/chat_templates/{template}.jinja", f"{folder}/m/chat_template.jinja")
        found = answers(bench, folder, model="m")
        expect({"User", "human"} <= refused(found) and "developer" not in refused(found), f"{template}: {found}")
        found = answers(bench, folder, input="batch.jsonl", model="m")
        expect(not {"dev", "sys", "resp-dev"} & refused(found), f"{template}: {found}")
        expect(found["dev"]["choices"] == found["sys"]["choices"], f"{template}: developer is no system: {found}")
        bench.run(["check", "r.yaml"], folder).must_end_with(*REFUSALS)


@case("edges/objects", quick=True)
def objects(bench):
    folder = place(bench, "open-objects")
    with open(f"{folder}/s.json") as file:
        schema = json.load(file)
    for _ in range(2):
        run(bench, folder, "--schema", "s.json", "--max-failures", "100%", "--temperature", "1", "--samples", "8",
            tokens=120)
        for row in rows(folder):
            if row.get("finish_reason") == "stop":
                value = json.loads(row["text"])
                expect(isinstance(value["age"], int), f"{value}")
                expect("additionalProperties" in schema or set(value) <= {"name", "age"}, f"junk: {value}")
        schema.pop("additionalProperties", None)
        with open(f"{folder}/s.json", "w") as file:
            json.dump(schema, file)


@case("edges/cells", quick=True)
def cells(bench):
    folder = place(bench, "empty-cells")
    first, second = answers(bench, folder, "--line-settings", "regex", input="in.csv").values()
    expect(len(first["text"]) == 3 and second["text"], f"{first} {second}")
    folder = place(bench, "csv")
    expect([row["text"] for row in answers(bench, folder, "--keep", "all", input="leadingblank.csv").values()], "no rows")
    found = answers(bench, folder, "--keep", "all", input="semi.csv")
    expect([row["b"] for row in found.values()] == ["1", "2"], f"{found}")
    found = answers(bench, folder, "--quotes", "none", "--keep", "asked=prompt", input="stray.tsv")
    expect([row["asked"] for row in found.values()] == ['"Hi there', "foo", 'bar "x"', 'q"'], f"{found}")
    folder = place(bench, "floats")
    for name in ("ints.jsonl", "ints.csv", "cid.jsonl"):
        found = answers(bench, folder, "--line-settings", "all", input=name)
        expect(found and not refused(found), f"{name}: {found}")


@case("edges/logprobs", quick=True)
def logprobs(bench):
    folder = place(bench, "reasoning-drop")
    row, = answers(bench, folder, "--reasoning", "drop", "--tokens", "--logprobs", "0", "--prefix", "<think>",
                   tokens=60).values()
    text = json.dumps(row)
    expect("secret" not in text and "think" not in text, f"the thought stands in {text}")
    found = answers(bench, place(bench, "logprob-bytes"), tokens=30)
    for choice in (body["choices"][0] for body in found.values()):
        if "text" in choice:
            known = choice["logprobs"]
            expect(all("\ufffd" not in name for names in known["top_logprobs"] for name in names), f"{known}")
            for offset, token in zip(known["text_offset"], known["tokens"]):
                expect(token.startswith("bytes:") or choice["text"].startswith(token, offset), f"{offset} {token}")


@case("edges/bodies", quick=True)
def bodies(bench):
    found = answers(bench, place(bench, "bodies"))
    for name in ("rf-flat", "guided_choice", "so-choice", "so-regex", "t0-p0", "seedf", "nnull", "maxbig", "grammar-llamacpp"):
        expect(name not in refused(found), f"{name}: {found[name]}")
    for name in ("p1.5", "tstr", "max-1", "n0", "seed64", "biaslist", "prompt", "schemaown"):
        expect(name in refused(found), f"{name}: {found[name]}")
    found = answers(bench, place(bench, "responses"), tokens=60)
    only(found, "empty-list")
    found = answers(bench, folder := place(bench, "responses"), tokens=40, input="callonly.jsonl")
    expect(found["c"]["output"][0]["type"] == "function_call", f"{found}")
    found = answers(bench, place(bench, "tools"), tokens=60)
    for name in ("enum-num", "not-empty", "nullable", "discriminator", "no-params", "flat", "strict", "desc-html", "ref"):
        expect(name not in refused(found), f"{name}: {found[name]}")
    for row in rows(folder):
        expect("error" not in row or row["error"] is None or "#" in row["error"]["message"], f"{row}")


@case("edges/echo", quick=True)
def echo(bench):
    found = answers(bench, place(bench, "bodies-echo"))
    for name in ("echo", "echo0", "ids", "idlists", "strlist", "strlist1", "max0"):
        expect(name not in refused(found), f"{name}: {found[name]}")
    expect(found["echo0"]["choices"][0]["text"] == "Paris is in France", f"{found['echo0']}")
    expect([choice["index"] for choice in found["strlist"]["choices"]] == [0, 1, 2, 3], f"{found['strlist']}")


@case("edges/texts", quick=True)
def texts(bench):
    folder = place(bench, "boms")
    for settings in (["--schema", "s.json"], ["--tools", "t.json"], ["--grammar", "g.gbnf"], ["--prompt-file", "pcrlf.txt"]):
        run(bench, folder, *settings, "--max-failures", "100%", tokens=20)
    folder = place(bench, "grammar")
    row, = answers(bench, folder, "--grammar", "dash.gbnf").values()
    expect(len(row["text"]) == 4 and row["text"][0] in "a-z" and row["text"][3] in "[]^", f"{row}")
    folder = place(bench, "yaml")
    said = bench.run(["check", "brace.yaml"], folder)
    said.must_end_with(*REFUSALS)
    expect(b"quotes" in said.err, f"{said}")
    folder = place(bench, "packed")
    for name in ("skip.jsonl.zst", "trail.jsonl.gz"):
        said = run(bench, folder, input=name)
        expect(name.endswith("zst") or "warning" in said, f"{name}: {said}")


@case("edges/tables", quick=True)
def tables(bench):
    folder = place(bench, "parquet")
    said = run(bench, folder, "--keep", "all", input="structcase.parquet", codes=REFUSALS)
    if "DuckDB" in said and "PHIBATCH_DUCKDB" in said:
        raise Skip("DuckDB is not there")
    expect("case" in said, said)
    said = run(bench, folder, "--keep", "all", input="lateclash.jsonl", output="out.parquet")
    expect("_2" in said, f"no second name is told: {said}")


@case("edges/hub", quick=True)
def hub(bench):
    folder = place(bench, "hub-configs")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    server = subprocess.Popen([sys.executable, "hub.py", port], cwd=folder, stderr=subprocess.DEVNULL)
    try:
        environment = {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_HOME": f"{folder}/hf"}

        def asked(name, codes=(0,)):
            done = bench.run(bench.command(["--max-tokens", "1", "--restart", "--keep", "prompt"],
                                           input=f"hf://datasets/{name}"), folder, environment=environment)
            done.must_end_with(*codes, what=name)
            return done.err.decode() if codes != (0,) else [row["prompt"] for row in rows(folder)]
        wait_until(lambda: not socket.socket().connect_ex(("127.0.0.1", int(port))), server)
        said = asked("o/gsm", REFUSALS)
        expect("o/gsm/main/train" in said and "o/gsm/socratic/test" in said, said)
        asked("o/gsm/train", REFUSALS)
        asked("o/ultra/train", REFUSALS)
        for name, texts in [("o/gsm/main/train", ["main train"]), ("o/ultra/train_sft", ["sft0", "sft1"]),
                            ("o/dots/train.clean.100", ["c100"]), ("o/configs/de/train", ["de"]), ("o/dotsplit/train", ["plain"]),
                            ("piuba-data/art/train", ["t0", "t1"])]:
            expect(asked(name) == texts, f"{name}: not {texts}")
    finally:
        server.kill()
        server.wait()


@case("edges/models", quick=True)
def models(bench):
    folder = place(bench, "linked-model")
    made(folder, "sh", "make.sh")
    for model in ("local", "part"):
        run(bench, folder, model=model)
    folder = place(bench, "lora")
    made(folder, PYTHON, "mk.py")
    for name in ("split", "fused", "pattern_re", "rslora", "qonly", "named", "layers", "dora"):
        run(bench, folder, "--adapter", name)
    for name in ("unprefixed", "wrongrank", "ia3", "bias"):
        run(bench, folder, "--adapter", name, codes=REFUSALS)
    folder = place(bench, "gguf")
    made(folder, PYTHON, "mk.py")
    for name in ("plain", "eot"):
        run(bench, folder, model=f"{name}.gguf")
    for name in ("gemma", "missing", "nomerges", "notypes"):
        run(bench, folder, model=f"{name}.gguf", codes=REFUSALS)


@case("edges/no-locks", quick=True)
def no_locks(bench):
    folder = place(bench, "no-locks")
    compiler = shutil.which("cc") or shutil.which("clang") or shutil.which("gcc")
    if not compiler:
        raise Skip("no C compiler; it is a part of the processor's tests")
    made(folder, compiler, "-shared", "-fPIC", "-o", "n.so", "nolock.c")
    command = bench.command(["--max-tokens", "4", "--restart"])
    for code in ("38", "37", "95"):
        environment = {"LOCKERR": code, "LD_PRELOAD": f"{folder}/n.so"}
        for _ in range(2):
            bench.run(command, folder, what=f"LOCKERR={code}", environment=environment).must_end_with(0)
            expect(len(rows(folder)) == 1, f"LOCKERR={code}: {rows(folder)}")
            # Killed, and gone on with: the lock's file names a process that is over.
            process = bench.start(command, folder, environment=environment)
            wait_until(lambda: os.path.exists(f"{folder}/out.jsonl.lock"), process)
            process.kill()
            process.wait()
