"""Schemas, patterns and grammars of lines that are there to take long or much memory, or to end the process: each line
gets its answer or an error of its own, and the others don't wait for minutes."""
import json

from harness import Job, case, expect, rows

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
