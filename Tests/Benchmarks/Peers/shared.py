#!/usr/bin/env python3
"""How much longer a job takes on a machine that it shares: with itself, and with busy loops.

    shared.py [--program FILE ...] [--model FOLDER] [--rounds N] [--lines N] [--tokens N] [--workers N]

Each round runs the job alone, two at once, one beside one busy loop for every second processor, and one beside
as many loops as there are processors. With more than one program they take turns in each round. Prints medians:
two at once over twice one alone (asked: at most 1.1), one beside loops over its share (asked: at most 1.1), and the
processor seconds that a job took over those alone. Exit status 1 if a result differs.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", action="append")
    parser.add_argument("--model", default=os.path.join(TOP, "models/smollm2-demo"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lines", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--cases", default="0,1,2,3", help="some of the four, by number")
    options = parser.parse_args()
    options.program = options.program or [os.path.join(TOP, ".build/release/phibatch")]
    return options


class Job:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.source = os.path.join(folder, "in.jsonl")
        self.results = None
        with open(self.source, "w") as file:
            for number in range(options.lines):
                prompt = f"Tell me a story about {number} ships and a lighthouse."
                file.write(json.dumps({"id": str(number), "prompt": prompt}) + "\n")

    def run(self, program, copies):
        """Seconds until all copies are done, and the processor seconds of one."""
        outputs = [os.path.join(self.folder, f"out{copy}.jsonl") for copy in range(copies)]
        for output in outputs:
            if os.path.exists(output):
                os.remove(output)
        started = time.monotonic()
        processes = [
            subprocess.Popen(
                [program, "run", "--model", self.options.model, "--input", self.source, "--output", output,
                 "--ignore-eos", "--quiet", "--speculate", "off", "--max-tokens", str(self.options.tokens),
                 "--workers", str(self.options.workers)])
            for output in outputs]
        used = 0
        for process in processes:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status
            if status != 0:
                sys.exit("shared: the job failed")
            used += usage.ru_utime + usage.ru_stime
        seconds = time.monotonic() - started
        for output in outputs:
            with open(output) as file:
                results = [(line["text"], line["usage"]) for line in map(json.loads, file)]
            if self.results not in (None, results):
                sys.exit("shared: the results differ")
            self.results = results
        return seconds, used / copies


def beside(loops, work):
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        return work()
    finally:
        for other in others:
            other.kill()
            other.wait()


def main():
    options = parse()
    processors = len(os.sched_getaffinity(0))
    # name: (copies, busy loops, the time by shares of the processors; alone = 1)
    half = max(1, processors // 2)
    cases = {
        "alone": (1, 0, 1), "two at once": (2, 0, 2),
        f"beside {half} busy": (1, half, (processors + half) / processors),
        f"beside {processors} busy": (1, processors, 2)}
    chosen = set(options.cases.split(",")) | {"0"}
    cases = {name: case for number, (name, case) in enumerate(cases.items()) if str(number) in chosen}
    times = {}
    with tempfile.TemporaryDirectory(prefix="phibatch-shared-") as folder:
        job = Job(options, folder)
        for _ in range(options.rounds):
            for name, (copies, loops, _) in cases.items():
                for program in options.program:
                    measured = beside(loops, lambda: job.run(program, copies))
                    times.setdefault((program, name), []).append(measured)
    for program in options.program:
        print(f"{program}, {options.workers} workers")
        for name, (_, _, share) in cases.items():
            rows = times[program, name]
            alone = times[program, "alone"]
            ratio = statistics.median(row[0] / base[0] / share for row, base in zip(rows, alone))
            cpu = statistics.median(row[1] / base[1] for row, base in zip(rows, alone))
            seconds = statistics.median(row[0] for row in rows)
            each = " ".join(f"{row[0]:.2f}" for row in rows)
            print(f"  {name:15} {seconds:6.2f} s; over its share {ratio:.2f}; processor time {cpu:.2f}   [{each}]")


main()
