"""Folders of one module that name each other's types: none may.

    python3 Tests/FolderCycles/cycles.py [--names]

A folder may use those beside it, as long as they don't use it. Files at the top of a module may use all of its folders
and be used by them. --names shows which types make the pairs. Exit status 1 if there is one.
"""

import collections
import os
import re
import sys

TYPE = re.compile(r"^(?:(?:@\w+(?:\([^)]*\))?|public|package|final|indirect|nonisolated)\s+)*"
                  r"(?:struct|class|enum|protocol|actor|typealias)\s+(\w+)", re.M)
TEXT = re.compile(r'//.*|"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"')
OWN = re.compile(r"\b(?:struct|class|enum|protocol|actor|typealias|associatedtype)\s+(\w+)")
NAME = re.compile(r"(?<![.\w])[A-Z]\w+")


def files(module):
    for folder, _, names in os.walk(module):
        room = os.path.relpath(folder, module).split(os.sep)[0]
        for name in names:
            if name.endswith(".swift") and room != ".":
                with open(os.path.join(folder, name)) as file:
                    yield room, name, TEXT.sub("", file.read())


def pairs(module):
    """By pair of folders, what the first names of the second's, and in which files."""
    texts = list(files(module))
    owners = collections.defaultdict(set)
    for room, _, text in texts:
        for name in TYPE.findall(text):
            owners[name].add(room)
    uses = collections.defaultdict(lambda: collections.defaultdict(set))
    for room, file, text in texts:
        for name in set(NAME.findall(text)) - set(OWN.findall(text)):
            if len(owners[name]) == 1 and room not in owners[name]:
                uses[room, min(owners[name])][name].add(file)
    return {pair: names for pair, names in uses.items() if pair[::-1] in uses}


def main():
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Sources")
    wrong = 0
    for module in sorted(os.listdir(top)):
        found = pairs(os.path.join(top, module))
        if "--names" in sys.argv:
            for (one, other), names in sorted(found.items()):
                print("%s: %s names of %s:" % (module, one, other))
                for name, users in sorted(names.items()):
                    print("    %s in %s" % (name, ", ".join(sorted(users))))
        for pair in sorted(pair for pair in found if pair[0] < pair[1]):
            print("error: %s: the folders %s name each other's types" % (module, " and ".join(pair)))
            wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
