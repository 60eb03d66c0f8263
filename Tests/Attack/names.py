"""The cache folder; names in SQL."""
import json
import os

from harness import case, duckdb, expect

MINE = b"This is mine, and nobody else's.\n"


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
