"""What all attacks share: the list of cases, folders, runs of the program, and what must be so after each."""
import functools
import glob
import itertools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMING = re.compile(rb',"timing":\{[^{}]*\}')
HANG_SECONDS = 300
# All that the help names (1: verify found something) but 70, which is an error of phibatch itself.
CODES = {0, 1, 3, 10, 11, 12, 13, 14, 64, 65, 66, 69, 73, 74, 75, 129, 130, 141, 143}


class Failure(Exception):
    """The program did what it must not do."""


class Skip(Exception):
    """The machine doesn't allow this case."""


class Case:
    def __init__(self, name, body, quick, alone):
        self.name, self.body, self.quick, self.alone = name, body, quick, alone


CASES = []


def case(name, quick=False, alone=False):
    """A function that takes a Bench. quick: also in the quick suite; alone: nothing else may run beside it."""
    def register(body):
        CASES.append(Case(name, body, quick, alone))
        return body
    return register


def expect(condition, text):
    if not condition:
        raise Failure(text() if callable(text) else text)


def duckdb():
    """The place of DuckDB's program, which reads and writes Parquet."""
    found = [os.environ.get("PHIBATCH_DUCKDB"), *glob.glob(os.path.join(TOP, ".build/*/duckdb_cli/duckdb")),
             *glob.glob(os.path.join(TOP, ".build/python-venv/lib/python*/site-packages/duckdb_cli/duckdb")),
             shutil.which("duckdb")]
    for path in found:
        if path and os.path.exists(path):
            return path
    raise Skip("the program duckdb is not there (pip install duckdb-cli)")


class Run:
    """A process that has ended: code is negative if a signal ended it."""
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def __str__(self):
        end = f"signal {signal.Signals(-self.code).name}" if self.code < 0 else f"status {self.code}"
        said = self.err.decode("utf-8", "backslashreplace").strip()
        return f"{end}: {ascii(said[-400:])}"

    def must_end_with(self, *codes, what=""):
        wanted = " or ".join(map(str, codes))
        expect(self.code in codes, lambda: f"{what or 'the run'}: expected status {wanted}, got {self}")
        if self.code not in (0, 129, 130, 141, 143):
            expect(self.err.strip(), f"{what or 'the run'}: status {self.code} without a message")
        return self


