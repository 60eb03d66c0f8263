"""Limits of threads, memory and files, by control groups and rlimits. The program completes, with the
same results, or ends with a message and a status of its list; it never crashes and never hangs, obeys signals
all the while, and goes on when the limit is gone."""
import json
import os
import shutil
import signal
import subprocess
import time

from cgroups import Group
from harness import Failure, Job, Skip, case, expect, limited, results, rows, wait_until

OTHER_UID = 54321
# Two are promised on a machine that has time for it; torture.py measures those.
LEAVE_SECONDS = 10


def long_job(bench):
    """Half a minute's work or more, saved all the time."""
    lines = [json.dumps({"id": f"n{number}", "prompt": f"Tell me long story {number}."}) for number in range(64)]
    return Job(["--max-tokens", "900", "--workers", "4", "--checkpoint-interval", "0.05", "--speculate", "off"], lines)


def under_limit(bench, what, threads, seconds=60, **limit):
    """One run of the small job under a limit, and one after it without."""
    job = bench.small
    folder = bench.subfolder("trial")
    job.write(folder)
    if limit.pop("as_other", False):
        os.chmod(folder, 0o777)
    command = bench.command(job.settings)
    command[command.index("--threads") + 1] = threads
    run = bench.wait(bench.start(command, folder, **limit), seconds, what)
    run.must_end_with(0, 69, 73, 74, what=what)
    if run.code == 0:
        expect(results(folder) == bench.expected(job), f"{what}: status 0, but other results")
    bench.must_complete(job, folder, f"after {what}", command=bench.command(job.settings))
    shutil.rmtree(folder)
    return run


def signal_under_limit(bench, what, threads, number=signal.SIGTERM, **limit):
    """A signal in the middle of a long job is obeyed."""
    job = long_job(bench)
    folder = bench.subfolder("signal")
    job.write(folder)
    if limit.pop("as_other", False):
        os.chmod(folder, 0o777)
    command = bench.command(job.settings + ["--threads", threads])
    process = bench.start(command, folder, **limit)
    try:
        there = wait_until(lambda: bench.has_saved(command, folder), process, 60, "saved tokens")
    except Failure:
        # Nothing is saved, perhaps as nothing moves; the signal must be obeyed all the more.
        there = True
    start = time.monotonic()
    process.send_signal(number)
    run = bench.wait(process, 60, f"{what}: after {signal.Signals(number).name}")
    took = time.monotonic() - start
    if there:
        run.must_end_with(128 + number, what=f"{what}: {signal.Signals(number).name}")
        expect(took < LEAVE_SECONDS, f"{what}: left {took:.1f} s after {signal.Signals(number).name}")
    else:
        run.must_end_with(69, what=what)
    shutil.rmtree(folder)


def as_other(*more):
    """A preexec function: another user, without rights."""
    def apply():
        for each in more:
            each()
        os.setgroups([])
        os.setgid(OTHER_UID)
        os.setuid(OTHER_UID)
    return apply


