extension HelpTopic {
    static let shards = HelpTopic(
        "shards", "one job on several machines",
        """
        `--shard 2/4` takes up each fourth line from the second on, and writes `OUTPUT.shard-2-of-4`, which is stopped, \
        resumed and looked at like any output. When all are complete,

          phibatch merge OUTPUT --shards 4

        joins them in the input's order: byte for byte what one run makes, but for `timing`. A shard that is missing, \
        not complete, edited or of another job is named, and nothing is written.

        `--shard auto` takes both numbers from the variables of Slurm's arrays (SLURM_ARRAY_TASK_ID, \
        SLURM_ARRAY_TASK_COUNT) or of an indexed job of Kubernetes (JOB_COMPLETION_INDEX, and JOB_COMPLETIONS, which \
        the job's file must set).

        On one machine:

          phibatch run job.yaml --shard 1/2 & phibatch run job.yaml --shard 2/2 & wait
          phibatch merge answers.jsonl --shards 2
        """)
}