class Suite:
    """What the cases of one run of the suite share."""
    def __init__(self, options):
        self.program = os.path.abspath(options.program)
        self.model = os.path.abspath(options.model)
        self.quick = options.quick
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="phibatch-attack-"))
        # Other users must get at what is theirs in it.
        os.chmod(self.folder, 0o755)
        self.cache = os.path.join(self.folder, "cache")
        self.lock = threading.Lock()
        self.memory = {}
        self.cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()

    def once(self, key, make):
        """What `make` returns, made once for all cases."""
        with self.lock:
            lock, made = self.memory.setdefault(key, (threading.Lock(), []))
        with lock:
            if not made:
                made.append(make())
            return made[0]

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Bench:
    """One case's place to work in."""
    def __init__(self, suite, name):
        self.suite = suite
        self.quick = suite.quick
        self.folder = os.path.join(suite.folder, re.sub(r"[^A-Za-z0-9]+", "-", name))
        os.mkdir(self.folder)
        self.numbers = itertools.count(1)

    def subfolder(self, name="job"):
        folder = os.path.join(self.folder, f"{name}-{next(self.numbers)}")
        os.mkdir(folder)
        return folder

    # MARK: Running

    def start(self, arguments, folder, environment=None, preexec=None, prefix=(), program=None, **streams):
        # The Swift runtime would spend seconds on telling of a crash.
        values = {**os.environ, "PHIBATCH_CACHE": self.suite.cache, "SWIFT_BACKTRACE": "enable=no"}
        for name, value in (environment or {}).items():
            values.pop(name, None)
            if value is not None:
                values[name] = value
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        return subprocess.Popen([*prefix, program or self.suite.program, *arguments], cwd=folder, env=values,
                                preexec_fn=preexec, **streams)

    def wait(self, process, seconds=HANG_SECONDS, what="the run"):
        start = time.monotonic()
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise Failure(f"{what}: still running after {seconds} s: {ascii((err or b'')[-300:])}")
        return Run(process.returncode, out or b"", err or b"", time.monotonic() - start)

    def run(self, arguments, folder, seconds=HANG_SECONDS, what="", **more):
        """Runs the program to its end; an end by a signal, or an error of the program itself, is a failure."""
        run = self.wait(self.start(arguments, folder, **more), seconds, what or "the run")
        expect(run.code in CODES, lambda: f"{what or 'the run'}: {run}")
        return run

    def has_saved(self, command, folder):
        """Whether a run with this command has saved tokens of what is under way."""
        status = self.wait(self.start(["status", *command[1:], "--json"], folder))
        return status.code in (0, 11, 12) and json.loads(status.out)["in_flight_tokens"] > 0

    # MARK: Jobs

    def command(self, more=(), model=None, output="out.jsonl", input="in.jsonl"):
        return ["run", "--model", model or self.suite.model, "--input", input, "--output", output, *more]

    @functools.cached_property
    def small(self):
        """A job of a second: two lines to be answered and one that fails."""
        return Job(["--max-tokens", "3", "--threads", "1", "--workers", "2", "--seed", "3", "--max-failures", "1"],
                   ['{"id":"a","prompt":"Hi"}', '{"id":"b","prompt":"One, two","max_tokens":2,"temperature":0.9}',
                    '{"id":"c"}'])

    def expected(self, job):
        """The results of an undisturbed run, without their timing."""
        def make():
            folder = self.subfolder("expected")
            job.write(folder)
            self.run(self.command(job.settings), folder).must_end_with(0, what="the undisturbed run")
            return results(folder)
        return self.suite.once(("expected", *job.settings, job.text), make)

    def must_complete(self, job, folder, what="", leftovers=(), command=None, **more):
        """The same command, undisturbed: it ends with the undisturbed run's results, and tidies up."""
        before = set(os.listdir(os.fsencode(folder)))
        run = self.run(command or self.command(job.settings), folder, what=what, **more)
        run.must_end_with(0, what=what)
        expect(results(folder) == self.expected(job), lambda: f"{what}: the results differ: {results(folder)[-300:]}")
        allowed = {b"in.jsonl", b"out.jsonl", *map(os.fsencode, leftovers)}
        left = {name for name in os.listdir(os.fsencode(folder)) if name not in allowed and not is_kept(name)}
        expect(not left, lambda: f"{what}: left behind: {sorted(left)} (before: {sorted(before)})")
        return run


class Job:
    """Settings and lines."""
    def __init__(self, settings, lines):
        self.settings = list(settings)
        self.lines = list(lines)

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)

    def write(self, folder, name="in.jsonl"):
        with open(os.path.join(folder, name), "w") as file:
            file.write(self.text)

    def having(self, lines):
        return Job(self.settings, lines)


def is_kept(name):
    """Earlier outputs are kept under names with a number; an output's log lies beside it."""
    return re.fullmatch(rb".*\.(old-[0-9]+|log)", name) is not None


def results(folder, name="out.jsonl"):
    """The output without its timing; None if there is none."""
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return TIMING.sub(b"", file.read())
    except FileNotFoundError:
        return None


def rows(folder, name="out.jsonl"):
    return [json.loads(line) for line in results(folder, name).splitlines()]


def snapshot(folder):
    """All that is in a folder: for each name its kind, mode, owner and content."""
    found = {}
    folder = os.fsencode(folder)
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        status = os.lstat(path)
        if os.path.islink(path):
            content = os.readlink(path)
        elif os.path.isfile(path):
            with open(path, "rb") as file:
                content = file.read()
        else:
            content = None
        found[name] = (status.st_mode, status.st_uid, status.st_ino, content)
    return found


def limited(**limits):
    """A preexec function that sets resource limits, e.g. NOFILE=20."""
    def apply():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))
    return apply


def wait_until(condition, process, seconds=HANG_SECONDS, what=""):
    """Waits for a condition while the process runs. Returns whether it came."""
    deadline = time.monotonic() + seconds
    while not condition():
        if process.poll() is not None:
            return condition()
        expect(time.monotonic() < deadline, f"{what}: no {what} in {seconds} s")
        time.sleep(0.002)
    return True
