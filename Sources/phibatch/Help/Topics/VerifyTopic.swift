extension HelpTopic {
    static let verify = HelpTopic(
        "verify", "how to show that answers are the model's",
        """
        A result depends on the model's files, the line, the job's settings and the seed. It does not depend on how many \
        requests ran together, how many threads there were, whether the run was interrupted, or the processor's \
        instruction set. So anybody with the prompts, the job and the model can make lines again, and compare:

          phibatch verify answers.jsonl job.yaml --sample 5%

        Lines are chosen at random. It ends with 0 if all that were made again are the same, byte for byte, and with 1 \
        and the first difference if not. The rest of the output, and the file of failed lines (`errors`), is looked at for all \
        but its answers: as many results as lines times samples, in the input's order, each byte for byte as phibatch \
        writes it, and nothing else. The last line says what was not looked at. Without a name of the results they are the \
        job's output. Outputs in another format than JSON lines, with `results` other than full, or without their failed \
        lines (`errors`), need the `.record` file beside them. \
        With `answers: FOLDER` nothing is taken from there; the folder's answers to what was computed are compared, too, \
        and those that differ are removed (`phibatch help reuse`). \
        With `engine: mlx` results are the same to within rounding only; see `phibatch help engines`.

        `provenance: true` in a job, or this afterwards, writes `OUTPUT.manifest.json`: the program's version, the \
        arithmetic, the model's files with their SHA-256 and its commit on Hugging Face, the settings, the input and the \
        output with theirs, counts, and the joules for 1,000 tokens, if the processor tells the run (RAPL). Where it lies \
        beside the results `verify` compares each of its members, and names those that nothing here can be compared with.

          phibatch manifest job.yaml

        `phibatch status JOB --check` needs no model: it looks whether the output is as it was written, and all but the \
        answers as `verify` does. `phibatch status OUTPUT --check` needs no job, and can't look at the input.
        """)
}
