#!/usr/bin/env python3
"""A job in shards as Ray tasks, merged at the end: ray_shards.py JOB OUTPUT [SHARDS]

More shards than workers, so that fast nodes take more of them and all end at about the same time. A shard whose worker
dies, or whose run a signal or an I/O error ended, is tried again, and goes on where it was: the output's folder is one
that all nodes see. Whatever else is wrong would be wrong again; it is told once, and ends this with its exit code.
"""
import os
import subprocess
import sys

import ray

job, output = map(os.path.abspath, sys.argv[1:3])


class MayPass(Exception):
    """Reading or writing failed, another run is still at it, or a signal ended the run."""


@ray.remote(num_cpus=1, max_retries=5, retry_exceptions=[MayPass])
def run(shard):
    command = ["phibatch", "run", "--quiet", "--wait", job, "--output", output, "--shard", shard]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode in (74, 75) or done.returncode > 128 or done.returncode < 0:
        raise MayPass(f"shard {shard}: exit code {done.returncode}\n{done.stderr}")
    return done.returncode, done.stderr


ray.init()
workers = int(ray.cluster_resources()["CPU"])
shards = int(sys.argv[3]) if len(sys.argv) > 3 else 4 * workers
names = [f"{number}/{shards}" for number in range(1, shards + 1)]
code = 0
for shard, task in [(name, run.remote(name)) for name in names]:
    try:
        status, said = ray.get(task)
    except MayPass as error:
        # Ray's own error holds the one that was raised.
        status, said = 75, str(getattr(error, "cause", error))
    if status == 0:
        print(f"done: {shard}", flush=True)
    elif code == 0:
        code = status
        # Shards of one job mostly fail for the same reason.
        print(f"shard {shard} ended with {status}:\n{said.strip()}", file=sys.stderr, flush=True)
    else:
        print(f"shard {shard} ended with {status}", file=sys.stderr, flush=True)
if code == 0:
    code = subprocess.run(["phibatch", "merge", output, "--shards", str(shards)]).returncode
sys.exit(code)
