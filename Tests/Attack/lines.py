"""Inputs that are emptied, rotated or cut short, outputs that are edited: results whose lines are gone are kept."""
import json
import os
import re

from harness import Job, REFUSALS, case, expect, is_kept, results, rows

SETTINGS = ["--max-tokens", "2", "--threads", "1"]


def lines(count, start=0):
    """Token ids, so that each line costs as little as can be."""
    return [json.dumps({"id": f"n{number}", "prompt": [5, 6, 7 + number]}) for number in range(start, start + count)]


def finished(bench, count=36):
    """A folder with a finished job."""
    job = Job(SETTINGS, lines(count))
    folder = bench.subfolder("finished")
    job.write(folder)
    bench.run(bench.command(job.settings), folder).must_end_with(0, what="the first run")
    with open(os.path.join(folder, "out.jsonl"), "rb") as file:
        return job, folder, file.read()


def output(folder):
    with open(os.path.join(folder, "out.jsonl"), "rb") as file:
        return file.read()


def old(folder):
    """The earlier outputs that are kept, by number."""
    found = {}
    for name in os.listdir(folder):
        number = re.fullmatch(r"out\.jsonl\.old-([0-9]+)", name)
        if number:
            with open(os.path.join(folder, name), "rb") as file:
                found[int(number[1])] = file.read()
    return found


def no_journal(folder, what):
    left = [name for name in os.listdir(folder)
            if name not in ("in.jsonl", "out.jsonl") and not is_kept(name.encode())]
    expect(not left, f"{what}: left behind: {left}")


@case("lines/emptied", quick=True)
def emptied(bench):
    """An input with no lines never replaces results."""
    job, folder, before = finished(bench)
    for text in ("", "\n\n", " \n"):
        with open(os.path.join(folder, "in.jsonl"), "w") as file:
            file.write(text)
        for more in ([], ["-q"]):
            what = f"an input that is {text!r}"
            run = bench.run(bench.command(job.settings + more), folder, what=what)
            expect(output(folder) == before, f"{what}: the output is changed, {run}")
            run.must_end_with(*REFUSALS, what=what)
    run = bench.run(bench.command(job.settings + ["-q"], input="-"), folder, what="--input - < /dev/null")
    expect(output(folder) == before, f"--input - < /dev/null: the output is changed, {run}")
    run.must_end_with(*REFUSALS, what="--input - < /dev/null")
    with open(os.path.join(folder, "in.jsonl"), "w"):
        pass
    bench.run(bench.command(job.settings + ["--prune"]), folder, what="--prune with no lines")
    kept = [output(folder), *old(folder).values()]
    expect(before in kept, "--prune with no lines: the results are lost")
    no_journal(folder, "an emptied input")
    # An input that never had lines is a complete job.
    fresh = bench.subfolder("fresh")
    Job(SETTINGS, []).write(fresh)
    bench.run(bench.command(SETTINGS), fresh).must_end_with(0, what="no lines, and no results")


@case("lines/rotated", quick=True)
def rotated(bench):
    """One new line in place of 36: refused, unless --prune says so; then the earlier output is kept."""
    job, folder, before = finished(bench)
    after = Job(SETTINGS, lines(1, start=100))
    after.write(folder)
    for more in ([], ["-q"]):
        run = bench.run(bench.command(job.settings + more), folder, what="a rotated input")
        expect(output(folder) == before, f"a rotated input: the output is changed, {run}")
        run.must_end_with(*REFUSALS, what="a rotated input")
    run = bench.run(bench.command(job.settings + ["--prune"]), folder, what="a rotated input with --prune")
    run.must_end_with(0, what="a rotated input with --prune")
    expect([row["id"] for row in rows(folder)] == ["n100"], f"--prune: other results: {results(folder)}")
    expect(before in old(folder).values(), f"--prune: the earlier output is not kept: {os.listdir(folder)}")
    no_journal(folder, "--prune")


@case("lines/some-gone", quick=True)
def some_gone(bench):
    """A tenth or less: done, with a warning that -q doesn't silence; the earlier output is kept."""
    job, folder, before = finished(bench)
    job.having(job.lines[1:]).write(folder)
    run = bench.run(bench.command(job.settings + ["-q"]), folder, what="one line of 36 gone")
    run.must_end_with(0, what="one line of 36 gone")
    expect(len(rows(folder)) == 35, f"one line of 36 gone: {len(rows(folder))} results")
    expect(before in old(folder).values(), f"one line gone: the earlier output is not kept: {os.listdir(folder)}")
    expect(b"1" in run.err, f"one line gone: -q says nothing of it: {run}")
    no_journal(folder, "one line of 36 gone")
    # Half of them.
    job, folder, before = finished(bench)
    job.having(job.lines[18:]).write(folder)
    run = bench.run(bench.command(job.settings), folder, what="half of the lines gone")
    expect(output(folder) == before, f"half of the lines gone: the output is changed, {run}")
    run.must_end_with(*REFUSALS, what="half of the lines gone")
    # Mended: as if nothing had been.
    job.write(folder)
    run = bench.run(bench.command(job.settings), folder, what="the lines are back")
    run.must_end_with(0, what="the lines are back")
    expect(output(folder) == before, "the lines are back, but the output is changed")
    no_journal(folder, "the lines are back")