def needs_root(bench):
    if os.geteuid() != 0:
        raise Skip("only root can become another user")
    try:
        done = subprocess.run([bench.suite.program, "--help"], preexec_fn=as_other(), capture_output=True, timeout=60)
        readable = subprocess.run(["cat", bench.suite.model + "/config.json"], preexec_fn=as_other(),
                                  capture_output=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise Skip(f"another user can't run the program: {error}") from None
    if done.returncode or readable.returncode:
        raise Skip("another user can't get at the program or the model")


# MARK: Threads and processes

@case("resources/pids-cgroup", quick=True)
def pids(bench):
    bench.expected(bench.small)
    for count in [1, 8] if bench.quick else [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16]:
        with Group("pids", max=count) as group:
            under_limit(bench, f"{count} threads allowed, --threads 8", "8", preexec=group.join)


@case("resources/pids-cgroup-signals", alone=True)
def pids_signals(bench):
    for count in (8, 4, 3):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if count == 8 else (signal.SIGTERM,):
            with Group("pids", max=count) as group:
                signal_under_limit(bench, f"{count} threads allowed", "8", number, preexec=group.join)


def other_users_threads():
    """The limit counts all of a user's; ours has none."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == OTHER_UID:
                    raise Skip(f"user {OTHER_UID} has processes")
            except FileNotFoundError:
                pass


@case("resources/nproc", quick=True, alone=True)
def nproc(bench):
    needs_root(bench)
    other_users_threads()
    bench.expected(bench.small)
    for count in (1, 2, 3, 4, 6, 8, 12):
        under_limit(bench, f"ulimit -u {count}, --threads 8", "8", as_other=True,
                    preexec=as_other(limited(NPROC=count)), environment={"PHIBATCH_CACHE": "off"})
    signal_under_limit(bench, "ulimit -u 6", "8", as_other=True, preexec=as_other(limited(NPROC=6)),
                       environment={"PHIBATCH_CACHE": "off"})


# MARK: Memory, files

def smallest(bench, name, low, high):
    """The smallest limit under which the program itself can be loaded: `--help` works. (Below, the loader fails.)"""
    def works(value):
        done = bench.wait(bench.start(["--help"], bench.folder, preexec=limited(**{name: value})), 60)
        return done.code == 0
    if not works(high):
        raise Skip(f"--help fails even with {high}")
    while high > low * 1.02 + 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def can_start(bench, limits):
    """Near the smallest limit it is a matter of luck, of where the loader puts things."""
    return all(bench.wait(bench.start(["--help"], bench.folder, preexec=limited(**limits)), 60).code == 0
               for _ in range(3))


def sweep(bench, name, low, high, steps, environment=None):
    """From the smallest limit under which the program can be loaded to where it works."""
    bench.expected(bench.small)
    floor = smallest(bench, name, low, high)
    factor = (high / floor) ** (1 / steps)
    codes = []
    for value in sorted({int(floor * factor ** step) for step in range(steps + 1)}):
        limits = {name: value}
        try:
            codes.append(under_limit(bench, f"RLIMIT_{name} {value}", "2", preexec=limited(**limits),
                                     environment=environment).code)
        except Failure:
            if can_start(bench, limits):
                raise
        if codes[-6:] == [0] * 6:
            break
    expect(0 in codes, f"RLIMIT_{name}: up to {high} is never enough: {codes}")


@case("resources/address-space")
def address_space(bench):
    sweep(bench, "AS", 20_000_000, 8_000_000_000, 48)
    sweep(bench, "AS", 20_000_000, 8_000_000_000, 24, {"PHIBATCH_CACHE": "off"})


@case("resources/data")
def data(bench):
    sweep(bench, "DATA", 500_000, 2_000_000_000, 48)
    sweep(bench, "DATA", 500_000, 2_000_000_000, 24, {"PHIBATCH_CACHE": "off"})


@case("resources/open-files")
def open_files(bench):
    bench.expected(bench.small)
    floor = smallest(bench, "NOFILE", 3, 64)
    for value in range(floor, floor + 24):
        under_limit(bench, f"RLIMIT_NOFILE {value}", "2", preexec=limited(NOFILE=value))
    # Numbers that are taken when it starts.
    pipes = [os.pipe() for _ in range(4)]
    numbers = [number for pipe in pipes for number in pipe]
    under_limit(bench, "RLIMIT_NOFILE with inherited files", "2", pass_fds=numbers,
                preexec=limited(NOFILE=max(numbers) + 6))
    for number in numbers:
        os.close(number)


@case("resources/file-size", quick=True)
def file_size(bench):
    bench.expected(bench.small)
    values = [0, 700] if bench.quick else [0, 1, 100, 300, 500, 700, 900, 1100, 1300, 1500, 1700, 2000, 3000, 65536]
    for value in values:
        under_limit(bench, f"RLIMIT_FSIZE {value}", "1", preexec=limited(FSIZE=value))
        if value in (0, 65536):
            under_limit(bench, f"RLIMIT_FSIZE {value}, a new cache", "1", preexec=limited(FSIZE=value),
                        environment={"PHIBATCH_CACHE": bench.subfolder("cache")})


@case("resources/memory-cgroup")
def memory(bench):
    """A line that can't be answered is an error of that line, however long it is."""
    for text, size in ("x", 16), ("日", 16), (" ", 16), ("\n", 16), ("1", 16), ("word ", 60), ("x", 60):
        folder = bench.subfolder("long-line")
        long = text * (size * 1_000_000 // len(text.encode()))
        lines = ['{"id":"a","prompt":"Hi"}', json.dumps({"id": "long", "prompt": long}, ensure_ascii=False),
                 '{"id":"b","prompt":"Ho"}']
        job = Job(["--max-tokens", "2", "--threads", "1", "--max-failures", "1"], lines)
        job.write(folder)
        what = f"a line of {size} MB of {text!r} in 600 MB"
        with Group("memory", max=600 << 20) as group:
            run = bench.run(bench.command(job.settings), folder, what=what, preexec=group.join)
        run.must_end_with(0, what=what)
        found = rows(folder)
        # A line beyond what is read is known by its number.
        expect([row["id"] for row in found] in (["a", "long", "b"], ["a", "2", "b"]), f"{what}: other results: {run}")
        expect("error" in found[1] and "text" not in found[1], f"{what}: it is answered")
        expect(run.seconds < 30, f"{what}: it takes {run.seconds:.0f} s")
        shutil.rmtree(folder)
