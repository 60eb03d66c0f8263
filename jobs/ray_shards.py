#!/usr/bin/env python3
"""A job in shards as Ray tasks, merged at the end: ray_shards.py JOB OUTPUT [SHARDS]

More shards than workers, so that fast nodes take more of them and all end at about the same time. A shard whose worker
dies is tried again on another one, and goes on where it was: the output's folder is one that all nodes see.
"""
import os
import subprocess
import sys

import ray

job, output = map(os.path.abspath, sys.argv[1:3])


@ray.remote(num_cpus=1, max_retries=5, retry_exceptions=True)
def run(shard):
    subprocess.run(["phibatch", "run", "--quiet", "--wait", job, "--output", output, "--shard", shard], check=True)
    return shard


ray.init()
workers = int(ray.cluster_resources()["CPU"])
shards = int(sys.argv[3]) if len(sys.argv) > 3 else 4 * workers
for shard in [run.remote(f"{number}/{shards}") for number in range(1, shards + 1)]:
    print("done:", ray.get(shard), flush=True)
subprocess.run(["phibatch", "merge", output, "--shards", str(shards)], check=True)
