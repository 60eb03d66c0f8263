extension HelpTopic {
    static let choices = HelpTopic(
        "choices", "answers that are one of a list, with the probability of each",
        """
        With `choices` a model sorts texts into classes, answers yes or no, or takes one of several answers:

          prompt: "Is this review positive, negative or neutral? {{ text }}"
          choices: [positive, negative, neutral]

        A result's `text` is one of the choices, as written, and `probabilities` has a number for each, in their order:

          {"id":"1","text":"positive","finish_reason":"stop",
           "probabilities":{"positive":0.81,"negative":0.02,"neutral":0.17},...}

        They are exact, not counted from samples: how likely the model is to give this whole answer and then end, of all \
        the choices. A choice's log-probability is the sum of its tokens', as "phibatch score" says it, and of the end \
        after it; whichever token ends an answer counts. So "no" and "not sure" are told apart. The numbers add up to 1, \
        however unlikely the model finds all of them. Only what decides is computed: the prompt once, and what several \
        choices begin with once.

        The answer is the likeliest; of equals the first. With a `temperature` T above 0 it is drawn, with probabilities \
        p^(1/T), by the line's `seed`; the numbers stay those of the model. (OpenAI's requests have temperature 1 if neither \
        they nor the job say otherwise.)

        Choices are texts, two to 10,000, each as the answer would stand after the prompt (and `prefix`); the case of \
        letters and white space count. Where they come from:

        - choices: [a, b] :: The job; the same for all lines.
        - choices: "{{ labels }}" :: A field of the line, which must be a list of strings.
        - neither :: The line's own field choices, if it has one, and no template of the job uses it.

        `max_tokens`, where it is set, must not be less than the longest choice has. `stop`, `logprobs`, `top_p` and other \
        settings of single tokens are refused beside choices.

          phibatch run jobs/classify.yaml
          jq -r 'select(.probabilities[.text] < 0.6) | .id' out/classified.jsonl
        """)
}
