"""Limits on processors: `threads: auto` keeps to those it may use, and more threads than cores are no disaster."""
import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys

from cgroups import Group
from harness import HANG_SECONDS, Job, Skip, case, expect, wait_until
from resources import long_job, signal_under_limit


def compute_threads(bench, what, threads, preexec=None):
    """How many threads of a run compute: have a share worth mentioning of its processor time."""
    if not os.path.isdir("/proc/self/task"):
        raise Skip("there is no /proc that lists threads")
    folder = bench.subfolder("threads")
    job = long_job(bench)
    job.write(folder)
    command = bench.command(job.settings + ["--threads", threads])
    process = bench.start(command, folder, preexec=preexec)

    def times():
        found = []
        for task in os.listdir(f"/proc/{process.pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{process.pid}/task/{task}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
                found.append((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
        return found
    wait_until(lambda: bench.has_saved(command, folder), process, 120, "saved tokens")
    # Loading is over. It may have had threads of its own.
    before = sum(times())
    wait_until(lambda: sum(times()) > 3 * before + 2, process, 120, "processor time")
    found = times() if process.poll() is None else []
    process.terminate()
    run = bench.wait(process, 60, what)
    expect(found, f"{what}: {run}")
    shutil.rmtree(folder)
    return sum(time > 0.04 * sum(found) for time in found)


def check_counting(bench):
    count = compute_threads(bench, "--threads 3", "3")
    expect(count == 3, f"--threads 3 has {count} compute threads")


@case("processors/affinity", alone=True, quick=True)
def affinity(bench):
    check_counting(bench)
    core = min(os.sched_getaffinity(0))
    count = compute_threads(bench, "one core", "auto", preexec=lambda: os.sched_setaffinity(0, {core}))
    expect(count == 1, f"threads: auto has {count} compute threads on one core")
    count = compute_threads(bench, "all cores", "auto")
    expect(count == len(os.sched_getaffinity(0)), f"threads: auto has {count} compute threads on all cores")


@case("processors/quota", alone=True)
def quota(bench):
    check_counting(bench)
    for cores in (0.5, 1):
        with Group("cpu", cores=cores) as group:
            count = compute_threads(bench, f"{cores} cores", "auto", preexec=group.join)
            expect(count == 1, f"threads: auto has {count} compute threads with a quota of {cores} cores")


@case("processors/quota-signals", alone=True)
def quota_signals(bench):
    with Group("cpu", cores=0.5) as group:
        signal_under_limit(bench, "half a core", "auto", preexec=group.join)


@case("processors/many-threads", alone=True)
def many_threads(bench):
    """More threads than cores get in each other's way, but not by much."""
    cores = len(os.sched_getaffinity(0))
    lines = [json.dumps({"id": f"n{number}", "prompt": f"Tell me story {number}."}) for number in range(8)]
    job = Job(["--max-tokens", "24", "--workers", "8"], lines)

    def seconds(threads, most=HANG_SECONDS):
        folder = bench.subfolder("time")
        job.write(folder)
        run = bench.run(bench.command(job.settings + ["--threads", str(threads)]), folder, most, f"{threads} threads")
        run.must_end_with(0)
        shutil.rmtree(folder)
        return run.seconds
    seconds(cores)
    # Others' work on the machine can only make it slower: the best of each counts.
    few = min(seconds(cores) for _ in range(3))
    many = seconds(32 * cores, 20 * few + 10)
    if many > 3 * few:
        many = min(many, seconds(32 * cores, 20 * few + 10))
    expect(many < 3 * few, f"{32 * cores} threads on {cores} cores take {many:.1f} s, {cores} take {few:.1f} s")
    signal_under_limit(bench, f"{32 * cores} threads", str(32 * cores))


@case("processors/busy", alone=True)
def busy(bench):
    """Where others want all processors, threads that wait for each other cost them little."""
    cores = len(os.sched_getaffinity(0))
    lines = [json.dumps({"id": f"n{number}", "prompt": f"Tell me story {number}."}) for number in range(8)]
    job = Job(["--max-tokens", "48", "--workers", "8", "--threads", str(cores)], lines)

    def processor_seconds():
        folder = bench.subfolder("busy")
        job.write(folder)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        bench.run(bench.command(job.settings), folder, 10 * HANG_SECONDS, "a busy machine").must_end_with(0)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        shutil.rmtree(folder)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    alone = min(processor_seconds() for _ in range(3))
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores)]
    try:
        beside = min(processor_seconds() for _ in range(3))
    finally:
        for other in others:
            other.kill()
            other.wait()
    expect(beside < 1.35 * alone, f"beside busy programs it takes {beside:.1f} s of processors, alone {alone:.1f} s")
