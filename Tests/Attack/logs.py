"""An output's log that is not as it was left: torn, cut, swapped, with other bits. The same command is refused with a
message, and nothing is lost; or it ends with the right rows. Then --restart does."""
import os
import random
import shutil

from harness import Job, REFUSALS, case, expect, results
from kills import Scene, in_parallel, spread

LOG = "out.jsonl.log"


def read(folder):
    with open(os.path.join(folder, LOG), "rb") as file:
        return file.read()


class Finished:
    """A job that was done, and then got another line, so that its results are needed again."""
    name = "finished"

    def __init__(self, bench):
        self.bench = bench
        self.before = bench.subfolder("before")
        bench.small.write(self.before)
        bench.run(bench.command(bench.small.settings), self.before).must_end_with(0)
        self.job = Job(bench.small.settings, bench.small.lines + ['{"id":"new","prompt":"Yes"}'])
        self.job.write(self.before)

    def copy(self):
        folder = self.bench.subfolder("trial")
        shutil.copytree(self.before, folder, symlinks=True, dirs_exist_ok=True)
        return folder


def trial(scene, log, what):
    bench, folder, what = scene.bench, scene.copy(), f"{scene.name}, {what}"
    with open(os.path.join(folder, LOG), "wb") as file:
        file.write(log)
    before, expected = results(folder), bench.expected(scene.job)
    command = bench.command(scene.job.settings)
    run = bench.run(command, folder, what=what).must_end_with(0, *REFUSALS, what=what)
    if run.code != 0:
        expect(results(folder) == before, f"{what}: refused, and yet the output is another one")
        expect(read(folder) == log, f"{what}: refused, and yet the log is another one")
        # Done as the message says.
        if b"move it away" in run.err:
            os.rename(os.path.join(folder, LOG), os.path.join(folder, "away"))
        bench.run(command + ["--restart"], folder, what=what).must_end_with(0, what=f"{what}, --restart: after {run}")
    expect(results(folder) == expected, lambda: f"{what}: the results are {results(folder)[-300:]}")
    # And all is well for the next run.
    bench.run(command, folder, what=what).must_end_with(0, what=f"{what}, again")
    expect(results(folder) == expected, f"{what}: the next run's results are others")
    shutil.rmtree(folder)


def attack(bench, logs):
    """Tries what `logs` makes of the log of a stopped job, and of a finished one: pairs of bytes and words."""
    trials = []
    for scene in (Scene(bench, "resumed"), Finished(bench)):
        bench.expected(scene.job)
        made = list(logs(read(scene.before)))
        trials += [(trial, scene, log, what) for log, what in spread(made, 4 if bench.quick else 60)]
    in_parallel(bench, trials)


@case("logs/torn", quick=True)
def torn(bench):
    """Cut after each record, in its middle, and one byte before and after its end; each record taken out."""
    def logs(log):
        ends = [0] + [place + 1 for place, byte in enumerate(log) if byte == 10]
        for start, end in zip(ends, ends[1:] + [len(log)]):
            for cut in (end, (start + end) // 2, end - 1, end + 1):
                yield log[:cut], f"cut at {cut} of {len(log)}"
            yield log[:start] + log[end:], f"without {start} to {end}"
            yield log[:end] + log[start:], f"with {start} to {end} twice"
    attack(bench, logs)


@case("logs/header", quick=True)
def header(bench):
    """Nothing left but the header, no header, and zeros in place of the end, as a power cut leaves them."""
    def logs(log):
        start = log.find(b'{"sum"')
        end = log.find(b"\n", max(0, start)) + 1
        yield log[:end], "its header alone"
        yield log[:max(0, start)] + log[end:], "without its header"
        for cut in (end, len(log) // 2, len(log) - 1):
            yield log[:cut] + bytes(len(log) - cut), f"zeros from {cut}"
        yield bytes(len(log)), "zeros"
        yield b"", "nothing"
    attack(bench, logs)


@case("logs/bits", quick=True)
def bits(bench):
    """One bit is another."""
    def logs(log):
        chance = random.Random(5)
        for place in sorted(chance.sample(range(len(log)), min(60, len(log)))):
            bit = 1 << chance.randrange(8)
            yield log[:place] + bytes([log[place] ^ bit]) + log[place + 1:], f"bit {bit} of byte {place}"
    attack(bench, logs)


@case("logs/swapped", quick=True)
def swapped(bench):
    """The log of another job, which has the same ids: finished, stopped, under other settings, or of other lines."""
    others = []
    for number, (more, lines) in enumerate([
            ([], [line.replace("Hi", "Ho").replace("One", "Two") for line in bench.small.lines]),
            (["--top-k", "5"], bench.small.lines),
            (["--temperature", "0.5"], bench.small.lines)]):
        folder = bench.subfolder("other")
        job = Job(bench.small.settings + more, lines)
        job.write(folder)
        bench.run(bench.command(job.settings), folder).must_end_with(0)
        others.append((read(folder), f"the log of job {number}"))

    def logs(log):
        for other, what in others:
            yield other, what
            yield log + other, f"its own log and {what}"
            yield other + log, f"{what} and its own"
    attack(bench, logs)
