#!/usr/bin/env python3
"""Kills real jobs over and over and compares what comes out with an undisturbed run.

    torture.py [--kills 200] [--quick] [--seed N] [--program FILE] [--model FOLDER] [--engine mlx] [--keep]

Each round runs one job to its end through many processes; every fourth job has more results than the program
keeps in memory, and two of four have two samples of answers that follow schemas and regular expressions or are
choices, some of them generated anew. Every process has its own number of workers, threads, prefill chunk, guesses,
memory for KV caches and kernel variant, and most are ended at a random moment: by SIGKILL, or (one in eight) by SIGTERM,
SIGINT or SIGHUP, which must be obeyed within 2 seconds. A quarter of the ends comes when only a few results are
missing, a fifth while the output is written and put in place and the log packed, the others at any time, the
start included. At the end of a round the results must be those of the undisturbed run, byte for byte but for the
`timing` members.
After that come the jobs with steps in jobs/, in turn, with as many kills together; half of their rounds keep answers in
a folder. With --quick they are short, and killed a third as often.
With --engine mlx results may differ where rounding decides: how many do is counted, and is no complaint. On a processor
it takes a small model, such as one of 64 hidden values, to get anywhere between two kills.
Exit status 1 if anything is lost, doubled or different, or if the program ever misbehaves.
"""
import argparse
import collections
import gzip
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMING = re.compile(rb',"timing":\{[^{}]*\}')
# In a log sums cover the times.
LOG_TIMING = re.compile(rb'"sum":"[0-9a-f]*",|,"timing":\{[^{}]*\}|,"size":\d+,"content":"[0-9a-f]*"')
LEAVE_SECONDS = 2.0
HANG_SECONDS = 600


def leave_seconds():
    """What is allowed now: where many others want the same processors, each gets to leaving later."""
    waiting = os.getloadavg()[0]
    try:
        with open("/proc/stat") as file:
            waiting = max(waiting, float(re.search(r"^procs_running (\d+)", file.read(), re.M)[1]))
        processors = len(os.sched_getaffinity(0))
    except (OSError, AttributeError):
        processors = os.cpu_count()
    # The job itself takes as many as there are, and some.
    return LEAVE_SECONDS * max(1, waiting / processors - 1)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="short jobs with steps")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--program", default=os.path.join(TOP, ".build/release/phibatch"))
    parser.add_argument("--model", default=os.path.join(TOP, "models/smollm2-demo"))
    parser.add_argument("--engine", default="cpu", choices=["cpu", "mlx"])
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    return parser.parse_args()


def lines(rng):
    """Prompts of varied length; half are sampled, some have penalties, some end early, two are broken."""
    words = "sea stone river lamp orchard engine winter letter bridge clock".split()
    for number in range(28):
        prompt = " ".join(rng.choice(words) for _ in range(rng.choice([3, 8, 20, 90])))
        line = {"id": f"line-{number}", "prompt": f"Tell me about: {prompt}"}
        line["max_tokens"] = rng.choice([4, 20, 40, 60])
        if number % 2:
            line["temperature"] = 0.9
        if number % 7 == 3:
            line["stop"] = ["\n", ". "]
        if number % 3 == 1:
            line["repetition_penalty"] = 1.2
            line["frequency_penalty"] = 0.3
        if number % 4 == 2:
            line["presence_penalty"] = 0.8
            line["logit_bias"] = {"28": -100, "198": 2.5}
        yield json.dumps(line)
    yield '{"id": "broken", "prompt": '
    yield '{"id": "line-0", "prompt": "a duplicate"}'


def many(few):
    """The same with more lines than the program keeps in memory: those without a prompt cost next to nothing."""
    empty = [json.dumps({"id": f"empty-{number}"}) for number in range(17000)]
    return empty[:8500] + few + empty[8500:]


def rows(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


COLOURS = ["red", "green", "blue", "black", "white"]
TREE = {"$ref": "#/$defs/node", "$defs": {"node": rows(name={"type": "string", "maxLength": 8},
                                                       parts={"type": "array", "items": {"$ref": "#/$defs/node"}})}}
# What lines ask of their answers. Masks can't decide the third and the fourth: many are generated anew, some fail.
FORMS = [
    {"schema": rows(name={"type": "string", "minLength": 2, "maxLength": 20}, born={"type": "string", "format": "date"},
                    size={"type": "number", "minimum": 0.5, "maximum": 99, "multipleOf": 0.25})},
    {"schema": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 2, "maxProperties": 5}},
    {"schema": {"type": "array", "items": {"enum": COLOURS}, "minItems": 3, "maxItems": 3, "uniqueItems": True}},
    {"schema": rows(text={"type": "string", "minLength": 8, "not": {"pattern": "[aeo] "}}, more={})},
    {"schema": TREE},
    {"regex": "[A-Z][a-z]{2,12}( [a-z]{1,12}){2,6}[.!]"},
    {"choices": ["yes", "no", "not sure", "no answer"]},
    {"response_format": {"type": "json_object"}},
]


