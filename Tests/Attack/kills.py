"""Kills and faults at each file call of a small job, by faults.c: from its start to its end, across resume, edit
and restart. After each the job is run again to its end, and its results are compared with an undisturbed run's.
(What lies on the disk before a call is what lay there after the one before it: so "before" and "after" together
only differ where two threads are at work. Both are tried.)"""
import collections
import concurrent.futures
import os
import shutil
import subprocess
import sys

from harness import Failure, Job, Skip, TOP, case, expect, is_kept, results, snapshot

Call = collections.namedtuple("Call", "number name path")
# Beside the output, and named nearly like what is ours.
FOREIGN = {"out.jsonl.txt": b"mine\n", "out": b"mine too\n", "out.jsonl~": b"", "journal": b"a diary\n",
           "note.tmp": b"1\n", "old-1": b"old\n"}


def library(suite):
    """faults.c, compiled."""
    if not sys.platform.startswith("linux"):
        raise Skip("LD_PRELOAD is Linux's")

    def make():
        source = os.path.join(TOP, "Tests/Attack/faults.c")
        target = os.path.join(suite.folder, "faults.so")
        compiler = next((name for name in ("cc", "clang", "gcc") if shutil.which(name)), None)
        if not compiler:
            return Skip("no C compiler")
        command = [compiler, "-O1", "-shared", "-fPIC", source, "-o", target, "-ldl"]
        done = subprocess.run(command, capture_output=True)
        return Skip(f"faults.c: {done.stderr.decode()[-300:]}") if done.returncode else target
    made = suite.once("faults.so", make)
    if isinstance(made, Skip):
        raise made
    return made


def faulty(bench, command, folder, under, number=None, action=None, lasting=False, environment=None):
    """Runs with a fault. Returns the run and the calls that were counted."""
    log = os.path.join(bench.folder, f"calls-{os.path.basename(folder)}")
    values = {"LD_PRELOAD": library(bench.suite), "FAULTS_UNDER": under, "FAULTS_LOG": log, **(environment or {})}
    if number:
        values.update(FAULTS_AT=str(number), FAULTS_DO=action)
        if lasting:
            values["FAULTS_LASTING"] = "1"
    process = bench.start(command, folder, environment=values)
    run = bench.wait(process, what=f"{action} at call {number}")
    calls = []
    if os.path.exists(log):
        with open(log, errors="surrogateescape") as file:
            for line in file:
                parts = line.rstrip("\n").split(" ", 2)
                calls.append(Call(int(parts[0]), parts[1], parts[2]))
        os.unlink(log)
    return run, calls


