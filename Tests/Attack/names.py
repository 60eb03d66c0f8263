"""Names of our own files; links; the cache folder; names in SQL."""
import json
import os

from harness import REFUSALS, Skip, case, duckdb, expect, results, snapshot
from kills import faulty, spread

MINE = b"This is mine, and nobody else's.\n"
SUFFIXES = [".tmp", ".log", ".lock", ".old-1", ".old-1.log", ".phibatch-log", ".phibatch-first"]


def refused_or_complete(bench, run, folder, what, output="out.jsonl"):
    run.must_end_with(0, *REFUSALS, what=what)
    if run.code == 0:
        expect(results(folder, output) == bench.expected(bench.small), f"{what}: status 0, but other results")


def own_names(bench):
    """The names, other than the output's, that a run makes, moves or removes beside it: whatever they are now."""
    def make():
        names = []
        for more in ([], ["--restart"]):
            folder = bench.subfolder("names")
            bench.small.write(folder)
            settings = bench.small.settings + ["--checkpoint-interval", "0"]
            bench.run(bench.command(settings), folder)
            _, calls = faulty(bench, bench.command(settings + ["--restart"]), folder, folder)
            for call in calls:
                name = os.path.basename(call.path.replace(" (deleted)", ""))
                if call.path.startswith(folder + "/") and name.startswith("out.jsonl."):
                    names.append(name[len("out.jsonl"):])
        return sorted(set(names))
    try:
        found = bench.suite.once("own names", make)
    except Skip:
        found = []
    names = list(dict.fromkeys(found + SUFFIXES))
    return spread(names, 5) if bench.quick else names


# MARK: Our own names

@case("names/foreign-like-ours", quick=True)
def foreign_like_ours(bench):
    """No file that is not provably ours is written or removed, by a run, a second one, or a restart."""
    bench.expected(bench.small)
    wrong = []
    for suffix in own_names(bench):
        for content in [MINE] if bench.quick else [MINE, b"", b'{"my":"json"}\n']:
            folder = bench.subfolder("foreign")
            bench.small.write(folder)
            with open(os.path.join(folder, "out.jsonl" + suffix), "wb") as file:
                file.write(content)
            before = snapshot(folder)[f"out.jsonl{suffix}".encode()]
            what = f"out.jsonl{suffix} with {content[:9]}"
            for more in ([], ["--restart"]):
                run = bench.run(bench.command(bench.small.settings + more), folder, what=what)
                refused_or_complete(bench, run, folder, what)
                # An empty file may be what a killed run has left, before it could write in it.
                if content and snapshot(folder).get(f"out.jsonl{suffix}".encode()) != before:
                    wrong.append(f"out.jsonl{suffix}")
                    break
    expect(not wrong, lambda: f"changed or gone: {', '.join(dict.fromkeys(wrong))}")


@case("names/links-like-ours", quick=True)
def links_like_ours(bench):
    """A link with one of our names is not followed."""
    bench.expected(bench.small)
    wrong = []
    for suffix in own_names(bench):
        for dangling in [False] if bench.quick else [False, True]:
            folder, other = bench.subfolder("link"), bench.subfolder("other")
            bench.small.write(folder)
            target = os.path.join(other, "diary")
            if not dangling:
                with open(target, "wb") as file:
                    file.write(MINE)
            os.symlink(target, os.path.join(folder, "out.jsonl" + suffix))
            before = snapshot(other)
            what = f"out.jsonl{suffix} is a link{' to nothing' if dangling else ''}"
            for more in ([], ["--restart"]):
                run = bench.run(bench.command(bench.small.settings + more), folder, what=what)
                refused_or_complete(bench, run, folder, what)
            if snapshot(other) != before:
                wrong.append(what)
            elif not os.path.islink(os.path.join(folder, "out.jsonl" + suffix)):
                wrong.append(f"{what}: it is gone")
    expect(not wrong, lambda: f"{len(wrong)}: {'; '.join(wrong)}")


@case("names/cache-folder", quick=True)
def cache_folder(bench):
    """A cache folder that holds others' things is not cleaned."""
    bench.expected(bench.small)
    for inside in ("", "phibatch"):
        cache, folder = bench.subfolder("cache"), bench.subfolder("job")
        top = os.path.join(cache, inside)
        os.makedirs(top, exist_ok=True)
        for name in ("letter.tmp", "a.weights", "model.1-2.tmp", "scratch-1", "notes", "x.weights.tmp",
                     "model-5f.weights"):
            with open(os.path.join(top, name), "wb") as file:
                file.write(MINE)
        # More than the cache may take in all: sparse.
        try:
            with open(os.path.join(top, "mine.weights"), "wb") as file:
                file.truncate(40_000_000_000)
            os.utime(os.path.join(top, "mine.weights"), (1, 1))
        except OSError:
            pass
        before = {name: os.lstat(os.path.join(top, name)) for name in os.listdir(top)}
        bench.small.write(folder)
        for more in ([], ["--restart"]):
            run = bench.run(bench.command(bench.small.settings + more), folder, environment={"PHIBATCH_CACHE": cache})
            run.must_end_with(0)
        gone = [name for name, status in before.items() if not os.path.lexists(os.path.join(top, name))
                or (os.lstat(os.path.join(top, name)).st_size, os.lstat(os.path.join(top, name)).st_mtime_ns)
                != (status.st_size, status.st_mtime_ns)]
        expect(not gone, f"gone or changed in PHIBATCH_CACHE/{inside}: {sorted(gone)}")


