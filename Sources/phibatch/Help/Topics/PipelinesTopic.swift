extension HelpTopic {
    static let pipelines = HelpTopic(
        "pipelines", "phibatch with make, cron, jq, and one job after another",
        """
        Run a job, and look where it stands:

          phibatch run job.yaml
          phibatch status job.yaml

        Answers that came about, as id and text:

          jq -c 'select(.error | not) | {id, text}' answers.jsonl

        One job's output is the next one's input: its `text` is a field like any other. With `keep` the fields of the \
        first input are there too. Lines that failed in the first step are passed over in the second, and counted; \
        `error_lines: pass` passes their error on. Where one model does it all, a job with `steps` is shorter.

          phibatch run --model phi-4-mini --input questions.jsonl --output answers.jsonl --keep all
          phibatch run --model phi-4-mini --input answers.jsonl --output judged.jsonl \\
              --prompt 'Is this true? {{ text }}' --keep question --keep answer=text

        In a Makefile a job is a rule. The output is there only when it is complete, and a run that was stopped goes \
        on where it was. A complete output is not written again if nothing has changed, hence the `touch`:

          answers.jsonl: job.yaml questions.jsonl
          	phibatch run --if-changed restart $< && touch $@

        From cron, without two at once, and with nothing to say unless something is wrong:

          */10 * * * * cd /data && PATH=/usr/local/bin:$PATH phibatch run --quiet --skip-if-running job.yaml

        Several jobs together; those with one model share it, and their lines the steps. Each has its own end; the exit \
        code is 0 if all are complete, else that of the first that is not.

          phibatch run questions.yaml summaries.yaml

        From a pipe into a pipe: results come in order, as they are done. Such a run can't be taken up again.

          zcat prompts.jsonl.gz | phibatch run --model phi-4-mini --input - --output - --quiet | jq -r .text

        `--log-format json` makes each line on stderr an object, with its figures as members, and `--metrics-file FILE` \
        keeps the run's numbers in Prometheus' text format, a series for each job by the name of its file (its path, \
        where two have one name); of a job with steps also how many rows were accepted, and dropped by which step. \
        `--progress json` tells programs of a run, in an object several times a second.
        """)
}
