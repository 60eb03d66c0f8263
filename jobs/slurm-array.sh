#!/bin/bash
# A job on four nodes: sbatch jobs/slurm-array.sh, from the folder that has jobs.
# A task that is killed and requeued goes on where it was. When all are done:
#   phibatch merge out/demo.jsonl --shards 4
#SBATCH --job-name=phibatch
#SBATCH --array=1-4
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=phibatch-%A-%a.log
# What is under way is saved within two seconds of a SIGTERM, which is sent before the time is up.
#SBATCH --signal=B:TERM@60
exec phibatch run --quiet --wait jobs/demo.yaml --shard auto
