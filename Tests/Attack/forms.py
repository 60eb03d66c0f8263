"""Schemas, patterns and grammars of lines that are there to take long or much memory, or to end the process: each line
gets its answer or an error of its own, and the others don't wait for minutes."""
import json
import os
import zlib

from harness import Job, REFUSALS, case, expect, limited, rows

# What a compiled form may take is 2 seconds and 256 MB, on a machine that has time for it.
SECONDS = 60


def judged(bench, name, forms, codes=(None, "bad_schema", "invalid_answer")):
    """One line for each form, between two plain ones."""
    lines = [{"prompt": "Hi", "regex": "yes|no"}, *({"prompt": "Hi", **form} for form in forms), {"prompt": "Hi"}]
    job = Job(["--max-tokens", "8", "--threads", "1", "--max-failures", "100%"],
              [json.dumps({"id": f"n{number}", **line}) for number, line in enumerate(lines)])
    folder = bench.subfolder(name)
    job.write(folder)
    process = bench.start(bench.command(job.settings), folder)
    run = bench.wait(process, SECONDS * len(forms), name)
    run.must_end_with(0, what=name)
    found = [row.get("error", {}).get("code") for row in rows(folder)]
    expect(len(found) == len(lines) and found[0] is found[-1] is None, f"{name}: {found}")
    expect(all(code in codes + ("max_tokens_too_small",) for code in found), f"{name}: {found}")
    return rows(folder)[1:-1]


@case("forms/large-grammars", quick=True)
def large_grammars(bench):
    """A huge literal, many alternatives, and many of them in deep groups."""
    words = " | ".join(f'"w{number}x{number * 7919 % 100003}"' for number in range(15_000))
    ends = " | ".join(f'"w{number}" root? "z"' for number in range(9_000))
    found = judged(bench, "large", [
        {"grammar": 'root ::= "' + "abcd" * 60_000 + '"'}, {"grammar": "root ::= " + words},
        {"grammar": "root ::= " + '("a" | ' * 95 + words + ")" * 95}, {"grammar": "root ::= " + ends},
        {"grammar": 'root ::= "' + "abcd" * 250_000 + '"'}])
    expect("256 MB" in found[3]["error"]["message"], f"no budget is told: {found[3]}")


@case("forms/deep", quick=True)
def deep(bench):
    """100,000 levels."""
    many = 100_000
    schemas = ['{"not":' * many + "{}" + "}" * many, '{"properties":{"a":' * many + "{}" + "}}" * many]
    chain = {"$ref": "#/$defs/0", "$defs": {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(2_000)} | {"2000": {}}}
    judged(bench, "deep", [
        {"grammar": 'root ::= "a"' + sign * many} for sign in ("?", "*", "{1}")] + [
        {"grammar": "root ::= " + "(" * many + '"a"' + ")" * many}, {"regex": "(" * 30_000 + "a" + ")" * 30_000},
        {"regex": "(?:a|" * 30_000 + "a" + ")*" * 30_000}, {"schema": chain}])
    for schema in schemas:
        folder = bench.subfolder("schema")
        job = Job(["--max-tokens", "8", "--schema", "s.json"], ['{"id":"a","prompt":"Hi"}'])
        job.write(folder)
        with open(f"{folder}/s.json", "w") as file:
            file.write(schema)
        bench.run(bench.command(job.settings), folder, what="a deep schema").must_end_with(64, what="a deep schema")


@case("forms/costly-patterns")
def costly_patterns(bench):
    """Automata near their limit, with and without bounds on the length."""
    patterns = [".*a.{12}", "(a|b)*a(a|b){12}", "[a-z]{1,9900}", "(?:[a-z]{1,90}, ){1,100}", "(?=.*a.{9})(?=.*b.{9}).*"]
    judged(bench, "patterns", [{"regex": pattern} for pattern in patterns] + [
        {"schema": {"type": "string", "pattern": f"^(?:{pattern})$", "minLength": 3, "maxLength": 400}}
        for pattern in patterns])


DEEP = {"lists": ("[", "", "]"), "objects": ('{"a":', "1", "}"), "both": ('[{"a":', "1", "}]"), "no end": ("[", "", "")}
# What begins, what is repeated, what closes each of these, and what ends.
TEMPLATES = [("{{ " + start, middle, end, " }}") for start, middle, end in [
    ("", "(", ")"), ("", "not ", ""), ("", "-", ""), ("", "[", "]"), ("", '{"a":', "}"), ("x", "|trim", ""), ("x", ".a", ""),
    ("x", "[0]", ""), ("x", "()", ""), ("x", " ~ x", ""), ("x", " and x", ""), ("x", " if x else x", ""), ("x", " is defined", ""),
]] + [("", "{% if x %}", "{% endif %}", ""), ("", "{% for a in x %}", "{% endfor %}", ""), ("", "{% set x %}", "{% endset %}", ""),
      ("{% if x %}", "{% elif x %}", "", "{% endif %}")]
ENDLESS = [
    "{% macro m(a) %}{{ m(a) }}{% endmacro %}{{ m(1) }}",
    "{% set n = namespace(a=[]) %}{% for i in range(100000) %}{% set n.a = [n.a] %}{% endfor %}{{ n.a == n.a }}{{ n.a }}"]


