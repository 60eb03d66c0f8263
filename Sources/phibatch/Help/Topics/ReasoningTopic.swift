extension HelpTopic {
    static let reasoning = HelpTopic(
        "reasoning", "models that think before they answer",
        """
        Phi-4-mini-reasoning and models like it write what they think between <think> and </think>, and then the answer. \
        A model is taken for one if its chat template or its tokenizer knows these tags, or its folder is named so. \
        `reasoning` says what becomes of a thought:

        - separate :: The default for such models: `text` is the answer, and `reasoning` the thought, without its tags.
        - keep :: The text has both, as they were written.
        - drop :: The text has the answer, and nothing has the thought.

        The usage counts `reasoning_tokens`, those up to the answer, among the completion's. `stop`, `schema`, `regex`, \
        `grammar` and `choices` are about the answer alone. Before an answer of a form, or a choice, a thought always \
        comes; else the model may do without. With `reasoning: separate` any model is asked like that.

        `max_reasoning_tokens: N` ends a thought that has become so long: with the sentence of `reasoning_ending` and \
        </think>. The answer follows, within `max_tokens`, of which an eighth at least is left for it; it follows its \
        form as ever. The result then has `reasoning_cut`: true. 0 is no thought at all. `reasoning_effort` (none, minimal, \
        low, medium, high) is the same as a part of `max_tokens`. Without either a thought before an answer of a form \
        has three quarters of `max_tokens`, and any other one all of them: if it has no end by then, there is no answer, \
        and the finish reason is `reasoning_length`.

        A prompt may have begun the thought (some templates do, or `prefix`), or say that there is none, as Qwen3's does. \
        In OpenAI's formats a thought is `reasoning_content`, or an item of the type reasoning; `reasoning_effort` is \
        understood. Earlier thoughts are not sent back. A chat shows thoughts dim, and only on a terminal. A table has a \
        column for thoughts if the job says `reasoning: separate`.

          phibatch run --model phi-4-mini-reasoning --input sums.jsonl --output out.jsonl --max-tokens 2048
          phibatch run jobs/extract.yaml --reasoning separate --max-reasoning-tokens 200
        """)
}