class Scene:
    """A job, and what is there when its disturbed run starts."""
    def __init__(self, bench, name):
        self.bench, self.name = bench, name
        self.before = bench.subfolder("before")
        for file, content in FOREIGN.items():
            with open(os.path.join(self.before, file), "wb") as target:
                target.write(content)
        small = bench.small
        self.job = Job(small.settings + ["--checkpoint-interval", "0"], small.lines)
        self.restart = name.startswith("restart")
        if name in ("edited", "restart-finished"):
            self.job.write(self.before)
            bench.run(bench.command(self.job.settings), self.before).must_end_with(0, what="the first run")
        self.earlier = results(self.before)
        if name == "edited":
            # One line edited, one new, none gone, in another order.
            a, b, c = self.job.lines
            self.job = self.job.having([c, '{"id":"new","prompt":"Yes"}', b, '{"id":"a","prompt":"Ho"}'])
        self.job.write(self.before)
        if name in ("resumed", "restart-stopped"):
            # Killed in the middle.
            folder = self.copy()
            _, calls = faulty(bench, self.plain, folder, folder)
            run, _ = faulty(bench, self.plain, self.before, self.before, len(calls) // 2, "after")
            expect(run.code == -9, lambda: f"the kill that makes the scene: {run}")

    @property
    def plain(self):
        return self.bench.command(self.job.settings)

    @property
    def command(self):
        return self.plain + (["--restart"] if self.restart else [])

    def copy(self):
        folder = self.bench.subfolder("trial")
        shutil.copytree(self.before, folder, symlinks=True, dirs_exist_ok=True)
        return folder

    def check(self, folder, what):
        """The same command goes on and ends as if undisturbed; all else is as it was."""
        self.bench.must_complete(self.job, folder, what, leftovers=FOREIGN, command=self.command)
        self.check_foreign(folder, what)
        if self.restart and self.earlier:
            kept = [results(folder, name) for name in os.listdir(folder) if is_kept(name.encode())]
            expect(self.earlier in kept, f"{what}: the output before --restart is not kept as out.jsonl.old-N")
        shutil.rmtree(folder)

    def check_foreign(self, folder, what):
        there = snapshot(folder)
        for name, content in FOREIGN.items():
            expect(there.get(name.encode(), (0, 0, 0, None))[3] == content, f"{what}: {name} is changed or gone")

    def check_output(self, folder, what):
        """Whatever happened, the output is the earlier one, the new one, or none where there was none."""
        got = results(folder)
        expect(got in (self.earlier, self.bench.expected(self.job)), lambda: f"{what}: the output is {got}")

    def calls(self):
        folder = self.copy()
        run, calls = faulty(self.bench, self.command, folder, folder)
        run.must_end_with(0, what=f"{self.name}: the undisturbed run")
        expect(calls, f"{self.name}: no call is counted: does LD_PRELOAD work?")
        self.check(folder, self.name)
        return calls


def spread(items, count):
    """At most so many of the items, evenly."""
    items = list(items)
    return items if len(items) <= count else [items[i * len(items) // count] for i in range(count)]


def in_parallel(bench, trials):
    """Runs all trials and fails with the first failure, and how many there are."""
    with concurrent.futures.ThreadPoolExecutor(bench.suite.cores) as pool:
        futures = [pool.submit(*trial) for trial in trials]
    failures = [future.exception() for future in futures if future.exception()]
    if failures:
        raise Failure(f"{len(failures)} of {len(trials)} trials: {failures[0]}") from (
            None if isinstance(failures[0], Failure) else failures[0])


def kill(scene, call, action):
    what = f"{scene.name}, killed {action} call {call.number} ({call.name} {os.path.basename(call.path)})"
    folder = scene.copy()
    run, _ = faulty(scene.bench, scene.command, folder, folder, call.number, action)
    # With less to do than in the counted run, it may have ended before that call.
    expect(run.code in (0, -9), lambda: f"{what}: {run}")
    scene.check_output(folder, what)
    scene.check(folder, what)


def register_kills(name, quick):
    @case(f"kills/{name}", quick=quick)
    def kills(bench):
        scene = Scene(bench, name)
        calls = [call for call in scene.calls() if call.name != "flock"]
        trials = [(kill, scene, call, "before") for call in calls]
        trials += [(kill, scene, call, "after") for call in calls]
        trials += [(kill, scene, call, "tear") for call in calls if "write" in call.name]
        in_parallel(bench, spread(trials, 6 if bench.quick else 200))


for name in ("fresh", "resumed", "edited", "restart-finished", "restart-stopped"):
    register_kills(name, quick=name in ("fresh", "edited"))


def fault(scene, call, action, lasting):
    what = f"{scene.name}, {action}{' from' if lasting else ' at'} call {call.number} ({call.name} " \
        f"{os.path.basename(call.path)})"
    folder = scene.copy()
    run, _ = faulty(scene.bench, scene.command, folder, folder, call.number, action, lasting)
    allowed = {0} if action in ("short", "EINTR") else {0, 73, 74}
    run.must_end_with(*allowed, what=what)
    scene.check_output(folder, what)
    if run.code == 0:
        expect(results(folder) == scene.bench.expected(scene.job), f"{what}: status 0 without the results")
    scene.check_foreign(folder, what)
    scene.check(folder, what)


def register_faults(name, action, lasting, quick):
    @case(f"faults/{name}-{action}{'-lasting' if lasting else ''}", quick=quick)
    def faults(bench):
        scene = Scene(bench, name)
        calls = scene.calls()
        if action == "short":
            calls = [call for call in calls if "write" in call.name]
        in_parallel(bench, [(fault, scene, call, action, lasting)
                            for call in spread(calls, 4 if bench.quick else 40)])


for name in ("fresh", "edited"):
    for action, lasting in (("ENOSPC", True), ("ENOSPC", False), ("EIO", True), ("EIO", False), ("EINTR", False),
                            ("short", False)):
        register_faults(name, action, lasting, quick=name == "edited" and (action, lasting) == ("ENOSPC", True))
