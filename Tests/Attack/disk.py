"""Full disks: a small tmpfs for the output, for the cache, for both. Then room is made, and the same command
completes."""
import contextlib
import json
import os
import subprocess

from harness import Job, Skip, case, expect, results


@contextlib.contextmanager
def disk(bench, size, inodes=0):
    """A file system of `size` bytes. Yields its folder and a function that makes it large."""
    folder = bench.subfolder("disk")
    options = f"size={size}" + (f",nr_inodes={inodes}" if inodes else "")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True)
    if made.returncode:
        raise Skip(f"no tmpfs can be mounted: {made.stderr.decode().strip()[-100:]}")

    def grow():
        subprocess.run(["mount", "-o", "remount,size=1g,nr_inodes=10000", folder], check=True)
    try:
        yield folder, grow
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def answers(bench, count=12):
    lines = [json.dumps({"id": f"n{number}", "prompt": f"Count up from {number}."}) for number in range(count)]
    return Job(["--max-tokens", "4", "--threads", "1", "--checkpoint-interval", "0"], lines)


@case("disk/output", quick=True)
def output(bench):
    """Whatever its size: nothing is lost, and with room the command completes."""
    job = answers(bench)
    bench.expected(job)
    ended = set()
    for pages in (3, 5) if bench.quick else range(2, 16):
        with disk(bench, pages * 4096) as (folder, grow):
            try:
                job.write(folder)
            except OSError:
                continue
            what = f"a disk of {pages} pages"
            run = bench.run(bench.command(job.settings), folder, what=what)
            run.must_end_with(0, 73, 74, what=what)
            ended.add(run.code)
            if run.code:
                expect(results(folder) is None, f"{what}: status {run.code}, but an output is there")
            again = bench.run(bench.command(job.settings), folder, what=f"{what}, once more")
            again.must_end_with(0, 73, 74, what=f"{what}, once more")
            grow()
            bench.must_complete(job, folder, f"{what}, with room made")
    expect(ended - {0}, "no disk was too small")


@case("disk/earlier-output")
def earlier_output(bench):
    """The earlier output stays until the new one is whole."""
    job = answers(bench)
    more = job.having(job.lines + answers(bench, 30).lines[12:])
    for pages in range(4, 20, 2):
        with disk(bench, 64 * 4096) as (folder, grow):
            job.write(folder)
            bench.run(bench.command(job.settings), folder).must_end_with(0)
            before = results(folder)
            more.write(folder)
            with open(os.path.join(folder, "filler"), "wb") as filler:
                filler.truncate(0)
                free = os.statvfs(folder).f_bavail
                with contextlib.suppress(OSError):
                    filler.write(b"x" * 4096 * max(0, free - pages))
                    filler.flush()
            what = f"{pages} pages left"
            run = bench.run(bench.command(more.settings), folder, what=what)
            run.must_end_with(0, 73, 74, what=what)
            expect(results(folder) == (bench.expected(more) if run.code == 0 else before),
                   f"{what}: status {run.code}, and the earlier output is gone or changed")
            os.unlink(os.path.join(folder, "filler"))
            bench.must_complete(more, folder, f"{what}, with room made")


@case("disk/no-inodes")
def no_inodes(bench):
    job = answers(bench)
    for inodes in range(2, 8):
        with disk(bench, 1 << 20, inodes) as (folder, grow):
            with contextlib.suppress(OSError):
                job.write(folder)
            if not os.path.exists(os.path.join(folder, "in.jsonl")):
                continue
            run = bench.run(bench.command(job.settings), folder, what=f"{inodes} inodes")
            run.must_end_with(0, 73, 74, what=f"{inodes} inodes")
            grow()
            bench.must_complete(job, folder, f"{inodes} inodes, with more made")


@case("disk/cache", quick=True)
def cache(bench):
    """Weights that can't be kept are only packed anew."""
    bench.expected(bench.small)
    for size in (0, 4096) if bench.quick else (0, 4096, 1 << 20, 16 << 20, 64 << 20, 95 << 20):
        with disk(bench, max(size, 4096)) as (folder, grow):
            if not size:
                with contextlib.suppress(OSError), open(os.path.join(folder, "filler"), "wb") as filler:
                    filler.write(b"x" * 8192)
            job = bench.subfolder("job")
            bench.small.write(job)
            what = f"a cache disk of {size} bytes"
            bench.must_complete(bench.small, job, what, environment={"PHIBATCH_CACHE": folder})
            left = [name for name in os.listdir(folder) if name.endswith(".tmp")]
            expect(not left, f"{what}: left behind: {left}")
            grow()
            bench.must_complete(bench.small, job, f"{what}, with room made",
                                command=bench.command(bench.small.settings + ["--restart"]),
                                environment={"PHIBATCH_CACHE": folder})


def many(bench):
    """More results than memory holds, none of which needs the model."""
    count = 20_000
    lines = [json.dumps({"id": f"n{number}"}) for number in range(count)]
    return Job(["--max-failures", "100%"], lines)


@case("disk/stream", quick=True)
def stream(bench):
    """`output: -` with a cache disk that is full: all results come, in order."""
    job = many(bench)
    for size in (4096, 64 << 10):
        with disk(bench, size) as (cache, _):
            folder = bench.subfolder("stream")
            job.write(folder)
            for fill in (False, True):
                if fill:
                    with contextlib.suppress(OSError), open(os.path.join(cache, "filler"), "wb") as filler:
                        filler.write(b"x" * 2 * size)
                what = f"output - with a cache disk of {size} bytes" + (", full" if fill else "")
                run = bench.run(bench.command(job.settings, output="-"), folder, what=what,
                                environment={"PHIBATCH_CACHE": cache})
                ids = [json.loads(line)["id"] for line in run.out.splitlines()]
                expect(ids == [f"n{number}" for number in range(len(ids))], f"{what}: results out of order")
                expect(run.code == 0 and len(ids) == len(job.lines), f"{what}: {len(ids)} results, {run}")


@case("disk/both")
def both(bench):
    """Output and cache on one disk that fills with many results."""
    job = many(bench)
    bench.expected(job)
    for size in (100_000, 1_200_000, 2_000_000, 4_500_000, 6_500_000):
        with disk(bench, size) as (folder, grow):
            with contextlib.suppress(OSError):
                job.write(folder)
            if os.path.getsize(os.path.join(folder, "in.jsonl")) < len(job.text):
                # Half an input would be another job.
                os.truncate(os.path.join(folder, "in.jsonl"), 0)
                place = bench.subfolder("input")
                job.write(place)
                os.unlink(os.path.join(folder, "in.jsonl"))
                os.symlink(os.path.join(place, "in.jsonl"), os.path.join(folder, "in.jsonl"))
            environment = {"PHIBATCH_CACHE": os.path.join(folder, "cache")}
            what = f"a disk of {size} bytes for all"
            run = bench.run(bench.command(job.settings), folder, what=what, environment=environment)
            run.must_end_with(0, 73, 74, what=what)
            grow()
            bench.must_complete(job, folder, f"{what}, with room made", leftovers=["cache"], environment=environment)
