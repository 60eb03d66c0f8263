"""Has a model answer under many schemas, and judges the answers with Python's jsonschema.

    python3 Tests/Schemas/answers.py .build/release/phibatch --model FOLDER --suite SUITE.jsonl.gz
        [--schemas 200] [--answers 10] [--seed N] [--folder FOLDER] [--tools]

Takes so many schemas of the suite (lines of {"name", "schema", ...}) from its sources in turn, without the keywords
that phibatch doesn't know, and runs one job at temperature 1. max_tokens are few: the least that any answer under
the schema has, and a few more. Each answer must parse, have no member twice, validate, and keep to max_tokens. The
only error allowed is invalid_answer, in one line of twenty at most. Prints one JSON object; exit status 1 if anything
is wrong. The same arguments give the same answers, so a line that is shown can be run again by itself. --folder keeps
the files. With --tools the schemas are those of functions, three in each line. In half of them one must be called, in
the other half the answer has the first one's schema where none is: each call must name one of them, and its arguments
validate. Needs the Python package jsonschema[format-nongpl]; without it or the suite it says so and ends well.
"""

import argparse
import collections
import gzip
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

MORE_TOKENS = [0, 1, 3, 8, 30, 200]
# Beyond it the job would only be about long answers.
MOST_LEAST_TOKENS = 300
# Those that jsonschema checks as their RFCs say; it is told nothing of the others.
FORMATS = ["date", "date-time", "time", "duration", "email", "ipv4", "ipv6", "uri", "uuid", "json-pointer"]
DRAFTS = {"2019-09": "Draft201909Validator", "draft-07": "Draft7Validator", "draft-06": "Draft6Validator",
          "draft-04": "Draft4Validator"}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--model", required=True)
    parser.add_argument("--suite", required=True)
    parser.add_argument("--schemas", type=int, default=200)
    parser.add_argument("--answers", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder")
    parser.add_argument("--tools", action="store_true")
    return parser.parse_args()


def in_turn(entries, rng):
    """One of each source, then the next of each: "Github_easy---o1" and "BFCL_java_7" begin with theirs."""
    sources = collections.defaultdict(list)
    for entry in entries:
        sources[re.split(r"---|_\d", entry["name"])[0]].append(entry)
    for source in sources.values():
        rng.shuffle(source)
    rounds = itertools.zip_longest(*(sources[name] for name in sorted(sources)))
    return (entry for each in rounds for entry in each if entry)


def remove(schema, pointer):
    """Takes the member away that "#/a/b" points to."""
    *path, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    for step in path:
        schema = schema[int(step) if isinstance(schema, list) else step]
    del schema[last]


def draft(schema):
    """The name of jsonschema's validator."""
    named = schema.get("$schema", "") if isinstance(schema, dict) else ""
    return next((kind for name, kind in DRAFTS.items() if name in named), "Draft202012Validator")


class Answers:
    def __init__(self, options, folder):
        self.options = options
        self.rng = random.Random(options.seed)
        self.folder = folder
        self.wrong = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def look(self, schema):
        """What the program says of answers under a schema; None if it doesn't take it. Keywords that it doesn't know
        are taken out of the schema."""
        with open(self.path("one.jsonl"), "w") as file:
            file.write('{"prompt": "Hello"}\n')
        while True:
            with open(self.path("schema.json"), "w") as file:
                json.dump(schema, file)
            said = subprocess.run([self.options.program, "check", "--json", "--no-estimate", "--model",
                                   self.options.model, "--input", self.path("one.jsonl"), "--output",
                                   self.path("none.jsonl"), "--schema", self.path("schema.json")],
                                  capture_output=True, text=True)
            if said.returncode not in (0, 3, 65):
                sys.exit(f"answers.py: status {said.returncode}: {said.stderr}")
            if said.returncode != 65:
                return {"draft": draft(schema), **json.loads(said.stdout)["answers"]}
            unknown = re.search(r"#(/\S*): \S+ is (?:no keyword|OpenAPI's)", said.stderr)
            if not unknown:
                return None
            remove(schema, unknown[1])

    def choose(self, entries):
        """As many schemas as are asked for, each with what the program says of it."""
        chosen = []
        for entry in in_turn(entries, self.rng):
            said = self.look(entry["schema"])
            if said and said["least_tokens"] <= MOST_LEAST_TOKENS:
                chosen.append((entry["name"], entry["schema"], said))
            if len(chosen) == self.options.schemas:
                break
        return chosen

    def lines(self, chosen):
        for number, (name, schema, said) in enumerate(chosen):
            for answer in range(self.options.answers):
                more = MORE_TOKENS[(number + answer) % len(MORE_TOKENS)]
                what = schema.get("title") if isinstance(schema, dict) else None
                yield {"id": f"{name} {answer}", "prompt": f"Give an example of {what or name}, as JSON.",
                       "max_tokens": said["least_tokens"] + more, "schema": schema}

    def tool_lines(self, chosen):
        """Lines with three functions each, all of which have schemas of the suite."""
        for number, (name, schema, said) in enumerate(chosen):
            three = [chosen[(number + step) % len(chosen)] for step in range(3)]
            tools = [{"type": "function", "function": {"name": f"f{place}", "description": other[0], "parameters": other[1]}}
                     for place, other in enumerate(three)]
            least = max(other[2]["least_tokens"] for other in three)
            for answer in range(self.options.answers):
                choice = ["required", "f0", "auto", "none"][answer % 4]
                yield {"id": f"{name} {answer}", "prompt": f"Call a function that gives an example of {name}.",
                       "max_tokens": least + 60 + MORE_TOKENS[(number + answer) % len(MORE_TOKENS)], "tools": tools,
                       "tool_choice": choice, **({"schema": schema} if choice in ("auto", "none") else {})}

    def judge_calls(self, line, result, drafts):
        calls = result.get("tool_calls") or []
        if "schema" in line and (not calls or line["tool_choice"] == "none"):
            return judge(result["text"], line["schema"], drafts[0])
        if not calls or result["finish_reason"] != "tool_calls":
            return "no call"
        if "schema" in line and result["text"]:
            return "words beside calls"
        tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in line["tools"]}
        if line["tool_choice"] == "f0" and [call["function"]["name"] for call in calls] != ["f0"]:
            return "another function than the one asked for"
        for call in calls:
            name = call["function"]["name"]
            if name not in tools:
                return f"no function {name}"
            problem = judge(call["function"]["arguments"], tools[name], drafts[int(name[1:])])
            if problem:
                return problem
        return None

    def generate(self, lines):
        with open(self.path("in.jsonl"), "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        most = max(line["max_tokens"] for line in lines)
        subprocess.run([self.options.program, "run", "--model", self.options.model, "--input", self.path("in.jsonl"),
                        "--output", self.path("out.jsonl"), "--max-tokens", str(most), "--temperature", "1",
                        "--max-failures", "100%", "--provenance"], check=True)
        with open(self.path("out.jsonl")) as file:
            results = [json.loads(line) for line in file]
        if [result["id"] for result in results] != [line["id"] for line in lines]:
            sys.exit("answers.py: the results are not those of the lines")
        return results

    def complain(self, line, what):
        self.wrong += 1
        print(f"answers.py: {what}\n   {json.dumps(line)}", file=sys.stderr)

    def run(self):
        with gzip.open(self.options.suite, "rt") as file:
            chosen = self.choose(map(json.loads, file))
        if self.options.tools:
            # A function's arguments are an object.
            chosen = [one for one in chosen if isinstance(one[1], dict) and one[1].get("type") == "object"]
            self.options.schemas = min(self.options.schemas, len(chosen))
        lines = list(self.tool_lines(chosen) if self.options.tools else self.lines(chosen))
        results = self.generate(lines)
        counts, errors, attempts = collections.Counter(), collections.Counter(), collections.Counter()
        for number, (line, result) in enumerate(zip(lines, results)):
            if "error" in result:
                code = result["error"]["code"]
                errors[code] += 1
                # Three large schemas may be more than the model's context holds.
                if code != "invalid_answer" and not (self.options.tools and code == "prompt_too_long"):
                    self.complain(line, f"{code}: {result['error']['message']}")
                continue
            counts["done"] += 1
            attempts[int(result.get("provenance", {}).get("attempts", 1))] += 1
            counts["length"] += result["finish_reason"] == "length"
            used = result["usage"]["completion_tokens"]
            counts["tokens"] += used
            if used > line["max_tokens"]:
                self.complain(line, f"{used} tokens")
            place = number // self.options.answers
            if self.options.tools:
                drafts = [chosen[(place + step) % len(chosen)][2]["draft"] for step in range(3)]
                counts["calls"] += len(result.get("tool_calls") or [])
                problem = self.judge_calls(line, result, drafts)
            else:
                problem = judge(result["text"], line["schema"], chosen[place][2]["draft"])
            if problem:
                self.complain(line, f"{problem}: {result['text']}")
        if errors["invalid_answer"] > len(lines) / 20:
            self.wrong += 1
        print(json.dumps({
            "schemas": len(chosen), "lines": len(lines), **counts, "errors": errors,
            "attempts": dict(sorted(attempts.items())),
            "validated_schemas": sum(bool(said["validated"]) for _, _, said in chosen),
            "drafts": collections.Counter(said["draft"] for _, _, said in chosen), "wrong": self.wrong}))
        return 1 if self.wrong or len(chosen) < self.options.schemas else 0


def unlike(pairs):
    """A JSON object, whose names differ."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a member comes twice")
    return dict(pairs)


def no_number(text):
    raise ValueError(f"{text} is no JSON")


def judge(text, schema, draft):
    """What is wrong with an answer, None if nothing is."""
    try:
        value = json.loads(text, object_pairs_hook=unlike, parse_constant=no_number)
    except ValueError as error:
        return f"does not parse, {error}"
    kind = getattr(jsonschema, draft)
    checker = jsonschema.FormatChecker([name for name in FORMATS if name in kind.FORMAT_CHECKER.checkers])
    error = jsonschema.exceptions.best_match(kind(schema, format_checker=checker).iter_errors(value))
    return error and f"does not validate, {error.json_path} against {'/'.join(map(str, error.schema_path))}"


def main():
    options = parse()
    if not jsonschema or not os.path.exists(options.suite):
        print(f"answers.py: skipped: it needs {options.suite} and the Python package jsonschema[format-nongpl]")
        return 0
    if options.folder:
        os.makedirs(options.folder, exist_ok=True)
        return Answers(options, options.folder).run()
    with tempfile.TemporaryDirectory() as folder:
        return Answers(options, folder).run()


if __name__ == "__main__":
    sys.exit(main())
