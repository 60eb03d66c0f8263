#!/usr/bin/env python3
"""Runs a small job under limits of memory, files, processes and processors.

    limits.py [--program FILE] [--model FOLDER] [--fine] [NAME ...]

However little there is, the program must do its job or say in one message what is missing (status 69, or what
the files ask for): no crash, no hang, no half result. What this machine doesn't allow is said to be skipped.
Names choose some of the attacks; --fine takes smaller steps. Exit status 1 if anything is wrong.
"""
import argparse
import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MB = 1 << 20
DEADLINE = 120
NOBODY = 65534
faults = []


class Attacks:
    def __init__(self, options, folder):
        self.program = os.path.abspath(options.program)
        self.model = os.path.abspath(options.model)
        self.fine = options.fine
        self.folder = folder
        self.cache = os.path.join(folder, "cache")
        with open(os.path.join(folder, "in.jsonl"), "w") as file:
            for number in range(6):
                file.write(json.dumps({"id": f"n{number}", "prompt": f"Count up from {number}."}) + "\n")
        self.serial = 0
        self.environment = dict(os.environ, PHIBATCH_CACHE=self.cache)
        self.expected = None

    # What is run

    def arguments(self, *more, output=None, tokens=4):
        job = ["--model", self.model, "--input", os.path.join(self.folder, "in.jsonl"), "--max-tokens", str(tokens)]
        return [self.program, "run", *job, "--output", output or self.output(), *more]

    def output(self):
        self.serial += 1
        return os.path.join(self.folder, f"out-{self.serial}.jsonl")

    def run(self, arguments, prepare=None, **options):
        """Status and errors; the status is None if it hangs."""
        options.setdefault("env", self.environment)
        try:
            result = subprocess.run(
                arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE, preexec_fn=prepare,
                cwd=self.folder, **options)
        except subprocess.TimeoutExpired:
            return None, ""
        return result.returncode, result.stderr.decode(errors="replace")

    def results(self, output):
        with open(output) as file:
            rows = [json.loads(line) for line in file]
        return [(row["id"], row.get("text")) for row in rows]

    def judge(self, what, status, errors, output=None, allowed=(0, 69)):
        """Whether the end is one of those allowed, with a message, and nothing half done."""
        wrong = None
        if status is None:
            wrong = "hangs"
        elif status < 0 or status >= 128 or "Fatal error" in errors or "Crash" in errors:
            wrong = f"crashes ({status})"
        elif status not in allowed:
            wrong = f"ends with {status}"
        elif status != 0 and not errors.startswith("phibatch: "):
            wrong = "says nothing"
        elif output and status == 0 and self.results(output) != self.expected:
            wrong = "has other results"
        elif output and status != 0 and os.path.exists(output) and self.results(output) != self.expected:
            wrong = "leaves an output"
        if wrong:
            faults.append(what)
            print(f"    WRONG: {what} {wrong}: {errors[-300:]}")
        return wrong is None

    # The attacks

    def undisturbed(self):
        output = self.output()
        status, errors = self.run(self.arguments(output=output))
        assert status == 0, errors
        self.expected = self.results(output)

    def sweep(self, name, kind, values, arguments=None, environment=None, allowed=(0, 69)):
        """Goes through the values of a limit; says where which end begins."""
        ends = []
        for value in values:
            def limit():
                resource.setrlimit(kind, (value, value))
            if environment is None:
                environment = self.environment
            # Where not even the help comes out, the program was never begun.
            status, _ = self.run([self.program, "--help"], limit, env=environment)
            if status not in (0, 69):
                end = "can't be started"
            else:
                output = None if arguments else self.output()
                status, errors = self.run(
                    arguments or self.arguments(output=output), limit, env=environment)
                self.judge(f"{name} {value}", status, errors, output, allowed)
                end = "works" if status == 0 else errors.strip().split("\n")[-1][:150] or str(status)
                end = "".join("N" if c.isdigit() else c for c in end)
            if not ends or ends[-1][1] != end:
                ends.append((value, end))
        for value, end in ends:
            print(f"    from {value}: {end}")

    def steps(self, first, last, factor):
        if self.fine:
            factor = 1 + (factor - 1) / 8
        values, value = [], first
        while value < last:
            values.append(int(value))
            value *= factor
        return values

    def address_space(self):
        values = self.steps(40 * MB, 4000 * MB, 1.05)
        self.sweep("ulimit -v", resource.RLIMIT_AS, values)

    def address_space_without_cache(self):
        values = self.steps(150 * MB, 2000 * MB, 1.1)
        off = dict(self.environment, PHIBATCH_CACHE="off")
        self.sweep("ulimit -v, no cache,", resource.RLIMIT_AS, values, environment=off)

    def data(self):
        values = self.steps(1 * MB, 2000 * MB, 1.08)
        self.sweep("ulimit -d", resource.RLIMIT_DATA, values)

    def data_without_cache(self):
        values = self.steps(40 * MB, 2000 * MB, 1.1)
        off = dict(self.environment, PHIBATCH_CACHE="off")
        self.sweep("ulimit -d, no cache,", resource.RLIMIT_DATA, values, environment=off)

    def stack(self):
        self.sweep("ulimit -s", resource.RLIMIT_STACK, self.steps(64 << 10, 64 * MB, 1.5))

    def files(self):
        # A file that can't be opened is an error of what it is for.
        self.sweep("ulimit -n", resource.RLIMIT_NOFILE, range(3, 40), allowed=(0, 65, 66, 69, 73, 74))

    def tools(self):
        """The other commands, under limits of memory and files."""
        text = os.path.join(self.folder, "text.jsonl")
        with open(text, "w") as file:
            file.write('{"text": "one two three"}\n' * 100)
        finished = self.output()
        self.run(self.arguments(output=finished))
        for name, arguments in [
            ("tokenize", [self.program, "tokenize", "--model", self.model, text]),
            ("status", [self.program, "status"] + self.arguments(output=finished)[2:]),
        ]:
            for kind, label, values in [
                (resource.RLIMIT_AS, "-v", self.steps(100 * MB, 600 * MB, 1.1)),
                (resource.RLIMIT_DATA, "-d", self.steps(1 * MB, 300 * MB, 1.3)),
                (resource.RLIMIT_NOFILE, "-n", range(3, 12)),
            ]:
                print(f"  {name}, ulimit {label}")
                self.sweep(f"{name}, ulimit {label}", kind, values, arguments, allowed=(0, 65, 66, 69, 73, 74))

    @contextlib.contextmanager
    def group(self, controller, limits):
        """A control group with limits; None if there can be none."""
        name = f"phibatch-{os.getpid()}"
        for path in [f"/sys/fs/cgroup/{controller}/{name}", f"/sys/fs/cgroup/{name}"]:
            try:
                os.mkdir(path)
            except OSError:
                continue
            try:
                known = [(file, value) for file, value in limits if os.path.exists(f"{path}/{file}")]
                for file, value in known:
                    with open(f"{path}/{file}", "w") as out:
                        out.write(value)
                if known:
                    yield path
                    return
            finally:
                for _ in range(100):
                    with contextlib.suppress(OSError):
                        os.rmdir(path)
                        break
                    time.sleep(0.05)
        yield None

    def processes(self):
        """A limit on processes, by a control group."""
        for count in range(1, 12):
            with self.group("pids", [("pids.max", str(count))]) as path:
                if not path:
                    return print("    skipped: no control group can be made")
                def join():
                    with open(f"{path}/cgroup.procs", "w") as file:
                        file.write(str(os.getpid()))
                output = self.output()
                status, errors = self.run(self.arguments("--threads", "8", output=output), join)
                self.judge(f"pids.max {count}", status, errors, output)
                said = [line for line in errors.split("\n") if "thread" in line]
                if count < 9 and not said:
                    faults.append(f"pids.max {count}")
                    print(f"    WRONG: pids.max {count} is not said: {errors}")
                print(f"    {count}: {status}, {' '.join(said)}")
                self.stops(f"SIGTERM, pids.max {count}", self.arguments("--threads", "8", tokens=4000), join)

    def processes_of_a_user(self):
        """A limit on processes, by ulimit -u, which root is exempt from."""
        if os.geteuid() != 0:
            return print("    skipped: needs root, to become another user")
        folder = os.path.join(self.folder, "nobody")
        os.mkdir(folder)
        os.chown(folder, NOBODY, NOBODY)
        environment = dict(self.environment, PHIBATCH_CACHE="off")
        for count in range(1, 11):
            def limit():
                resource.setrlimit(resource.RLIMIT_NPROC, (count, count))
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            status, _ = self.run([self.program, "--help"], limit, env=environment)
            if status != 0:
                return print(f"    skipped: another user can't run the program ({status})")
            output = os.path.join(folder, f"out-{count}.jsonl")
            status, errors = self.run(
                self.arguments("--threads", "8", output=output), limit, env=environment)
            self.judge(f"ulimit -u {count}", status, errors, output)
            said = [line for line in errors.split("\n") if "thread" in line]
            print(f"    {count}: {status}, {' '.join(said)}")

    def stops(self, what, arguments, prepare=None, **options):
        """Whether SIGTERM ends it within 2 seconds."""
        process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=self.folder,
            preexec_fn=prepare, env=self.environment, **({"stderr": subprocess.DEVNULL} | options))
        time.sleep(1)
        if process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        start = time.monotonic()
        try:
            status = process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            status = None
        if status != 143 or time.monotonic() - start > 2:
            faults.append(what)
            print(f"    WRONG: {what}: ends with {status} after {time.monotonic() - start:.1f} s")

    def full_stderr(self):
        """A pipe that is full and that nobody reads."""
        for more in ([], ["--threads", "1"], ["-q"]):
            reading, writing = os.pipe()
            os.set_blocking(writing, False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(writing, b"x" * 512)
            os.set_blocking(writing, True)
            output = self.output()
            process = subprocess.Popen(
                self.arguments(*more, output=output), stdin=subprocess.DEVNULL, stderr=writing, cwd=self.folder,
                env=self.environment)
            os.close(writing)
            try:
                status = process.wait(timeout=DEADLINE)
            except subprocess.TimeoutExpired:
                process.kill()
                status = None
            os.close(reading)
            self.judge(f"a full stderr {more}", status, "", output)
            print(f"    {status}")
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writing, b"x" * 512)
        os.set_blocking(writing, True)
        self.stops("SIGTERM with a full stderr", self.arguments(tokens=4000), stderr=writing)
        os.close(writing)
        os.close(reading)

    def threads_of(self, *more, prepare=None):
        """How many threads the program has in the middle of a job."""
        process = subprocess.Popen(
            self.arguments(*more, tokens=2000), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd=self.folder, preexec_fn=prepare, env=self.environment)
        most = 0
        for _ in range(100):
            time.sleep(0.02)
            with contextlib.suppress(OSError):
                names = [open(f"/proc/{process.pid}/task/{task}/comm").read().strip()
                         for task in os.listdir(f"/proc/{process.pid}/task")]
                most = max(most, 1 + sum(name.startswith("compute") for name in names))
        process.kill()
        process.wait()
        return most

    def processors(self):
        """Affinity and quotas decide how many threads there are by themselves."""
        def expect(what, found, right):
            print(f"    {what}: {found} compute threads")
            if found != right:
                faults.append(what)
                print(f"    WRONG: {right} would be right")
        usable = len(os.sched_getaffinity(0))
        expect("as it is", self.threads_of(), usable)
        expect("taskset -c 0", self.threads_of(prepare=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})), 1)
        for share, right in [(0.5, 1), (1, 1), (1.5, min(2, usable))]:
            quota = int(100000 * share)
            with self.group("cpu", [
                ("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", str(quota)), ("cpu.max", f"{quota} 100000")
            ]) as path:
                if not path:
                    return print("    quotas skipped: no control group can be made")
                def join():
                    with open(f"{path}/cgroup.procs", "w") as file:
                        file.write(str(os.getpid()))
                expect(f"a quota of {share}", self.threads_of(prepare=join), right)


ALL = ["address_space", "address_space_without_cache", "data", "data_without_cache", "stack", "files", "tools",
       "processes", "processes_of_a_user", "full_stderr", "processors"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=os.path.join(TOP, ".build/release/phibatch"))
    parser.add_argument("--model", default=os.path.join(TOP, "models/smollm2-demo"))
    parser.add_argument("--fine", action="store_true")
    parser.add_argument("names", nargs="*", choices=ALL + [[]])
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="phibatch-limits-")
    os.chmod(folder, 0o755)
    try:
        attacks = Attacks(options, folder)
        attacks.undisturbed()
        for name in options.names or ALL:
            print(f"==> {name.replace('_', ' ')}")
            getattr(attacks, name)()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(faults)} faults" + "".join(f"\n  {fault}" for fault in faults))
    sys.exit(1 if faults else 0)


main()
