"""Marks that Swift's strings would look for by Characters: none may, in Sources.

    python3 Tests/FolderCycles/marks.py

A quote, a slash or an equals sign that has a combining mark, a joiner or a prepended sign beside it is another Character,
which `split`, `firstIndex` and `replacing` pass over; a shell, DuckDB or a server takes it for what it is. FoundationShim has
the same by bytes: split(at:), firstIndex(at:), lastIndex(at:), prefix(until:), replacing(each:). Exit status 1 if there
is one more than ALLOWED, which may only fall.
"""

import os
import re
import sys

ALLOWED = 0
MARK = r'"(?:\\.|[^\w"\\])"'
FOUND = re.compile(rf'(?<!utf8)(?<!unicodeScalars)(?<!scalars)\.(?:split\(separator: {MARK}|(?:first|last)Index\(of: {MARK}'
                   rf'|prefix \{{ \$0 != {MARK}|replacing\("(?:\\.|[^\w"\\]))')


def main():
    found = []
    for folder, _, names in sorted(os.walk("Sources")):
        for name in sorted(names):
            if not name.endswith(".swift"):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                found += [f"{path}:{number}: {line.strip()}" for number, line in enumerate(file, 1)
                          if FOUND.search(line)]
    if len(found) > ALLOWED:
        print("\n".join(found))
        sys.exit(f"error: {len(found)} marks are looked for by Characters, and {ALLOWED} may be; FoundationShim has the "
                 "same by bytes: split(at:), firstIndex(at:), prefix(until:), replacing(each:)")


if __name__ == "__main__":
    main()
