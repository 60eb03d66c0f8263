#!/usr/bin/env python3
"""How much longer a job takes because its ceiling is high, though its answers are short.

    ceilings.py [--program FILE] [--model FOLDER] [--rounds N] [--lines N] [--at-most RATIO]

Lines whose answers stop after 60 tokens (at a stop string of their own: the end of what 60 tokens say) run with
max_tokens 64 and 4096 in turn, in a KV cache with room for 8 ceilings of 4096. Prints both medians and their
ratio; exit status 1 if it is above --at-most, or if an answer differs.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
SHORT, LOW, HIGH, CEILINGS = 60, 64, 4096, 8


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=os.path.join(TOP, ".build/release/phibatch"))
    parser.add_argument("--model", default=os.path.join(TOP, "models/smollm2-demo"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lines", type=int, default=64)
    parser.add_argument("--at-most", type=float, default=1.15)
    return parser.parse_args()


class Job:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def run(self, lines, *settings, check=True):
        """Returns the results and the seconds of the whole process."""
        source, output = (os.path.join(self.folder, name) for name in ("in.jsonl", "out.jsonl"))
        with open(source, "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        command = [self.options.program, "run", "--model", self.options.model, "--input", source,
                   "--output", output, "--restart", "--ignore-eos", "--speculate", "off", *settings]
        start = time.monotonic()
        process = subprocess.run(command, capture_output=True, text=True)
        seconds = time.monotonic() - start
        if process.returncode != 0:
            if check:
                sys.exit("ceilings: " + process.stderr)
            return process.stderr, seconds
        with open(output) as file:
            return [json.loads(line) for line in file], seconds


def stop_of(text):
    """The shortest end of a text that comes up nowhere before it."""
    for length in range(4, len(text)):
        if text.find(text[-length:]) == len(text) - length:
            return text[-length:]
    return None


def main():
    options = parse()
    with tempfile.TemporaryDirectory(prefix="phibatch-ceilings-") as folder:
        job = Job(options, folder)
        lines = [{"id": str(number), "prompt": f"Tell me a story about {number} ships and a lighthouse."}
                 for number in range(options.lines)]
        answers, _ = job.run(lines, "--max-tokens", str(SHORT))
        for line, answer in zip(lines, answers):
            stop = stop_of(answer["text"].rstrip("\ufffd"))
            if stop:
                line["stop"] = [stop]
        # The message about a ceiling that doesn't fit has its size.
        message, _ = job.run(lines[:1], "--max-tokens", str(HIGH), "--kv-budget", "2MB", check=False)
        needed = re.search(r"need (\d+) bytes", message)
        if not needed:
            sys.exit("ceilings: no size of a ceiling in: " + message)
        budget = ["--kv-budget", str(CEILINGS * int(needed.group(1)))]
        times = {LOW: [], HIGH: []}
        results = {}
        for _ in range(options.rounds):
            for limit in times:
                answers, seconds = job.run(lines, "--max-tokens", str(limit), *budget)
                times[limit].append(seconds)
                results[limit] = [(answer["text"], answer["usage"]) for answer in answers]
        counts = [usage["completion_tokens"] for _, usage in results[HIGH]]
        low, high = (statistics.median(times[limit]) for limit in times)
        print(f"{len(lines)} lines of {min(counts)} to {max(counts)} tokens: {low:.2f} s with max_tokens {LOW}, "
              f"{high:.2f} s with {HIGH}: {high / low:.3f} times")
        if results[LOW] != results[HIGH]:
            sys.exit("ceilings: the answers differ")
        sys.exit(high / low > options.at_most)


main()
