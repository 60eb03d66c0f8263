extension HelpTopic {
    static let shards = HelpTopic(
        "shards", "one job on several machines",
        """
        `--shard 2/4` takes up each fourth line from the second on, and writes `OUTPUT.shard-2-of-4`, which is stopped, \
        resumed and looked at like any output. When all are complete,

          phibatch merge OUTPUT --shards 4

        joins them in the input's order: byte for byte what one run makes, but for `timing`. A shard that is missing, \
        not complete, edited, of another job, or that saw another version of the input is named, and nothing is written. \
        `max_failures` counts for all shards together: merge ends with 3 if more lines failed, and takes \
        `--max-failures`, too.

        In a job with steps `until: 200` ends each shard with its share of the 200 rows, and `distinct` compares the rows of \
        one shard. So which rows there are depends on how many shards there are, and on nothing else. merge joins them as \
        they were decided, and `phibatch verify` knows that.

        `--shard auto` takes both numbers from the variables of Slurm's arrays (SLURM_ARRAY_TASK_ID, \
        SLURM_ARRAY_TASK_COUNT) or of an indexed job of Kubernetes (JOB_COMPLETION_INDEX, and JOB_COMPLETIONS, which \
        the job's file must set). An array of Slurm's that runs some shards again doesn't say how many there are of all: \
        where it doesn't begin with 0 or 1, or shards of another number lie there, `auto` refuses. Name the number instead:

          phibatch run job.yaml --shard $SLURM_ARRAY_TASK_ID/8

        On one machine:

          phibatch run job.yaml --shard 1/2 & phibatch run job.yaml --shard 2/2 & wait
          phibatch merge answers.jsonl --shards 2
        """)
}
