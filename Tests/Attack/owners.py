"""Modes and owners: a replaced output keeps them, or the run says before it starts why it can't."""
import json
import os
import stat

from harness import case, expect, results, wait_until
from resources import OTHER_UID, as_other, needs_root


def edited(bench, folder):
    """The small job with one line edited, so that the output is replaced."""
    lines = bench.small.lines
    job = bench.small.having([lines[0].replace("Hi", "Ho"), *lines[1:]])
    job.write(folder)
    return job


@case("owners/mode", quick=True)
def mode(bench):
    for umask, wanted in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
        folder = bench.subfolder("umask")
        bench.small.write(folder)
        bench.run(bench.command(bench.small.settings), folder, preexec=lambda: os.umask(umask)).must_end_with(0)
        found = stat.S_IMODE(os.stat(os.path.join(folder, "out.jsonl")).st_mode)
        expect(found == wanted, f"umask {umask:o}: the output has mode {found:o}")
    for kept in (0o600, 0o640, 0o666, 0o400, 0o755):
        folder = bench.subfolder("mode")
        bench.small.write(folder)
        bench.run(bench.command(bench.small.settings), folder).must_end_with(0)
        os.chmod(os.path.join(folder, "out.jsonl"), kept)
        bench.must_complete(edited(bench, folder), folder, f"mode {kept:o}")
        found = stat.S_IMODE(os.stat(os.path.join(folder, "out.jsonl")).st_mode)
        expect(found == kept, f"the output had mode {kept:o} and has {found:o}")


@case("owners/verify", quick=True)
def verify(bench):
    """What verify computes of a private output again, nobody else can read."""
    folder, temporary = bench.subfolder("verify"), bench.subfolder("tmp")
    bench.small.write(folder)
    bench.run(bench.command(bench.small.settings), folder).must_end_with(0)
    os.chmod(os.path.join(folder, "out.jsonl"), 0o600)

    def modes():
        return {os.path.relpath(os.path.join(top, name), temporary):
                stat.S_IMODE(os.lstat(os.path.join(top, name)).st_mode)
                for top, folders, files in os.walk(temporary) for name in folders + files}

    command = ["verify", *bench.command(bench.small.settings)[1:]]
    process = bench.start(command, folder, environment={"TMPDIR": temporary}, preexec=lambda: os.umask(0o022))
    found = {}

    def is_made():
        try:
            found.update(modes())
        except FileNotFoundError:
            pass
        return len(found) > 1
    wait_until(is_made, process, what="a file of verify's")
    bench.wait(process).must_end_with(0)
    expect(len(found) > 1, "verify makes no files any more; look where its results are")
    wrong = {name: oct(mode) for name, mode in found.items() if mode & 0o077}
    expect(not wrong, f"others can read {wrong}")


@case("owners/owner", quick=True)
def owner(bench):
    needs_root(bench)
    folder = bench.subfolder("owner")
    bench.small.write(folder)
    bench.run(bench.command(bench.small.settings), folder).must_end_with(0)
    path = os.path.join(folder, "out.jsonl")
    os.chown(path, OTHER_UID, OTHER_UID + 1)
    os.chmod(path, 0o640)
    bench.must_complete(edited(bench, folder), folder, "another's output, as root")
    found = os.stat(path)
    expect((found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (OTHER_UID, OTHER_UID + 1, 0o640),
           f"the output belongs to {found.st_uid}:{found.st_gid}, mode {found.st_mode:o}")
    # Someone else can't keep the owner: it says so before it starts, or keeps it some way.
    os.chmod(folder, 0o777)
    os.chown(path, 0, 0)
    os.chmod(path, 0o644)
    refused(bench, folder, "another's output", keeps_owner=True)


def refused(bench, folder, what, keeps_owner=False):
    """An edited job by another user is refused before anything is computed, and the output stays."""
    path = os.path.join(folder, "out.jsonl")
    before, content, there = os.stat(path), results(folder), os.listdir(folder)
    job = edited(bench, folder)
    run = bench.run(bench.command(job.settings), folder, what=what, preexec=as_other(),
                    environment={"PHIBATCH_CACHE": "off"})
    if keeps_owner and run.code == 0:
        expect(os.stat(path).st_uid == before.st_uid, f"{what}: status 0, but the owner is lost")
        return
    run.must_end_with(65, 73, 74, what=what)
    expect(results(folder) == content, f"{what}: the output is changed")
    status = bench.run(["status", *bench.command(job.settings)[1:], "--json"], folder)
    done = json.loads(status.out)
    expect(done["state"] in ("complete", "out_of_date", "waiting") or done["in_flight"] == 0 and done["done"] <= 3,
           f"{what}: work was done before it was refused: {done}")
    left = [name for name in os.listdir(folder) if name not in there]
    expect(not left, f"{what}: found only after the work; left {left}")


@case("owners/sticky", quick=True)
def sticky(bench):
    """Where the output can't be put in place in the end, that is found before the work."""
    needs_root(bench)
    folder = bench.subfolder("sticky")
    bench.small.write(folder)
    bench.run(bench.command(bench.small.settings), folder).must_end_with(0)
    os.chmod(folder, 0o1777)
    refused(bench, folder, "someone else's output in a sticky folder")
