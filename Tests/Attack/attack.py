#!/usr/bin/env python3
"""Attacks the real program with what bad luck and bad will can do, and looks whether its promises hold.

    attack.py [--quick] [--list] [--keep] [--program FILE] [--model FOLDER] [NAME ...]

Cases are in kills.py (kills and faults at each file call, by faults.c), resources.py and processors.py (rlimits,
control groups), disk.py (full disks), names.py, owners.py, terminal.py, hub.py (what pull
meets), children.py (child programs and libraries) and serve.py (what serve meets). NAME is the beginning of cases'
names: kills, resources/pids. Hostile inputs, forms, models, adapters, logs and files beside an output are tested
with their modules.

Each case prints ok, FAILED or skipped (where the machine doesn't allow it: some need root, Linux, control groups);
exit status 1 if any failed. Some cases have the machine to themselves, at the end.
"""
import argparse
import concurrent.futures
import os
import shutil
import signal
import sys
import threading
import time
import traceback

from harness import Bench, CASES, Failure, Skip, Suite, TOP

for module in ("kills", "resources", "processors", "disk", "names", "owners",
               "terminal", "hub", "children", "serve"):
    __import__(module)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="a few cases, and less of each: under a minute")
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("--keep", action="store_true", help="keep the folders; those of failed cases are kept anyway")
    parser.add_argument("--program", default=os.path.join(TOP, ".build/release/phibatch"))
    parser.add_argument("--model", default=os.path.join(TOP, "models/smollm2-demo"))
    return parser.parse_args()


class Runner:
    def __init__(self, suite, keep):
        self.suite, self.keep = suite, keep
        self.counts = {"ok": 0, "FAILED": 0, "skipped": 0}
        self.lock = threading.Lock()

    def run(self, case):
        start = time.monotonic()
        why = ""
        try:
            bench = Bench(self.suite, case.name)
            case.body(bench)
            how = "ok"
        except Skip as skip:
            how, why = "skipped", str(skip)
        except Failure as failure:
            how, why = "FAILED", str(failure)
        except Exception:
            how, why = "FAILED", "the attack itself: " + traceback.format_exc()
        with self.lock:
            self.counts[how] += 1
            print(f"{how:8}{case.name} ({time.monotonic() - start:.1f} s)" + (f": {why}" if why else ""), flush=True)
        if how != "FAILED" and not self.keep:
            shutil.rmtree(bench.folder, ignore_errors=True)


def main():
    options = parse()
    cases = [case for case in CASES if not options.names or any(case.name.startswith(name) for name in options.names)]
    if options.quick:
        cases = [case for case in cases if case.quick]
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    if not cases:
        sys.exit(f"attack: no case is named {' or '.join(options.names)}; --list lists them")
    # Under nohup or in a shell's background the program would inherit that they are ignored.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    suite = Suite(options)
    runner = Runner(suite, options.keep)
    together = [case for case in cases if not case.alone]
    with concurrent.futures.ThreadPoolExecutor(suite.cores) as pool:
        list(pool.map(runner.run, together))
    for case in cases:
        if case.alone:
            runner.run(case)
    counts = runner.counts
    print(f"attack: {counts['ok']} passed, {counts['FAILED']} failed, {counts['skipped']} skipped")
    if counts["FAILED"] or options.keep:
        print(f"attack: files are in {suite.folder}")
    else:
        suite.remove()
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
