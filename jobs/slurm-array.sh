#!/bin/bash
# A job on four nodes: sbatch jobs/slurm-array.sh, from the folder that has jobs.
# A task that is killed and requeued goes on where it was. When all are done:
#   phibatch merge out/demo.jsonl --shards 4
#SBATCH --job-name=phibatch
#SBATCH --array=1-4
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=phibatch-%A-%a.log
# Saved within two seconds of a SIGTERM; Slurm sends it before the time is up.
#SBATCH --signal=TERM@10
exec phibatch run --quiet --wait jobs/demo.yaml --shard auto
