"""What a line costs outside the model: a million short lines through a model that is next to nothing.

    python3 -B Tests/Benchmarks/PerLineCost/cost.py .build/release/phibatch --maker SYNTHETIC_MODEL.py
        [--lines 1000000] [--tokens 2] [--sync-ms 10]

Prints the processor time of a line in microseconds, of all threads; what the model takes of it, told by one that is
some times as large; the rest, and which part that is of the 12,800 microseconds in which 5,000 tokens/s make a line's 64
tokens; and the peak memory. Every sync takes so many milliseconds more (Linux, with a C compiler): which threads waited
for one is counted, and the thread of the steps may only do so before the first line and after the last. Exit status 1 if
the part is above a hundredth, or if the steps waited for the disk. Processor time counts, so that others on the machine
change little. The maker needs Python's numpy.
"""

import argparse
import collections
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

LINE_US = 64 / 5000 * 1e6
SHAPE = "--hidden 64 --heads 2 --kv-heads 2 --intermediate 64 --dtype F16".split()
# A model that has as many times the layers and the vocabulary takes as many times the time.
TIMES = 9
# Beginning and end of a run, whatever its length: locks, drafts, names that are put in place.
MOST_OWN_SYNCS = 20


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--maker", required=True)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--tokens", type=int, default=2)
    parser.add_argument("--sync-ms", type=int, default=10)
    return parser.parse_args()


def slow_syncs(folder, milliseconds):
    """The environment in which syncs are slow; nothing where that can't be."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if not milliseconds or not compiler or sys.platform != "linux":
        print("syncs are as the disk has them")
        return {}
    library = os.path.join(folder, "slow_sync.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slow_sync.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    return {"LD_PRELOAD": library, "SLOW_SYNC_MS": str(milliseconds), "SLOW_SYNC_LOG": os.path.join(folder, "syncs")}


class Lines:
    def __init__(self, options, folder):
        self.options, self.folder, self.waits = options, folder, collections.Counter()
        self.environment = slow_syncs(folder, options.sync_ms)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, times, count):
        """Seconds of processors that a run took."""
        options, chance, model = self.options, random.Random(1), self.path(f"model-{times}")
        size = ["--layers", str(times), "--vocab", str(320 * times)]
        subprocess.run([sys.executable, options.maker, model, *SHAPE, *size], check=True, stdout=subprocess.DEVNULL)
        with open(self.path("in.jsonl"), "w") as file:
            for number in range(count):
                prompt = [chance.randrange(3, 300) for _ in range(4)]
                file.write(json.dumps({"id": "line-%d" % number, "prompt": prompt}) + "\n")
        job = {"model": model, "input": "in.jsonl", "output": f"out-{times}-{count}.jsonl", "max_tokens": options.tokens, "workers": 32,
               "ignore_eos": True, "temperature": 0, "speculate": "off", "threads": 1}
        with open(self.path("job.json"), "w") as file:
            json.dump(job, file)
        # What the compiler and the maker took is not the program's.
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([options.program, "run", "-q", self.path("job.json")], check=True,
                       env={**os.environ, **self.environment})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(self.path(job["output"]), "rb") as file:
            results = sum(1 for _ in file)
        if results != count:
            sys.exit(f"cost.py: {results} results of {count} lines")
        if self.environment:
            with open(self.environment["SLOW_SYNC_LOG"]) as file:
                self.waits = collections.Counter(file.read().splitlines())
            os.remove(self.environment["SLOW_SYNC_LOG"])
        return sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        lines = Lines(options, folder)
        few = max(options.lines // 10, 1)
        short, large = lines.run(1, few), lines.run(TIMES, few)
        whole = lines.run(1, options.lines)
    all_us = (whole - short) / (options.lines - few) * 1e6
    model_us = (large - short) / (TIMES - 1) / few * 1e6
    rest_us = all_us - model_us
    print(f"{options.lines} lines: {all_us:.1f} us of a processor each, of it the model {model_us:.1f}, the rest {rest_us:.1f}: "
          f"{100 * rest_us / LINE_US:.2f} % at 5,000 tokens/s and 64 tokens a line; "
          f"peak memory {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MB")
    print("waits for syncs, by thread: " + (", ".join(f"{name} {count}" for name, count in lines.waits.most_common())
                                            or "none"))
    # A thread's name has 15 bytes.
    own = lines.waits[os.path.basename(options.program)[:15]]
    if rest_us > LINE_US / 100 or own > MOST_OWN_SYNCS:
        sys.exit(1)


if __name__ == "__main__":
    main()
