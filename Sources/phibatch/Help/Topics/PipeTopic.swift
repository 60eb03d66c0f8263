import BatchPipeline

extension HelpTopic {
    static let pipe = HelpTopic(
        "pipe", "how a program in any language talks with phibatch",
        """
        `phibatch pipe MODEL` reads requests from stdin and writes answers to stdout, both as JSON, an object a line, in \
        UTF-8. Its first line comes when the model is loaded, and says what it is; `protocol` is 1 as long as what is \
        said here holds:

          {"phibatch":"1.0","protocol":1,"model":"phi-4-mini","context_length":131072,...}

        A request has these members:

        - request :: A whole number of the caller's, which answers have too. It may come again once it is answered.
        - line :: As in a job's input: `prompt` or `messages`, and a line's own settings, such as `max_tokens`, \
          `temperature`, `stop`, `seed`, \(forms), `choices`; for `task: score` also `completion`.
        - settings :: What a job says besides, as in a job file: `samples`, `logprobs`, `tokens`, `chat`, `system`, \
          `prefix`, `task` and so on. Left out it is an empty one. Not files, the engine, or how a job ends.
        - index :: The line's place, from 0, in the list that it is of. A line without `id` has the next number as its id, \
          from which its random stream comes.
        - stream :: true, to have the text as it comes.

        Then come, in any order:

          {"request":1,"text":"Salt"}
          {"request":1,"left":0,"result":{"id":"1","index":0,"text":"Salt is ...",...}}

        `left` says how many results are still to come (`samples`). A result is the line of a job's output, with an \
        `error` if the line can't be run (`phibatch help results`); `sum` is of this line alone. The result has the whole \
        text, whatever came of it before. A `text` with `attempt` above that of the texts before begins anew, as the \
        answer was not what was asked for; `sample` tells which of several it is of, from 0.

          {"request":1,"error":{"code":"bad_settings","message":"..."}}

        comes in place of results, with the code `bad_message`, `bad_settings`, `model_failed`, `failed`, or `stopped` after \
        a signal. A line that is no request is answered without a number.

          {"cancel": 1}

        takes a request back, be it under way; `{"request":1,"cancelled":true}` is then the last that is said of it. After \
        the end of stdin what is asked is still answered.

        A caller should read while it writes: where answers aren't taken, the model waits. Messages for people go to \
        stderr, with `--log-format json` as objects.
        """)
}
