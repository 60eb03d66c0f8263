"""What the steps of a job cost: the same requests as one flat job, and as a job a step.

    python3 Tests/Benchmarks/Steps/throughput.py .build/release/phibatch --model FOLDER [--rows 400] [--rounds 3] [--workers 32]

A job of three steps (question, answer, judge) runs over made-up notices at temperature 0. Then all its requests run again
as lines of one flat job, and as three jobs one after the other. Prints each one's seconds, and the ratio to the flat
job's (the median of the rounds). The answers must be the same; exit status 1 if one differs. Nothing else may run
meanwhile, or the ratios mean little.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

PROMPTS = {
    "question": "Ask one short question about this notice. {notice}",
    "answer": "Answer in one sentence. {notice} {question}",
    "judge": "Notice: {notice} Question: {question} Answer: {answer} Say in a few words if that is right.",
}
TOKENS = {"question": 24, "answer": 40, "judge": 12}
THINGS = ["bicycle", "boat", "piano", "stove", "ladder", "tent", "desk", "lamp", "cart", "clock"]
PLACES = ["Mill Lane", "Harbour Street", "the old town hall", "the station", "the market", "Church Road"]


def notices(count):
    random.seed(5)
    for number in range(count):
        yield "For sale: %s, %d years old, %d euros, to be seen at %s after %d. Number %d." % (
            random.choice(THINGS), random.randint(1, 30), random.randint(5, 900), random.choice(PLACES),
            random.randint(1, 8), number)


def write(path, rows):
    with open(path, "w") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")


def seconds(program, folder, job):
    """What one run takes, the loading of the model included."""
    path = os.path.join(folder, "job.json")
    with open(path, "w") as file:
        json.dump(job, file)
    start = time.monotonic()
    subprocess.run([program, "run", "-q", "--restart", path], check=True)
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--model", required=True)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=32)
    options = parser.parse_args()
    program, model = os.path.abspath(options.program), os.path.abspath(options.model)
    with tempfile.TemporaryDirectory() as folder:
        lines = list(notices(options.rows))
        write(os.path.join(folder, "rows.jsonl"),
              [{"id": "r%d" % number, "notice": notice} for number, notice in enumerate(lines)])
        common = {"model": model, "workers": options.workers, "temperature": 0}
        places = {name: "{{ notice }}" if name == "notice" else "{{ %s.text }}" % name
                  for name in ["notice", *PROMPTS]}
        stepped = dict(common, input="rows.jsonl", output="steps.jsonl", steps=[
            {"name": name, "prompt": prompt.format(**places), "max_tokens": TOKENS[name]}
            for name, prompt in PROMPTS.items()])
        times = {"steps": [], "flat": [], "three": []}
        expected = {}
        for number in range(options.rounds + 1):
            took = seconds(program, folder, stepped)
            if number:
                times["steps"].append(took)
            requests = {name: [] for name in PROMPTS}
            with open(os.path.join(folder, "steps.jsonl")) as file:
                for notice, row in zip(lines, map(json.loads, file)):
                    known = {"notice": notice}
                    for name, prompt in PROMPTS.items():
                        known[name] = row[name]["text"]
                        key = "%s-%s" % (row["id"], name)
                        expected[key] = known[name]
                        requests[name].append(
                            {"id": key, "prompt": prompt.format(**{"question": "", "answer": "", **known}),
                             "max_tokens": TOKENS[name]})
            jobs = {"flat": [sum(requests.values(), [])], "three": list(requests.values())}
            for kind, inputs in jobs.items():
                took = 0
                for rows in inputs:
                    write(os.path.join(folder, "flat.jsonl"), rows)
                    took += seconds(program, folder, dict(common, input="flat.jsonl", output="flat-out.jsonl"))
                    with open(os.path.join(folder, "flat-out.jsonl")) as file:
                        for row in map(json.loads, file):
                            if row["text"] != expected[row["id"]]:
                                sys.exit("%s: %r is not %r" % (row["id"], row["text"], expected[row["id"]]))
                # The first round warms caches.
                if number:
                    times[kind].append(took)
        for kind, all in times.items():
            ratios = [flat / own for flat, own in zip(times["flat"], all)]
            print("%-6s %6.1f s (median), %.3f of the flat job's speed (%s)" % (
                kind, statistics.median(all), statistics.median(ratios), ", ".join("%.3f" % r for r in ratios)))


main()
