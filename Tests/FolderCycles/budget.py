"""Lines of each part of Sources beside CONTRIBUTING.md's table, its comments that begin with a question word, and the
types on a plain line's way.

    python3 Tests/FolderCycles/budget.py [--lower]

Exit status 1 if a part has more lines than "at most", or that stays above the goal although the part got smaller; or if
the page on a line's way names more types than 35, or one that is gone.
--lower writes today's numbers into the table, where they are smaller.
"""

import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = os.path.join(TOP, "CONTRIBUTING.md")
ROW = re.compile(r"^\| ([^|]+) \| [^|]+ \| ([\w\-/ ]+) \| (\d+) \| (\d+) \|$", re.M)
COMMENTS = re.compile(r"^(At most )(\d+)( comments of Sources begin with .*?the goal is )(\d+)", re.M)
OPENING = re.compile(rb"^ *///? (What|How|Where|Who|Those|That|Which) ", re.M)
SLACK = 100
WAY = os.path.join(TOP, "Sources", "BatchPipeline", "BatchPipeline.docc", "HowALineBecomesAResult.md")
TYPE = re.compile(rb"\b(?:struct|class|enum|protocol) (\w+)")
TYPES_ON_THE_WAY = 35


def sources():
    """By path below Sources, the file's bytes; of files that git tracks, but for Markdown."""
    names = subprocess.run(["git", "ls-files", "-z", "Sources"], cwd=TOP, check=True, capture_output=True).stdout
    for name in names.decode().split("\0"):
        path = os.path.join(TOP, name)
        if name and not name.endswith(".md") and os.path.isfile(path):
            with open(path, "rb") as file:
                yield name[len("Sources/"):], file.read()


def main():
    with open(PAGE) as file:
        page = file.read()
    rows = [(name, folders.split(), int(most), int(goal)) for name, folders, most, goal in ROW.findall(page)]
    # A folder inside another one counts for its own part alone.
    parts = sorted(((folder + "/", name) for name, folders, _, _ in rows for folder in folders), reverse=True)
    counts, comments, wrong, types = dict.fromkeys((row[0] for row in rows), 0), 0, [], set()
    for path, text in sources():
        part = next((name for folder, name in parts if path.startswith(folder)), None)
        comments += len(OPENING.findall(text))
        types.update(name.decode() for name in TYPE.findall(text))
        if part is None:
            wrong.append(f"Sources/{path} is of no part in CONTRIBUTING.md's table")
        else:
            counts[part] += text.count(b"\n")
    limits = [(name, counts[name], most, goal, "lines") for name, _, most, goal in rows]
    if found := COMMENTS.search(page):
        limits.append(("Sources", comments, int(found[2]), int(found[4]), "comments that begin with a question word"))
    for name, count, most, goal, unit in limits:
        if count > most:
            wrong.append(f"{name} has {count} {unit}, and CONTRIBUTING.md allows {most}: take away before you add")
        elif most > max(goal, count + SLACK):
            wrong.append(f"{name} has only {count} {unit}: lower its {most} in CONTRIBUTING.md (budget.py --lower)")
    with open(WAY) as file:
        way = re.findall(r"`(\w+)`", file.read().split("### The plain way")[1].split("###")[0])
    wrong += [f"{os.path.basename(WAY)} names `{name}`, and no type is called so" for name in way if name not in types]
    if len(way) > TYPES_ON_THE_WAY:
        wrong.append(f"a plain line meets {len(way)} types; {TYPES_ON_THE_WAY} are allowed")
    if "--lower" in sys.argv:
        lowered = lambda count, most, goal: str(min(most, max(count, goal)) if most else max(count, goal))
        for name, count, most, goal, unit in limits[:len(rows)]:
            page = re.sub(rf"^(\| {re.escape(name)} \|.*\| )\d+( \| \d+ \|)$",
                          lambda row: row[1] + lowered(count, most, goal) + row[2], page, flags=re.M)
        page = COMMENTS.sub(lambda one: one[1] + lowered(comments, int(one[2]), int(one[4])) + one[3] + one[4], page)
        with open(PAGE, "w") as file:
            file.write(page)
        return
    for text in wrong:
        print(f"error: {text}")
    print(f"Sources: {sum(counts.values())} lines")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
