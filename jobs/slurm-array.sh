#!/bin/bash
# A job on four nodes. From the folder that has jobs, the shards, and their merge when all of them are complete:
#   array=$(sbatch --parsable jobs/slurm-array.sh)
#   sbatch --dependency=afterok:$array --kill-on-invalid-dep=yes --wrap 'phibatch merge out/demo.jsonl --shards 4'
# A shard that failed is run again by its number: sbatch --array=3 jobs/slurm-array.sh
#SBATCH --job-name=phibatch
#SBATCH --array=1-4
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=phibatch-%A-%a.log
# A minute before the time is up this script is told, and has the task queued again, which goes on where it was.
#SBATCH --signal=B:USR1@60

# How many shards there are, however many of them this array has.
shards=4

stop() { kill -TERM "$run" 2>/dev/null; }
# By the task's own name: SLURM_JOB_ID may be that of the whole array.
again() { stop; wait "$run"; scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"; exit 143; }
trap again USR1
trap stop TERM INT

phibatch run --quiet --wait jobs/demo.yaml --shard "$SLURM_ARRAY_TASK_ID/$shards" &
run=$!
# A signal ends a wait before its time.
wait "$run"
status=$?
while kill -0 "$run" 2>/dev/null; do
    wait "$run"
    status=$?
done
exit "$status"
