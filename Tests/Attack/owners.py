"""Modes of files; that outputs keep theirs is tested in OutputPlaceTests."""
import os
import stat

from harness import case, expect, wait_until


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
