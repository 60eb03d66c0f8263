import ArgumentParser
import BatchPipeline

struct ScoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "score",
        abstract: "Score given completions: how likely the model finds them.",
        usage: """
            phibatch score [<job file> ...] [--<setting> <value> ...] [--restart]
                   [--if-changed refuse|restart|keep] [--prune] [--dry-run]
                   [--wait | --skip-if-running] [--follow] [--offline] [--quiet]
            """,
        discussion: """
            As "phibatch run" of a job with "task: score": it resumes, and goes in shards, in the same way. Nothing is \
            generated, so settings of that (max_tokens, temperature, stop and so on) are refused, in a job and in a line. \
            "phibatch status" and "phibatch verify" know such a job by its "task: score".

            A line has a prompt as for "run", and "completion": a string, or a list of up to 1024 of them. It is scored where \
            the model's answer would stand: right after the chat template's end, or with --no-chat right after the prompt's \
            text, so that it begins with a space where one is meant. --completion '{{ answer }}' takes another field. With \
            --no-chat a line needs no prompt; then the whole text is scored, after the beginning of sequence if the \
            tokenizer puts one before texts, and else from its second token on.

            EXAMPLE:
              phibatch score --model phi-4-mini --input pairs.jsonl --output scores.jsonl
              phibatch score --model phi-4-mini --no-chat --completion '{{ text }}' --input docs.jsonl --output ppl.jsonl

            A result has "logprob", the sum of the tokens' natural logarithms; "mean", that by token; "perplexity", e^-mean; \
            and "token_logprobs". They are those of the model at temperature 1: the same numbers, bit for bit, that \
            "logprobs" of a run gives for the tokens. A list's result has "scores", such an object for each, and "best", the \
            place (from 0) of the one with the highest mean.

            Prompt and completion become tokens together. Those that they have in common with the prompt by itself are the \
            prompt's, the others are scored: so a token with something of both counts to the completion. The end of sequence \
            is not counted.

            \(Failure.exitCodes)
            """)

    @OptionGroup var command: RunCommand

    func run() throws { try command.run(task: .score) }
}
