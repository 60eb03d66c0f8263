import BatchPipeline

extension HelpTopic {
    static let results = HelpTopic(
        "results", "what is in a result, and the codes of errors",
        """
        By default an output has a JSON object a line, in the input's order:

        - id :: The line's, or its number, from 1.
        - index :: The line's place in the input, from 0.
        - sample :: Which of several results of the line, from 0; with `samples` only.
        - text :: The completion.
        - tool_calls :: Functions that it calls; `phibatch help tools` says more.
        - reasoning :: What the model thought before; `phibatch help reasoning` says more.
        - finish_reason :: `stop`: the model ended it. `length`: it had `max_tokens`, or an answer of a form was led to \
          its end before them. `stop_sequence`: it had one of \
          the texts of `stop`. `reasoning_length`: `max_tokens` ended it in a thought. `tool_calls`: it calls \
          functions.
        - probabilities :: Of each choice; with `choices`.
        - steps, dropped, duplicate_of :: Of a job with steps, which has their results under their names (`phibatch help steps`).
        - usage :: `prompt_tokens` and `completion_tokens`.
        - seed :: What the random stream was made with; each redo takes the next.
        - tokens :: The completion's token ids; with `tokens`.
        - logprobs :: Of each token, and of the likeliest; with `logprobs`.
        - fields of the line :: Those that `keep` names, or all with `keep: all`. A line that has none of them, and a \
        field that no line has, are a warning.
        - timing :: Seconds that the line waited, had its prompt read and was generated; tokens a second, which is 0 where an \
          equal line's answer was taken. Only this differs between two runs of a job.
        - line_hash, run, sum :: What the line was, what model and settings it was made with, and a sum of all results \
          so far.

        A line that can't be run has `error` in place of a completion, with `code`, `message` and `line`, and with \
        `file` where the input has several. The codes are:

        \(codes)

        With `results: lean` an output has nothing but the data, for who makes a dataset: `id`, `sample` where a line has \
        several, `text` (a choice has `probabilities` too, and a score `logprob`, `mean` and `perplexity` instead), and the \
        fields that `keep` names. A step has its answer under its name: a string, or the object that an answer in JSON is; \
        one that chooses or scores has an object of these members. A failed line has its `error`, and a row that a step has \
        dropped is not there.

          {"id":"a7","question":"What do bees eat?","answer":"Nectar.","topic":"bees"}

        `OUTPUT.record` then has all results in full, and whatever looks at the output again needs it: a run that goes on, \
        `status`, `verify`, `merge` and `report`. It is for JSON lines and arrays, and without `tokens` and `logprobs`; all \
        else is refused, and so is an output that is there and was made the other way.

        With `results: messages` each line is a conversation to train a model with, as trl, axolotl and OpenAI's fine-tuning \
        read it: `messages`, with the system message, what was asked and, as the assistant's, the answer (and `prefix` \
        before it); then the fields that `keep` names. A line with several samples has as many. Failed lines and dropped rows \
        are left out, and stand in `OUTPUT.record` alone. Of a job with steps it is what was asked and answered in the last \
        step that has a text sampled; those that choose or score after it only decide. The rest is as with lean, but `errors` \
        and `chat: false` are refused, too, and so are lines whose `prompt` is token ids.

          {"messages":[{"role":"user","content":"What do bees eat?"},{"role":"assistant","content":"Nectar."}]}

        With `errors: FILE` failed lines go to that file, and the output has none of them; it is empty if all went well.

        An output whose name ends in `.json` (or `output_format`) is one JSON array of these objects, and `[]` without any.

        An output whose name ends in `.csv` or `.tsv` (or `output_format`) has a row a result: id, sample, text, \
        finish_reason, prompt_tokens, completion_tokens, seed, error, error_message, and the fields that `keep` names. A job \
        with `choices` has after seed two more: probability, the answer's, and probabilities, all as JSON. A job with steps \
        has these of each, as question.text and so on, then dropped and duplicate_of; `OUTPUT.record` has its results in full. \
        Scores have no columns. Cells are quoted as RFC 4180 says; a line feed ends a row.

        An output whose name ends in `.parquet` (or `output_format`) is a Parquet file with a row a result: id, index, sample \
        (with `samples`), and the other members that a line of JSON has, but for timing, line_hash, run and sum. So usage \
        and error are structs, and a step's result is one. Whole numbers are int64, other numbers doubles; fields that \
        `keep` names have the types that they have in an input that is Parquet or Arrow, else those that all of their values fit; \
        what has values of several kinds is JSON. `results` says here, too, what is shown. The file is made at the end, by \
        the program duckdb (`pip install duckdb-cli`), without which the job does not begin. `OUTPUT.record` has all results \
        in full, as with lean. `errors` and a stream are refused. A name that ends in `.arrow` or `.feather` makes the same table \
        an Arrow file, for which a Python with pyarrow must be there, too.

        With `output_format: openai` results look as OpenAI's batch API answers; that is the default if the input's \
        first line is one of its requests, and the output's name doesn't say otherwise.

        An output whose name ends in `.gz` or `.zst` after that, as in `answers.jsonl.zst`, is packed with gzip or zstd; so is \
        a file of `errors`. All that looks at it again reads it as it is, unpacked for a while into a file without a name.

        `phibatch help score` says what a result of `task: score` has. `phibatch report OUTPUT` makes a page of results \
        for a browser: what their fields hold, and a table that can be sorted and filtered by them.

          jq -c 'select(.error) | {id, code: .error.code}' answers.jsonl
        """)

    private static var codes: String {
        LineError.Code.allCases.map { "- \($0.rawValue) :: \($0.meaning)" }.joined(separator: "\n")
    }
}

extension LineError.Code {
    /// For the help.
    fileprivate var meaning: String {
        switch self {
        case .invalidUTF8: "The line is not UTF-8."
        case .invalidJSON: "It is not a JSON object."
        case .lineTooLong: "It is longer than a line may be."
        case .badField: "A field has a wrong type or value."
        case .duplicateID: "An earlier line has its id."
        case .earlierError: "It carries the error of an earlier step, and `error_lines` is `pass`."
        case .missingPrompt: "It asks nothing."
        case .templateError: "A template can't be filled from it."
        case .badPrompt: "Its token ids are none of the model's."
        case .promptTooLong: "Its prompt leaves no room in the model's context."
        case .noRoom: "It would not fit into `kv_budget`, even alone."
        case .notFinite: "The model's numbers are infinite or none: its weights are damaged."
        case .nothingAllowed: "A constraint leaves no token to choose."
        case .badSchema: "What it says that its answer must be like can't be used."
        case .maxTokensTooSmall: "No answer of the form that is asked for is so short."
        case .invalidAnswer: "Its answers were not what is asked for; the last is in `text`, within `error`."
        }
    }
}
