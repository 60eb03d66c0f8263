extension HelpTopic {
    static let serve = HelpTopic(
        "serve", "OpenAI's clients, over HTTP",
        """
        `phibatch serve MODEL` answers what is written for OpenAI's API, at http://127.0.0.1:8000/v1:

          from openai import OpenAI
          client = OpenAI(base_url="http://127.0.0.1:8000/v1", api_key="none")
          question = {"role": "user", "content": "What is salt?"}
          client.chat.completions.create(model="phi-4-mini", messages=[question])

        All that is asked at a time shares the model's steps, batches too. It takes libmicrohttpd, which the program looks \
        for: the package libmicrohttpd12 of Debian and Ubuntu, elsewhere libmicrohttpd.

        PATHS:

        - /v1/chat/completions, /v1/completions :: With all that a line of a batch may have (`phibatch help input`), and \
        `stream`. Text is sent as it comes. A thought, log-probabilities, calls and answers of a form (`response_format`) \
        come in one piece: the thought before the text, the others with the choice's end. Of `stream_options` only \
        `include_usage` has an effect.
        - /v1/responses :: With `stream`, whose events are those of the API, and without earlier responses.
        - /v1/models :: The names that `--name` gives, or the model's own. Requests for other names are answered 404.
        - /v1/files, /v1/batches :: Files of requests, and batches over them, each a job with a journal: what a batch has \
        done stays, however the server ends, and the next one with the same `--folder` goes on. A batch has no time limit. \
        Lines that fail are in its error file. One that was cancelled has files of what was done before.
        - /health, /metrics :: Whether it answers; numbers in Prometheus' text format.

        With OTEL_EXPORTER_OTLP_ENDPOINT a span of each request goes there (OTLP over HTTP, as JSON), with OpenTelemetry's \
        attributes for models (gen_ai), below the caller's span where `traceparent` names it. OTEL_SERVICE_NAME and \
        OTEL_EXPORTER_OTLP_HEADERS count, too. Prompts and answers are in none.

        An answer is the one that a job with the same line has. With a `seed` in the request it is the same each time, else \
        each request has a random stream of its own. What the API has and phibatch has not is refused, or, with \
        `--unsupported ignore`, left out where the answer is to the same question.

        LIMITS:

        Only this machine is served, unless there is a key: `--api-key-file FILE`, one a line, or PHIBATCH_API_KEY. Without \
        one, requests must be for localhost by name, and not from pages of other hosts. There is no TLS: a proxy in front \
        of it has that. More than `--max-waiting` requests are answered 429, with Retry-After; more than \
        `--max-connections` wait. A body has up to `--max-body` MB, a file 512. A connection on which nothing moves for a \
        minute is closed, and a request whose client has gone is taken out.

        After Ctrl-C or SIGTERM nothing more is taken, batches are saved, and what was asked before has 30 seconds to be \
        answered; what is not done by then is answered 503. A second signal ends all at once.
        """)
}