def constrained(rng):
    """Each form several times, with little room and with more."""
    for number in range(3 * len(FORMS)):
        form = FORMS[number % len(FORMS)]
        line = {"id": f"form-{number}", "prompt": "Make something up about " + rng.choice(["the sea", "a lamp", "me"])}
        if "choices" not in form:
            line["max_tokens"] = rng.choice([30, 45, 60])
        yield json.dumps(line | form)


# Jobs with steps, and what makes them short.
STEPS = {"dataset": ["--until", "2", "--rows", "8"], "repair": ["--limit", "6"],
         "steps": ["--limit", "4"]}


class Job:
    """An input or a job file, settings, and what an undisturbed run makes of it."""
    def __init__(self, name, settings, budgets=("auto",), lines=()):
        self.name = name
        self.settings = settings
        self.budgets = budgets
        self.text = "".join(line + "\n" for line in lines)


class Torture:
    def __init__(self, options):
        self.options = options
        self.rng = random.Random(options.seed)
        self.folder = tempfile.mkdtemp(prefix="phibatch-torture-")
        self.counts = collections.Counter()
        self.complaints = []
        self.slowest_leave = 0.0
        few = list(lines(self.rng))
        plain = ["--tokens", "--logprobs", "1", "--max-failures"]
        self.jobs = [
            Job("few.jsonl", plain + ["2"], lines=few), Job("many.jsonl", plain + ["17002"], lines=many(few)),
            # A row of 60 tokens has 2 MB.
            Job("forms.jsonl",
                ["--tokens", "--temperature", "1", "--samples", "2", "--provenance", "--max-failures", "100%"],
                ("4MB", "9MB", "auto") if options.engine == "cpu" else ("200kB", "600kB", "auto"),
                lines=constrained(self.rng))]
        for job in self.jobs:
            with open(self.path(job.name), "w") as file:
                file.write(job.text)
            job.settings += ["--input", self.path(job.name), "--max-tokens", "60", "--seed", "5"]
        self.steps = [Job(name + ".jsonl", [os.path.join(TOP, "jobs", name + ".yaml")] + short * options.quick,
                          ("20MB", "60MB", "auto")) for name, short in STEPS.items()]
        self.job = self.jobs[0]
        self.is_exact = options.engine == "cpu"
        self.kernels = self.find_kernels() if self.is_exact else [None]

    def path(self, name):
        return os.path.join(self.folder, name)

    def complain(self, text):
        self.complaints.append(text)
        print("torture: " + text, flush=True)

    def start(self, output, settings, kernels=None):
        command = [self.options.program, "run", *self.job.settings, "--model", self.options.model, "--engine",
                   self.options.engine, "--output", self.path(output)]
        environment = {"PHIBATCH_CACHE": self.path("cache"), **os.environ}
        if kernels:
            environment["PHIBATCH_KERNELS"] = kernels
        self.errors = open(self.path("stderr"), "w+")
        return subprocess.Popen(command + settings, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=self.errors)

    def errors_text(self):
        self.errors.seek(0)
        return self.errors.read().strip()

    def find_kernels(self):
        """The variants of this machine, from the message about one that it lacks."""
        process = self.start("none.jsonl", [], kernels="none")
        process.wait()
        found = re.search(r"it has ([a-z0-9, -]+)", self.errors_text())
        if not found:
            sys.exit("torture: the program does not name its kernels: " + self.errors_text())
        names = found.group(1).split(", ")
        # The reference kernels are too slow to get anywhere between two kills.
        return [name for name in names if name != "reference"] or names

    def undisturbed(self):
        job = self.job
        start = time.monotonic()
        process = self.start(f"expected-{job.name}", [])
        if process.wait(HANG_SECONDS) != 0:
            sys.exit("torture: the undisturbed run failed: " + self.errors_text())
        job.seconds = time.monotonic() - start
        job.expected, job.log = self.made(f"expected-{job.name}")
        # A line for each result and one for its header; more if failed lines were tried again.
        job.whole_log = job.expected.count(b"\n")
        print(f"torture: {job.name}: {job.whole_log} lines undisturbed took {job.seconds:.1f} s", flush=True)

    def made(self, output):
        """An output but for its times, and its log, if that is packed."""
        with open(self.path(output), "rb") as file:
            results = TIMING.sub(b"", file.read())
        with open(self.path(output + ".log"), "rb") as file:
            log = file.read()
        return results, LOG_TIMING.sub(b"", gzip.decompress(log)) if log.startswith(b"\x1f\x8b") else None

    def settings(self):
        rng = self.rng
        threads = ["--threads", str(rng.choice([1, 2, 3]))] if self.is_exact else []
        return (threads + ["--workers", str(rng.choice([1, 2, 3, 7, 16, 32])),
                 "--prefill-chunk", str(rng.choice([3, 32, 512])),
                 "--speculate", rng.choice(["auto", "off", "1", "5", "24"]), "--checkpoint-interval",
                 str(rng.choice([0, 0.05, 0.3, 2])), "--kv-budget", rng.choice(self.job.budgets)],
                rng.choice(self.kernels))

    def wait(self, process, seconds):
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def wait_until(self, process, condition, pause=0.001):
        """Waits for the condition or the process's end, and not much longer than a whole run takes."""
        patience = time.monotonic() + 2 * self.job.seconds
        while process.poll() is None and not condition() and time.monotonic() < patience:
            if pause:
                time.sleep(pause)

    def results_in_log(self):
        try:
            with open(self.path("out.jsonl.log"), "rb") as file:
                return file.read().count(b',"run":"')
        except FileNotFoundError:
            return 0

    def end_at_some_moment(self, process, attempt):
        """Ends the process, or lets it end. Returns its status, None if it was killed."""
        rng = self.rng
        moment = rng.choices(["middle", "end", "finish"], [55, 25, 20])[0]
        if moment == "finish":
            # The output's draft is there, or has just been put in place, or the log is packed.
            watched = rng.choice([["out.jsonl.phibatch-new", "out.jsonl"], ["out.jsonl"]])
            watched = [self.path(name) for name in watched]
            def is_there():
                return any(map(os.path.exists, watched))
            self.wait_until(process, lambda: is_there() or self.results_in_log() >= self.job.whole_log)
            self.wait_until(process, is_there, pause=0)
            time.sleep(rng.choice([0, 0, 0.0002, 0.0005, 0.002]))
        elif moment == "end":
            wanted = self.job.whole_log - rng.choice([0, 1, 2, 3, 5])
            self.wait_until(process, lambda: self.results_in_log() >= wanted)
            time.sleep(rng.choice([0, 0, 0.001, 0.01]))
        else:
            # Seldom so late that it could end by itself; but later and later, so that a round ends.
            self.wait(process, rng.uniform(0.02, 0.5 * self.job.seconds * (1 + attempt / 20)))
        self.counts["at the " + moment] += 1
        if process.poll() is not None:
            return process.returncode
        if rng.random() < 0.125:
            number, status = rng.choice([(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
            start = time.monotonic()
            # Before its handler stands, the signal's own effect ends the process; that is as good.
            process.send_signal(number)
            code = self.wait(process, 30)
            took = time.monotonic() - start
            self.slowest_leave = max(self.slowest_leave, took)
            self.counts["signals"] += 1
            if took > leave_seconds():
                self.complain(f"{signal.Signals(number).name}: left after {took:.2f} s: {self.errors_text()}")
            if code is None:
                process.kill()
                process.wait()
                return None
            if code == 0:
                return 0
            if code not in (status, -number):
                self.complain(f"{signal.Signals(number).name}: status {code}: {self.errors_text()}")
            return None
        process.kill()
        # It may have ended by itself just before.
        code = process.wait()
        if code != -signal.SIGKILL:
            return code
        self.counts["kills"] += 1
        return None

    def check(self, when, code=None):
        """Compares the output with the undisturbed run's."""
        got, log = self.made("out.jsonl")
        self.counts["lines"] += got.count(b"\n")
        if got == self.job.expected:
            # It is put in place after the output: a kill may come between the two.
            if log != self.job.log and (log or code is not None):
                self.counts["different"] += 1
                self.complain(f"{when}: the log differs")
            return
        expected = [line for line in self.job.expected.split(b"\n") if line]
        found = [line for line in got.split(b"\n") if line]
        # Of two lines with the same id the second fails.
        def place(line):
            try:
                result = json.loads(line)
                return result["id"], result.get("sample"), "error" in result
            except ValueError:
                return line
        by_place = collections.defaultdict(list)
        for line in found:
            by_place[place(line)].append(line)
        for line in expected:
            same = by_place.pop(place(line), [])
            self.counts["lost"] += not same
            self.counts["doubled"] += len(same) > 1
            self.counts["different"] += bool(same) and same[0] != line
            if same and same[0] != line and self.is_exact:
                self.complain(f"{when}: expected {line.decode()}\n   got {same[0].decode()}")
        if self.is_exact or by_place or self.counts["lost"] + self.counts["doubled"]:
            self.counts["different"] += len(by_place) or not self.counts["lost"] + self.counts["doubled"]
            self.complain(f"{when}: the output differs")

    def round(self):
        number = self.counts["rounds"]
        self.counts["rounds"] += 1
        for name in os.listdir(self.folder):
            if name.startswith("out.jsonl"):
                os.unlink(self.path(name))
        keeping = []
        if self.job in self.steps and self.rng.random() < 0.5:
            keeping = ["--answers", tempfile.mkdtemp(prefix="answers-", dir=self.folder)]
        for attempt in itertools.count():
            settings, kernels = self.settings()
            settings += keeping
            if os.path.exists(self.path("out.jsonl.log")):
                self.counts["resumes"] += 1
            process = self.start("out.jsonl", settings, kernels)
            self.counts["runs"] += 1
            code = self.end_at_some_moment(process, attempt)
            if code is None:
                if os.path.exists(self.path("out.jsonl")):
                    # Killed after the rename: complete all the same, and the next run tidies up.
                    self.counts["killed after the rename"] += 1
                    self.check(f"round {number}, killed after the rename")
                continue
            if code != 0:
                self.complain(f"status {code} from {' '.join(settings)} {kernels}: {self.errors_text()}")
                if self.counts["failures"] > 5:
                    return
                self.counts["failures"] += 1
                continue
            self.check(f"round {number}", code)
            stay = ("out.jsonl.log", "out.jsonl.manifest.json")
            left = [name for name in os.listdir(self.folder) if name.startswith("out.jsonl.") and name not in stay]
            if left:
                self.complain(f"left behind: {left}")
            return

    def rounds(self, jobs, kills, least=0):
        """Rounds of jobs in turn, until there are so many kills."""
        start = shown = self.counts["kills"]
        for number in itertools.count():
            done = self.counts["kills"] - start
            if number >= least and done >= kills or self.counts["failures"] > 5:
                break
            self.job = jobs[number % len(jobs)]
            self.round()
            if self.counts["kills"] >= shown + 25:
                shown = self.counts["kills"]
                print(f"torture: {shown} kills, {self.counts['rounds']} rounds", flush=True)
        done = self.counts["kills"] - start
        print(f"torture: {', '.join(sorted({job.name for job in jobs}))}: {done} kills in {number} rounds", flush=True)

    def run(self):
        kernels = ", ".join(self.kernels) if self.is_exact else "of MLX"
        print(f"torture: seed {self.options.seed}, kernels {kernels}", flush=True)
        for self.job in self.jobs + self.steps:
            self.undisturbed()
        # Ended early, it says how far it came.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        # Under nohup the jobs would inherit that this one is ignored.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        try:
            few, many, forms = self.jobs
            self.rounds([few, many, forms, forms], self.options.kills)
            if self.is_exact:
                kills = self.options.kills // (3 if self.options.quick else 1)
                self.rounds(self.steps, kills, least=len(self.steps))
        except KeyboardInterrupt:
            print("torture: broken off")
        c = self.counts
        print(f"torture: {c['kills']} kills ({c['killed after the rename']} after the rename; of all ends "
              f"{c['at the middle']} in the middle, {c['at the end']} near the end, {c['at the finish']} at the "
              f"finish), {c['signals']} signals (left within {self.slowest_leave:.2f} s), {c['resumes']} resumes, {c['rounds']} rounds, "
              f"{c['lines']} lines")
        print(f"torture: lost, doubled, different: {c['lost']}, {c['doubled']}, {c['different']}")
        if self.complaints:
            print(f"torture: {len(self.complaints)} complaints, see above; seed {self.options.seed}")
        if self.options.keep or self.complaints:
            print(f"torture: files are in {self.folder}")
        else:
            shutil.rmtree(self.folder)
        return 1 if self.complaints else 0


if __name__ == "__main__":
    sys.exit(Torture(parse()).run())