# MARK: SQL

# After the command it would end, COPY writes a file. The quote is one Character with what stands before or after it.
STOLEN = "stolen.csv"
PREPENDED = ("x\u0600' || chr(92) || chr(34) || $$ VARCHAR{close}$$ || chr(34)) AS r FROM (SELECT $${{}}$$ AS json))) "
             "TO $$/dev/fd/1$$ (FORMAT parquet, USE_TMP_FILE false); COPY (SELECT 42) TO $$%s$$ (FORMAT csv); --" % STOLEN)
PLAIN = "x%s VARCHAR)) AS r FROM (SELECT 1))) TO %s/dev/fd/1%s; COPY (SELECT 42) TO $$" + STOLEN + "$$; .shell touch " + STOLEN


def hostile(depth):
    """Names that would end a text or a name in SQL, so many structs deep."""
    names = [PREPENDED.format(close=")" * (depth + 1)), "\n.shell touch " + STOLEN + "\n", ".shell touch " + STOLEN]
    for quote in "'\"`\\":
        for joined in (quote + "\u0301", quote + "\u200d", "\u0600" + quote, quote + "\ufe0f", quote + "\0"):
            names.append(PLAIN % (joined, "$$", "$$"))
    return names


def tables(bench, name, settings, line, keep="all"):
    """A job whose output is Parquet: it must be made, hold the names, and nothing else may be written."""
    program = duckdb()
    folder = bench.subfolder(name)
    with open(os.path.join(folder, "in.jsonl"), "w") as file:
        file.write(json.dumps(line) + "\n")
    with open(os.path.join(folder, "job.json"), "w") as file:
        json.dump({"model": bench.suite.model, "input": "in.jsonl", "output": "out.parquet", "threads": 1,
                   "max_tokens": 600, **settings}, file)
    more = {"PHIBATCH_DUCKDB": program, "HOME": folder}
    with open(os.path.join(folder, ".duckdbrc"), "w") as file:
        file.write("COPY (SELECT 42) TO '%s';\n" % STOLEN)
    bench.run(["run", "job.json", "--quiet"], folder, what=name, environment=more).must_end_with(0, what=name)
    there = set(os.listdir(folder)) - {"in.jsonl", "job.json", ".duckdbrc", "out.parquet"}
    there -= {one for one in there if one.startswith("out.parquet.")}
    expect(not there, f"{name}: there is also {there}")
    # And what was written is read, by the same program.
    with open(os.path.join(folder, "again.json"), "w") as file:
        json.dump({"model": bench.suite.model, "input": "out.parquet", "output": "again.jsonl", "keep": keep,
                   "prompt": "Go.", "max_tokens": 1, "threads": 1}, file)
    bench.run(["run", "again.json", "--quiet"], folder, what=name, environment=more).must_end_with(0, what=name)
    expect(STOLEN not in os.listdir(folder), f"{name}: the table, read, wrote {STOLEN}")
    with open(os.path.join(folder, "again.jsonl")) as file:
        return json.loads(file.readline())


@case("names/sql-field", quick=True)
def sql_field(bench):
    # The first is one that ran; others only lost the output.
    for names in (hostile(0)[:1], hostile(0)[1:]):
        keep = {name: "v" for name in names}
        made = tables(bench, "kept fields' names", {"prompt": "Hi", "keep": keep, "max_tokens": 2}, {"id": "a", "v": 7})
        expect(all(made.get(name) == 7 for name in names), lambda: f"other names: {ascii(sorted(made))}")


@case("names/sql-honest", quick=True)
def sql_honest(bench):
    """No name of this kind loses the output."""
    names = ["it'\u0301", "n\0", 'a"\u200d', "\u0600'", "e\u0301", "\u00e9", "--", ";", "x\r\n"]
    line = {"id": "a", "v": {name: [name] for name in names}, **{name: name for name in names}}
    made = tables(bench, "honest names", {"prompt": "Hi", "keep": ["v", *names[:5], *names[6:]], "max_tokens": 2}, line)
    expect(all(made.get(name) == line[name] for name in ["v", *names[:5], *names[6:]]), lambda: ascii(made))