@case("lines/stopped-job")
def stopped_job(bench):
    """Results in a journal are kept as those in an output are."""
    job = Job(SETTINGS, lines(30) + ['{"id":"bad"}'])
    folder = bench.subfolder("stopped")
    job.write(folder)
    bench.run(bench.command(job.settings), folder).must_end_with(3)
    with open(os.path.join(folder, "in.jsonl"), "w") as file:
        file.write(lines(1, start=100)[0] + "\n")
    run = bench.run(bench.command(job.settings), folder, what="a stopped job with a rotated input")
    if run.code == 0:
        # Then what had been done must be somewhere.
        kept = [open(os.path.join(folder, name), "rb").read() for name in os.listdir(folder) if name != "in.jsonl"]
        expect(b'"n29"' in b"".join(kept), "a stopped job with a rotated input: 30 results are lost without a word")
    else:
        job.having(lines(30) + ['{"id":"bad","prompt":[5]}']).write(folder)
        run = bench.run(bench.command(job.settings), folder)
        run.must_end_with(0)
        expect(len(rows(folder)) == 31, f"{len(rows(folder))} results")


@case("lines/restart-keeps", quick=True)
def restart_keeps(bench):
    """--restart on a finished output keeps the earlier one; a few of them, if it is done again and again."""
    job, folder, before = finished(bench, 3)
    seen = [before]
    for number in range(1, 3 if bench.quick else 9):
        bench.run(bench.command(job.settings + ["--restart"]), folder).must_end_with(0, what="--restart")
        expect(seen[-1] in old(folder).values(),
               f"--restart {number}: the earlier output is not kept: {os.listdir(folder)}")
        seen.append(output(folder))
        no_journal(folder, "--restart")
    expect(len(old(folder)) < 12, f"{len(old(folder))} earlier outputs are kept")


@case("lines/keep-old")
def keep_old(bench):
    """keep_old says how many are kept."""
    job, folder, _ = finished(bench, 2)
    with open(os.path.join(folder, "job.json"), "w") as file:
        json.dump({"model": bench.suite.model, "input": "in.jsonl", "output": "out.jsonl", "max_tokens": 2,
                   "keep_old": 2}, file)
    for _ in range(5):
        before = output(folder)
        bench.run(["run", "job.json", "--restart"], folder).must_end_with(0, what="keep_old: 2")
        expect(before in old(folder).values(), "keep_old: 2: the last one is not kept")
    expect(len(old(folder)) == 2, f"keep_old: 2 keeps {len(old(folder))}")
    # Whoever put a file there keeps it.
    with open(os.path.join(folder, "out.jsonl.old-1"), "wb") as file:
        file.write(b"mine\n")
    for _ in range(4):
        bench.run(["run", "job.json", "--restart"], folder).must_end_with(0, what="keep_old: 2")
    expect(b"mine\n" in old(folder).values(), "a file of someone else's is removed as an old output")


@case("lines/half-a-line", quick=True)
def half_a_line(bench):
    """It was cut: that is an error, never a complete job, and what was done is kept for the whole file."""
    whole = lines(5)
    for cut in (1, 7, 20, len(whole[4]) - 1):
        folder = bench.subfolder("half")
        with open(os.path.join(folder, "in.jsonl"), "w") as file:
            file.write("".join(line + "\n" for line in whole[:4]) + whole[4][:cut])
        what = f"{cut} bytes of a line"
        run = bench.run(bench.command(SETTINGS), folder, what=what)
        run.must_end_with(74, what=what)
        expect(not os.path.exists(os.path.join(folder, "out.jsonl")), f"{what}: there is an output")
        Job(SETTINGS, whole).write(folder)
        run = bench.run(bench.command(SETTINGS), folder, what=f"{what}, then the rest")
        run.must_end_with(0, what=f"{what}, then the rest")
        expect(results(folder) == bench.expected(Job(SETTINGS, whole)), f"{what}, then the rest: other results")
    # A last line that is whole is done, though it has no end.
    folder = bench.subfolder("whole")
    with open(os.path.join(folder, "in.jsonl"), "w") as file:
        file.write("\n".join(whole))
    bench.run(bench.command(SETTINGS), folder).must_end_with(0, what="no line feed at the end")
    expect(len(rows(folder)) == 5, "a whole last line without a line feed is not done")


@case("lines/edited-output")
def edited_output(bench):
    """`verify --file-only` finds edits of a finished output."""
    job, folder, before = finished(bench, 4)
    command = ["verify", *bench.command(job.settings)[1:], "--file-only"]
    bench.run(command, folder, what="verify --file-only").must_end_with(0, what="verify --file-only of an intact output")
    edits = [(b'"text":"', b'"text":"!'), (b'"finish_reason":"', b'"finish_reason":"x'),
             (b'"completion_tokens":', b'"completion_tokens":1')]
    for old_text, new_text in edits:
        with open(os.path.join(folder, "out.jsonl"), "wb") as file:
            file.write(before.replace(old_text, new_text, 1))
        run = bench.run(command, folder, what="verify --file-only")
        expect(run.code not in (0, 64), f"verify --file-only doesn't find {new_text}: {run}")
    with open(os.path.join(folder, "out.jsonl"), "wb") as file:
        file.write(before)
    bench.run(command, folder).must_end_with(0, what="verify --file-only of the output as it was")
