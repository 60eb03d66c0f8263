extension HelpTopic {
    static let reuse = HelpTopic(
        "reuse", "answers that are taken from earlier jobs and other people's",
        """
        With `answers` no answer is computed twice:

          answers: /shared/answers

        The folder, which is made if it is not there, is a store of what models have answered. Before a request begins it \
        is looked up: if the same model was asked the same, by this job, another step or job, or a colleague, the answer \
        is taken, and the result has the same bytes, but for `timing`, which has no time then. What is computed is added. \
        The end of a run says how many answers were taken and added.

        The same means: the model's files (with an adapter's and the tokenizer's), the arithmetic (`engine`, `kv`) and \
        `long_rope`, the prompt's tokens, and each setting that the answer depends on; where it is drawn (`temperature` \
        above 0), also the seed, the line's id, the sample, the step and the try. So at temperature 0 any line with the same \
        prompt takes the answer, and else the same line of the same input does. It makes no difference what else a job \
        says: its input, its output, `keep`, `tokens` or `workers`.

        Any number of runs may use a folder at once, on any number of machines: each writes files of its own (`.answers`), \
        and sees what others have added when it begins and about once a minute. What is in memory when a run is killed is \
        not added; the job's own results don't depend on it. Each record has a sum and its whole key, and is used only if \
        both are right; damage costs a computation and is told. `answers_limit` bounds the folder: when a run adds, the \
        files that were written least recently go first, but none of a run that goes on. Where the folder can't be \
        written it is read, and a message says that nothing is added.

        A sum says that a record is whole, and not who wrote it: whoever can write to the folder can give your jobs \
        answers that no model made. Share one with people you trust; a message says if everybody can write to it. It holds \
        no prompts, but answers, as token ids that anyone with the model can read, so let only those read it who may know \
        them.

        `phibatch verify` takes nothing from the store: it shows whether an output is the model's, whoever had it computed. \
        What it computes it also looks up, so that a job's lines are a sample of the store. An answer there that says \
        something else is named by its key and removed (its record is spoilt where it stands, and nobody takes it any \
        more), and the exit code is 1:

          phibatch verify job.yaml --answers /shared/answers --sample 5%
        """)
}
