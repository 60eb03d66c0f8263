#!/usr/bin/env python3
"""Runs commands of "make test" and remembers what they skip; says so in one table at the end.

skipped.py run LOG COMMAND...   runs COMMAND, shows its output, and adds what it skips to LOG
skipped.py table LOG            prints the table; where CI is set, fails if anything was skipped that
                                names neither a missing processor nor the network
"""

import os
import re
import signal
import subprocess
import sys

# How Swift Testing, attack.py and pytest say it.
FORMS = [
    re.compile(r'^\S+ (?P<kind>Suite|Test) "?(?P<name>.*?)"? skipped(?:: "(?P<why>.*)")?$'),
    re.compile(r"^skipped (?P<name>\S+) \([\d.]+ s\)(?:: (?P<why>.*))?$"),
    re.compile(r"^SKIPPED \[\d+\] (?P<name>[^:]+(?::\d+)?): (?P<why>.*)$"),
    re.compile(r"^==> skipped (?P<name>[^:]+): (?P<why>.*)$"),
]
ALLOWED = re.compile(r"processor|network", re.IGNORECASE)


def run(log, command):
    # A shell's background processes ignore these, and what is tested here must not.
    for number in (signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    with open(log, "a", encoding="utf-8") as file:
        for line in process.stdout:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            text = line.decode(errors="replace").rstrip("\n")
            for form in FORMS:
                if found := form.match(text):
                    print(found["name"], found["why"] or "no reason is given", sep="\t", file=file)
                    break
    return process.wait()


def table(log):
    whys = {}
    if os.path.exists(log):
        with open(log, encoding="utf-8") as file:
            for line in file:
                name, why = line.rstrip("\n").split("\t", 1)
                whys.setdefault(why, []).append(name)
    if not whys:
        print("==> nothing was skipped")
        return 0
    print("==> skipped:")
    for why, names in sorted(whys.items()):
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        print(f"{len(names):6}  {why}: {shown}")
    wrong = [why for why in whys if not ALLOWED.search(why)]
    if os.environ.get("CI") and wrong:
        print("error: in CI only what needs a processor or the network that is not there may be skipped", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[1] == "run":
        sys.exit(run(sys.argv[2], sys.argv[3:]))
    if len(sys.argv) == 3 and sys.argv[1] == "table":
        sys.exit(table(sys.argv[2]))
    sys.exit(__doc__)
