"""What guessing ahead gives on real texts: licences and manual pages that are copied with edits, summarized and searched,
and jobs as datasets are made with: many prompts of one kind, about as many commands, whose answers have much in common.

    python3 Tests/Benchmarks/Guesses/texts.py .build/release/phibatch --model FOLDER
        [--workers 1,8,32] [--lines 12] [--tokens 160] [--rounds 3] [--temperature 0] [--json FILE]

Runs each task's job with `speculate: off` and `auto` in turn, at each number of workers, and compares the results: the
same bytes but for the times. Prints for each the tokens a second, their ratio (the median of the rounds), that of the
times which answers took after their prompts, how many guesses were right, and how many tokens came of each row that was
not guessed, which doesn't depend on what else runs. Prompts take as long with guesses as without. At the end the
medians over the tasks. Nothing else may run meanwhile, or the ratios mean little. Jobs have four times as many lines.
Exit status 1 if any result differs. The texts are those of this system (/usr/share/common-licenses, /usr/share/man);
without them it says so and ends well.
"""

import argparse
import glob
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

TASKS = {
    "copy": "Copy the text below word for word, but write each number in digits.",
    "edit": "Write the text below again, with \"the user\" instead of \"you\", and change nothing else.",
    "extract": "Quote the sentences of the text below that say what one must do.",
    "summarize": "Summarize the text below in three sentences.",
    "free": "Tell a short story that begins as the text below and then turns into a tale of the sea.",
}
# Of many commands, each with its purpose.
JOBS = {
    "form": "Fill in this form for the command '{0}' ({1}):\n\nName:\nPurpose:\nWho uses it:\nInput:\nOutput:\nExample:",
    "question": "Write a question that a beginner might ask about the command '{0}' ({1}), and answer it in three "
                "sentences.",
    "json": "Describe the command '{0}' ({1}) as a JSON object with the keys name, purpose, audience, input, output and "
            "example. Write nothing else.",
}
LINES_OF_JOBS = 4


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--model", required=True)
    parser.add_argument("--workers", default="1,8,32")
    parser.add_argument("--lines", type=int, default=12)
    parser.add_argument("--tokens", type=int, default=160)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--temperature", default="0")
    parser.add_argument("--tasks", default=",".join([*TASKS, *JOBS]))
    parser.add_argument("--json")
    return parser.parse_args()


def paragraphs():
    """Stretches of 600 to 1,200 characters, from texts that people read."""
    for path in sorted(glob.glob("/usr/share/common-licenses/*")):
        if not os.path.islink(path):
            with open(path, errors="replace") as file:
                yield from stretches(file.read())
    for path in sorted(glob.glob("/usr/share/man/man1/*.gz"))[::7]:
        with gzip.open(path, "rt", errors="replace") as file:
            text = file.read()
        lines = [re.sub(r"\\[-&]|\\f.", lambda found: "-" if found[0] == "\\-" else "", line)
                 for line in text.splitlines() if not line.startswith((".", "'"))]
        yield from stretches("\n".join(lines))


def stretches(text):
    words = re.sub(r"\s+", " ", text)
    for start in range(0, len(words) - 600, 3000):
        yield words[start:start + 900].rsplit(" ", 1)[0].split(" ", 1)[-1]


def commands():
    """Names of commands, each with what its manual page says it is for."""
    for path in sorted(glob.glob("/usr/share/man/man1/*.gz")):
        with gzip.open(path, "rt", errors="replace") as file:
            found = re.search(r"^\.SH \"?NAME\"?\n(?:\.\\\".*\n)?(.+)\n", file.read(6000), re.M)
        line = re.sub(r"\\f.|\\&", "", found[1]).replace("\\-", "-") if found else ""
        if found := re.match(r"([A-Za-z0-9_+.-]+) +-+ +(\S.{10,80})$", line):
            yield found.groups()


def spread(all, count):
    return all[::len(all) // count][:count]


def prompts(args, texts, known):
    """For each task its prompts."""
    for task, instruction in TASKS.items():
        yield task, [f"{instruction}\n\n{text}" for text in spread(texts, args.lines)]
    for task, form in JOBS.items():
        yield task, [form.format(*command) for command in spread(known, LINES_OF_JOBS * args.lines)]


def run(args, folder, task, workers, speculate):
    output = os.path.join(folder, "out.jsonl")
    for name in glob.glob(output + "*"):
        os.remove(name)
    command = [args.program, "run", "--model", args.model, "--input", os.path.join(folder, task + ".jsonl"),
               "--output", output, "--workers", str(workers), "--max-tokens", str(args.tokens), "--temperature",
               args.temperature, "--seed", "1", "--speculate", speculate, "--checkpoint-interval", "60"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    speed = float(re.search(r"completion tokens, ([\d.]+) tokens/s", done.stderr)[1])
    found = re.search(r"drafted: (\d+) tokens, (\d+) of them right", done.stderr)
    guesses = (int(found[1]), int(found[2])) if found else (0, 0)
    with open(output) as file:
        results = [json.loads(line) for line in file]
    decode = sum(result.pop("timing")["decode"] for result in results)
    tokens = sum(result["usage"]["completion_tokens"] for result in results)
    return speed, decode, guesses, tokens, json.dumps(results)


def main():
    args = parse()
    texts, known = list(paragraphs()), list(commands())
    if len(texts) < args.lines or len(known) < LINES_OF_JOBS * args.lines:
        print("there are no licences and manual pages here to try it with")
        return 0
    differ, figures = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for task, lines in prompts(args, texts, known):
            if task not in args.tasks.split(","):
                continue
            with open(os.path.join(folder, task + ".jsonl"), "w") as file:
                file.writelines(json.dumps({"prompt": line}) + "\n" for line in lines)
            for workers in map(int, args.workers.split(",")):
                ratios, speeds, decodes = [], {"off": [], "auto": []}, {"off": 0, "auto": 0}
                for _ in range(args.rounds):
                    results = {}
                    for speculate in speeds:
                        speed, decode, guesses, tokens, results[speculate] = run(
                            args, folder, task, workers, speculate)
                        decodes[speculate] += decode
                        speeds[speculate].append(speed)
                    differ += results["off"] != results["auto"]
                    ratios.append(speeds["auto"][-1] / speeds["off"][-1])
                figure = {"task": task, "workers": workers, "tokens": tokens,
                          "off": statistics.median(speeds["off"]), "auto": statistics.median(speeds["auto"]),
                          "ratio": round(statistics.median(ratios), 3), "lowest": round(min(ratios), 3),
                          "decode": round(decodes["off"] / decodes["auto"], 3),
                          "guessed": guesses[0], "right": guesses[1],
                          "per_row": round(tokens / (tokens - guesses[1]), 3)}
                figures.append(figure)
                print("{task:10} {workers:3} workers: {off:7.1f} {auto:7.1f} tokens/s, {ratio:.2f} times as fast "
                      "(lowest {lowest:.2f}, decode {decode:.2f}); {guessed} guesses, {right} right, {tokens} tokens, {per_row:.2f} a row"
                      .format(**figure),
                      flush=True)
    if args.json:
        with open(args.json, "w") as file:
            json.dump(figures, file, indent=1)
    for workers in map(int, args.workers.split(",")):
        ratios, decodes = ([figure[name] for figure in figures if figure["workers"] == workers]
                           for name in ("ratio", "decode"))
        print(f"{workers} workers: {statistics.median(ratios):.2f} times as fast (the median), at least "
              f"{min(ratios):.2f}; decode {statistics.median(decodes):.2f}")
    print(f"runs whose results differ: {differ}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
