import BatchEngine

extension HelpTopic {
    /// Each with its number; those before the temperature are the table's.
    private static var choiceSteps: [String] {
        let rules = RequestSetting.all.filter { $0.step != nil }.sorted { $0.step ?? 0 < $1.step ?? 0 }
        let steps =
            rules.map { "\($0.name) :: \($0.help)." } + [
                "temperature :: divides what is left. At 0, the default, the likeliest token is taken, and this is the end.",
                "top_k :: keeps the likeliest tokens.",
                "top_p :: keeps, of these, the likeliest that reach this probability together.",
                "min_p :: keeps those at least this likely, relative to the likeliest.",
                "seed :: One of what is left is drawn.",
            ]
        return steps.enumerated().map { "- \($0 + 1). \($1)" }
    }

    static let sampling = HelpTopic(
        "sampling", "how tokens are chosen, and when a completion ends",
        """
        Each token is chosen of the model's logits. Where answers must have a form (`phibatch help answers`), tokens that \
        lead out of it are gone before all else. Then come these steps:

        \(choiceSteps.joined(separator: "\n"))

        Each result has a random stream of its own, made of the `seed`, the line's id and the number of the sample, so \
        that answers don't depend on what else runs. `samples: 5` makes five results of a line. `logprobs` are the \
        model's own, as before the first step.

        At temperature 0, and with `top_k: 1`, nothing is drawn: lines of a job with the same prompt and settings, and \
        the samples of one line, have the same answer. It is computed once (while the first is under way, or among the \
        last 1,000 or so), and the end of a run says how many were answered so. Results are the same as without; \
        `phibatch verify` computes each by itself.

        A completion ends where the model ends it, at one of the texts of `stop` (which is left out), or with \
        `max_tokens`. `ignore_eos` goes on after the model's end. With `choices` whole answers are compared, and none of \
        the steps but temperature and seed has a meaning.

        Some models (LongRoPE: Phi-3 with 128k, Phi-3.5, Phi-4-mini) have two sets of rotary factors, the long ones for \
        sequences beyond a length. Which one a completion has is settled before its first token, by the tokens that it may \
        come to: its prompt's and max_tokens. So with a prompt just under that length, a larger max_tokens changes an answer \
        from its beginning on, and lines of one job may differ in it. `provenance.rope` of a result says which it was; \
        `phibatch check` warns where a job's lines lie on both sides. `long_rope: short` or `long` takes one set for \
        all of them, whatever their lengths: the short one is not made for sequences beyond it.

          phibatch run job.yaml --temperature 0.8 --top-p 0.95 --samples 5 --seed 7 --output samples.jsonl
        """)
}
