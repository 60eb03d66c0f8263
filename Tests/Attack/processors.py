"""Limits on processors: `threads: auto` keeps to those it may use."""
import contextlib
import os
import shutil

from cgroups import Group
from harness import Skip, case, expect, wait_until
from resources import long_job


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