@case("forms/levels", quick=True)
def levels(bench):
    """Levels of JSON, YAML and templates, near what is allowed and far beyond: an error each, whatever has them."""
    folder = bench.subfolder("levels")

    def attempt(what, settings, *codes, **files):
        for name, text in files.items():
            with open(f"{folder}/{name.replace('_', '.')}", "w") as file:
                file.write(text)
        bench.run(bench.command(["--max-tokens", "1", "--max-failures", "100%", "--restart", *settings]), folder, SECONDS,
                  what).must_end_with(0, *REFUSALS, *codes, what=what)

    for many in (79, 127, 100_000):
        deep = {name: start * many + middle + end * many for name, (start, middle, end) in DEEP.items()}
        plain = [{"prompt": "Hi"}]
        lines = [json.dumps({"prompt": "Hi", member: "@"}).replace('"@"', value) for value in deep.values()
                 for member in ("x", "messages", "schema", "tools", "stop")]
        attempt(f"{many} levels in lines", ["--keep", "x"], in_jsonl="\n".join([*lines, *deep.values(), *map(json.dumps, plain)]))
        for name, value in deep.items():
            attempt(f"{many} levels of a schema, {name}", ["--schema", "s.json"], in_jsonl='{"prompt":"Hi"}', s_json=value)
            attempt(f"{many} levels of tools, {name}", ["--tools", "s.json"], s_json=value)
            for text in ('{"model":' + value + "}", "model: m\nmessages: " + value):
                with open(f"{folder}/j.yaml", "w") as file:
                    file.write(text)
                bench.run(["check", "j.yaml"], folder, SECONDS).must_end_with(*REFUSALS)
        for start, opening, closing, end in TEMPLATES:
            attempt(f"{many} times {opening}", ["--prompt-file", "p.txt"], in_jsonl='{"x":"Hi"}',
                    p_txt=start + opening * many + closing * many + end)
    for text in ENDLESS:
        attempt(text, ["--prompt-file", "p.txt"], p_txt=text)


def packed(piece, count):
    """gzip's packing of many equal pieces."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(piece) for _ in range(count)), packer.flush()])


@case("forms/small-inputs", quick=True)
def small_inputs(bench):
    """What is small and becomes large, or has no end, takes no minutes and no memory, and is told."""
    folder = bench.subfolder("small")

    def attempt(what, said, codes, settings, **files):
        for name, content in files.items():
            with open(f"{folder}/{name.replace('__', '-').replace('_', '.')}", "wb") as file:
                file.write(content)
        run = bench.run(settings, folder, SECONDS, what, preexec=limited(AS=8 << 30))
        run.must_end_with(*codes, what=what)
        expect(said in run.err.decode(), f"{what}: {run}")

    line = b'{"prompt":"Hi"}\n'
    run = bench.command(["--max-tokens", "1", "--restart"], input="in.jsonl.gz")
    attempt("a bomb of blank lines", "400 times its size", REFUSALS, run, in_jsonl_gz=packed(b"\n" * (1 << 20), 512))
    attempt("a bomb of one line", "400 times its size", REFUSALS, run, in_jsonl_gz=packed(b"a" * (1 << 20), 512))
    attempt("a long beginning that all share", "", [0], run, in_jsonl_gz=packed(
        json.dumps({"prompt": [5, 6], "x": "".join(map(str, range(6000)))}).encode() + b"\n", 1) + packed(line, 1))
    attempt("empty members", "", [0], run, in_jsonl_gz=packed(b"", 1) * 400_000 + packed(line, 1))
    steps = b"model: m\ninput: in.jsonl.gz\noutput: o\nsteps:\n" + b"".join(
        b"  - {name: s%d, prompt: 'Hi {{ s%d }}'}\n" % (number, number - 1) if number else b"  - {name: s0, prompt: Hi}\n"
        for number in range(3000))
    attempt("3,000 steps", "at most 256", REFUSALS, ["check", "j.yaml"], j_yaml=steps)
    os.mkfifo(f"{folder}/pipe.yaml")
    attempt("a pipe as a job file", "is no file, but a pipe", REFUSALS, ["run", "pipe.yaml"])
    if os.access("/proc/kmsg", os.R_OK):
        attempt("/proc/kmsg as a job file", "/proc/kmsg", REFUSALS, ["run", "/proc/kmsg"])
    for name, size in [("prompt", "--prompt-file"), ("schema", "--schema")]:
        attempt(f"a pipe as a {name}", "is no file, but a pipe", REFUSALS,
                bench.command(["--max-tokens", "1", size, "pipe.yaml"]), in_jsonl=line)


@case("forms/sparse-answers", quick=True)
def sparse_answers(bench):
    """Files of 6 GB of nothing in the store of answers, as an index and as a record."""
    folder = bench.subfolder("sparse")
    with open(f"{folder}/in.jsonl", "w") as file:
        file.write('{"prompt":"Hi"}\n')
    settings = ["--max-tokens", "2", "--answers", "answers"]
    bench.run(bench.command(settings), folder).must_end_with(0)
    whole, = os.listdir(f"{folder}/answers")
    with open(f"{folder}/answers/{whole}", "rb") as file:
        content = file.read()
    head, last = content.split(b"\n", 1)[0] + b"\n", content.rstrip(b"\n").rsplit(b"\n", 1)[1] + b"\n"
    for name, begin, end in [("a", head, last), ("b", head + b'{"sum":"', b'"}\n'), ("c", content[:-len(last)], last)]:
        with open(f"{folder}/answers/{name}.answers", "wb") as file:
            file.write(begin)
            file.seek(6 << 30)
            file.write(end)
    bench.run(bench.command([*settings, "--restart"]), folder, SECONDS, "sparse answers",
              preexec=limited(AS=4 << 30)).must_end_with(0)
