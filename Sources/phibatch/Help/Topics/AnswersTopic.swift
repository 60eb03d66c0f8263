import BatchPipeline

extension HelpTopic {
    private static var keys: String {
        AnswerKeys.about.map { "- \($0.name) :: \($0.text)" }.joined(separator: "\n")
    }

    static let answers = HelpTopic(
        "answers", "answers that follow a JSON Schema, a regular expression or a grammar",
        """
        A job or a line can say what its answers must be like:

        \(keys)

        One of them at a time, and `tools` beside it (`phibatch help tools`). The job's go before a line's, `text` \
        included. Tokens that lead out of the form are masked, and what comes always has an end within `max_tokens`: \
        before the limit only ways that still fit are open. So nothing is cut, and a line whose `max_tokens` allow no \
        answer at all is an error that says how many would do. With `prefix` the form is that of what follows it. `stop`, \
        `ignore_eos` and `task: score` don't go with it.

        JSON comes without white space, or with `indent: 2` as Python's json.dumps writes it. Members come in the \
        schema's order. Drafts 2020-12, 2019-09, 7, 6 and 4 are known, `$ref` within the schema, and the usual formats. \
        A keyword that the draft doesn't know is refused, with a JSON pointer to it, unless it begins with `x-` or `_` or \
        is known to say nothing about values (`example`, `markdownDescription` and so on). A remote `$ref` and a schema \
        that no value satisfies are refused, too: the job's before it starts, a line's as the line's error.

        Some keywords can't be decided while an answer is written (`not`, `uniqueItems`, `contains` and others); \
        `phibatch check` names those of the job's schema. Each finished answer is checked against all of it, and one that \
        fails is generated anew with another random stream, up to `retries` times (3). Then it is an \
        error with the code invalid_answer, which has the answer as `text`. At temperature 0 another one would be the \
        same, so the first is the last. A result that took more than one has their number as `attempts` in its \
        provenance. Which attempt it is depends on seed, id and sample alone: the same job gives the same bytes.

        A job's results go with the schema's content: with another one they are made anew or refused, as with any \
        other setting.

          phibatch run jobs/extract.yaml
          phibatch run --model phi-4-mini --input prompts.jsonl --output out.jsonl --schema answer.schema.json
          phibatch run --model phi-4-mini --input prompts.jsonl --output out.jsonl --regex 'yes|no'
        """)
}
