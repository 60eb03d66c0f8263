"""What phibatch is asked for by itself, with no peer to compare with: `bench_peers.py --works prefix,start`.

`prefix`: a job of 64 lines that begin with the same 1,000 tokens, and the same job with 20 common tokens; each
line has 128 tokens of its own, and 128 are generated. Memory and the time around the model are those jobs', too.
`start`: one line with one token, weights packed before.
"""
import random
import re
import statistics
import time

LINES, OWN, GENERATE = 64, 128, 128
LONG, SHORT = 1000, 20
# Filled by the 64 lines with Phi-3-mini's shapes, and enough for 32 of them at once.
KV_BUDGET = 2_500_000_000
STARTS = 5

WORKS = ("prefix", "start")
# work, key: (what it is, how its value is shown, what is asked at most)
ASKED = {
    ("prefix", "ratio"): (f"time of {LINES} lines behind {LONG} common tokens, behind {SHORT} = 1", "{:.2f}", 1.3),
    ("prefix", "long"): (f"behind {LONG}, s", "{:.1f}", ""),
    ("prefix", "short"): (f"behind {SHORT}, s", "{:.1f}", ""),
    ("prefix", "memory"): ("peak memory less weights and KV budget, MB", "{:.0f}", 400),
    ("prefix", "idle"): ("outside the model's steps, % of the time since the first", "{:.1f}", 1),
    ("prefix", "around"): ("the same with start, loading and exit, % of the job", "{:.1f}", ""),
    ("start", "seconds"): ("start: one token in a finished file, s", "{:.2f}", 1.5),
}


def prompts(rng, vocabulary, lines, common, own):
    """Random token ids, new ones each time: no result of an earlier run counts."""
    def ids(count):
        return [rng.randrange(3, vocabulary) for _ in range(count)]

    beginning = ids(common)
    return [beginning + ids(own) for _ in range(lines)]


def measure(phibatch, work):
    """What ASKED names, measured once."""
    rng = random.Random(time.time())
    return {"prefix": prefix, "start": start}[work](phibatch, rng)


def prefix(phibatch, rng):
    def run(common):
        return phibatch.run_lines(prompts(rng, phibatch.vocab, LINES, common, OWN), GENERATE, kv_budget=KV_BUDGET)

    long, short = run(LONG), run(SHORT)
    # Weights of 4 bits take as much room packed as in the checkpoint.
    weights = sum(f.stat().st_size for f in phibatch.model.glob("*.safetensors"))
    idle, around = outside(short)
    return {"ratio": long.seconds / short.seconds, "long": long.seconds, "short": short.seconds,
            "memory": (max(long.peak, short.peak) - weights - KV_BUDGET) / 1e6, "idle": idle, "around": around}


def start(phibatch, rng):
    def run():
        return phibatch.run_lines(prompts(rng, phibatch.vocab, 1, 0, 8), 1).seconds

    run()  # packs the weights
    return {"seconds": statistics.median(run() for _ in range(STARTS))}


def outside(run):
    """Percent of a job's time not spent in steps of the model: as the run itself says, counted from the first
    request's admission to the finished file; and with all before and after, from the command on.

    The run tells its seconds rounded from a minute on, so the second figure may be 0.3 off in 200 s.
    """
    prefill, decode, idle = map(float, re.search(
        r"prefill ([\d.]+) %, decode ([\d.]+) %, idle ([\d.]+) %", run.errors).groups())
    *larger, last = re.search(
        r"completion tokens, [\d.]+ tokens/s, ([\d.:]+) (?:s|min|h)\n", run.errors)[1].split(":")
    seconds = float(last)
    for power, part in enumerate(reversed(larger), 1):
        seconds += 60**power * int(part)
    return idle, 100 - (prefill + decode) * seconds / run.seconds


def table(results):
    print("\n| phibatch alone | measured (lowest to highest) | asked at most |\n|---|---|---|")
    for (work, key), (what, shown, asked) in ASKED.items():
        values = [round_[key] for round_ in results.get(work, [])]
        if values:
            median, low, high = map(shown.format, (statistics.median(values), min(values), max(values)))
            print(f"| {what} | {median} ({low} to {high}) | {asked} |")
