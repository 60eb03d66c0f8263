import BatchPipeline

extension HelpTopic {
    static let steps = HelpTopic(
        "steps", "several things asked with each line, one after the other",
        """
        A job with `steps` asks several things with each line, such as a question, its answer, and whether that is \
        right. What a step makes is there for the templates of those after it. Rows don't wait for each other: those in \
        different steps advance together.

          model: phi-4-mini
          input: notices.jsonl
          output: questions.jsonl
          max_tokens: 64
          steps:
            - name: question
              prompt: "{{ notice }} Ask one short question about that."
              accept: question.text.endswith("?")
              tries: 3
            - name: answer
              prompt: "{{ notice }} {{ question.text }}"
              temperature: 0
            - name: judge
              prompt: "{{ notice }} {{ question.text }} {{ answer.text }} Is the answer right?"
              choices: ["yes", "no"]
              accept: judge.probabilities.yes > 0.5

        A step has these keys; all but the name may be missing:

        - name :: A word of letters, digits and _, by which templates and results know the step. Names that lines or results \
          have for something else are refused.
        - prompt, prompt_file, messages, system, prefix :: Templates, as in a job. The first step may be without a prompt; \
          then it asks the line's own.
        - max_tokens, temperature and so on :: Each setting of requests.
        - samples :: How many rows the step makes of one, each with a random stream of its own (default 1). All of them go \
          on through the steps after it, and each has a result.
        - each :: A list in the templates' language, such as `list.things`: the step makes a row for each item, at most \
          `samples`, which must be said. Its templates and later ones know the item as `item`. In the first step it is a list \
          that the line has.
        - \(AnswerKeys.names.joined(separator: ", ")), choices :: What the step's answer must be like.
        - task, completion :: With `task: score` the step says how likely `completion` is, and generates nothing.
        - where :: A condition in the templates' language. A row for which it is false passes over the step.
        - accept :: A condition on what the step has made. A row for which it is false is dropped: no step comes after.
        - distinct :: A text in the templates' language, such as `question.text`. A row is dropped if an earlier row that \
          got so far has the same text. With `{text: question.text, near: 0.8}` it is dropped if the texts are so similar: of \
          the pieces of five characters that the two have, both have at least that share (upper and lower case are the \
          same; the share is estimated by MinHash, and may be off by 0.1).
        - turns, reply :: The step is a conversation of so many turns (2 to 50), in which two prompts answer each other: \
          below.
        - tries :: How many times the step is made, until `accept` is true (default 1).

        Templates and conditions see the line's fields, and under its name the result of each step before: its `text`, as in \
        `{{ question.text }}`, the `probabilities` of choices, the `mean` of a score. If an answer is a JSON object, its \
        members are there too, such as `{{ data.title }}`; `text` stays the whole answer. A line with a field of a step's name is an error. \
        One that was passed over is null: `{% if repair %}` asks for it, and `{{ (repair or data).text }}` takes what there \
        is.

        A member that no result of its step has, such as `judge.probabilites` or one that a schema with \
        `additionalProperties: false` doesn't name, is refused before the run. What may be there isn't: any answer without a \
        schema may be a JSON object.

        Rows of one row have in common what comes before them, which is computed once. A line has a result for each row that its \
        steps may make, in order (`sample` is its number); those for which the list has no item are dropped.

            - name: list
              prompt: "Name three things that are told here: {{ notice }}"
              schema:
                properties: {things: {type: array, items: {type: string}, maxItems: 3}}
                required: [things]
                type: object
            - name: question
              each: list.things
              samples: 3
              prompt: "{{ notice }} Ask a short question about this: {{ item }}"

        A try makes its own step again, and none before it. It has another random stream, and sees under the step's own \
        name what the try before has made, so that it can ask for a repair. At temperature 0 only that makes a difference, \
        and so it does for `probabilities` and scores, which are not drawn. (The `text` of `choices` is: above 0, a judge is \
        better asked for its `probabilities`.)

            - name: title
              prompt: >-
                Give a title for: {{ text }}
                {% if title %}Not so long as: {{ title.text }}{% endif %}
              accept: title.text | length < 40
              tries: 3

        With `turns` the model plays both sides. The step's `prompt` is said first, and its answers are its turns. Between them \
        comes the other side, which is asked with `reply`: a `prompt`, which comes before the conversation, and what else a request \
        may have. Each side sees its own part as the assistant's. The results are `talk`, `talk_reply`, `talk_2`, \
        `talk_reply_2` and so on. `accept`, `distinct` and `tries` are those of the last turn.

            - name: talk
              system: "You put up this notice, and answer politely. {{ notice }}"
              prompt: Hello, I have read your notice. Is it still true?
              turns: 3
              reply:
                system: "You have read this notice, and want to know more. {{ notice }}"
                prompt: Ask one short question at a time. Begin.

        What the job says of requests holds for all steps that don't say it themselves; so do its `system`, `chat` and \
        `control_tokens`, and so do options. Prompts, `task` and what answers must be like are each step's own, and an \
        error beside `steps`. What has no meaning for a step passes it over (`stop` with a schema, `top_p` with \
        `choices`, `max_tokens` with `task: score`); said in the step itself it is an error. A line's settings \
        (`max_tokens`, `seed` and so on) are those of all its steps, and its `messages` are the first step's. With \
        `samples: N` each sample goes through all steps by itself.

        A result has these members in place of a completion:

        - steps :: The names of the steps that were made.
        - NAME :: What the step made, as it would be a result by itself; of several tries the last.
        - item :: The item that the row was made of, where a step has `each`.
        - dropped :: The step that didn't accept what it had made, or had no item for the row; missing in a row that went \
          to its end.
        - duplicate_of :: The id of the first row that it is too much like, where it was dropped for that.
        - usage :: The tokens of all these together; earlier tries are not counted.

        A row that is dropped stays in the output, as each line has its result. A run says at its end how many there were:

          rows: 3 accepted, 2 dropped by judge

          jq -c 'select(.error or .dropped | not) | {id, question: .question.text}' questions.jsonl

        With `results: lean` the output has accepted rows alone, as nothing but the data, and needs no jq \
        (`phibatch help results`):

          {"id":"n1","question":"When?","answer":"On Monday.","judge":{"text":"yes","probabilities":{...}}}

        `phibatch report` shows how many rows each step made and dropped, and `phibatch status` what became of those so far. \
        With `--metrics-file` the series `rows_accepted` and `rows_dropped` (with `step`, and `reason`: `not_accepted`, `duplicate` or \
        `no_item`) say so while a run goes on.

        `until: 200` in the job (or `--until 200`) ends the run as soon as 200 rows are accepted: the output has the lines up to \
        there, with all rows of each, which may be some more; what was begun beyond them is dropped. If the input ends before that, nothing is put in place, and the \
        exit code is 3; with more lines the same command goes on. More can be wanted later, too: what is done is kept.

        `until: 3 per line` makes rows of each line until 3 of them are accepted. `samples`, of the job or of its steps, says how \
        many are tried at most. A row begins only if it is certain that it is needed, so that none is made in vain; those that \
        are not have `"dropped":"until"` and nothing else. A line may come to fewer; how many do, the run says at its end.

        Which rows are duplicates, and which are the first 200, is decided in the input's order, whichever is ready first. \
        So that depends on neither the number of workers nor interruptions. A row waits for that until those before it have got as far. \
        `phibatch verify` decides again for all rows. What was decided of a row that is done stays: where an edited input or \
        a redo changes what comes before it, verify may find that it would be decided otherwise, and `--restart` does that.

        A step that can't be done makes an error of the whole row.

        Each try of each step has its own random stream, made of the seed, the line's id, the sample, the step's name and \
        the try. So results are the same bytes, however many rows run together. A run that was interrupted goes on in the \
        middle of a row: steps that are made stay made, and the one under way goes on, but for a later try, which begins \
        anew.

        If steps have changed since results were made, a run is refused. With `--if-changed restart` it makes only what the \
        change concerns: steps that changed, and those whose templates or conditions name one of them. What the others have \
        made of a row is taken of the earlier results, which stay under another name, and the new ones are the bytes of a run \
        from nothing. It says at its start which steps are taken over. Rows that failed, were made again (`phibatch help redo`), or \
        have an edited line are made whole. If the model or what the job says for all steps has changed too, all is made anew; \
        `answers: FOLDER` may know what was asked before (`phibatch help reuse`).

        Limits: steps are said in a job file. The output is not in OpenAI's format, and a table only where no step scores. \
        `keep` names fields, and none as a step is named. A line that is one of OpenAI's requests, or has a form of answers \
        of its own (`schema` and so on), is an error. `distinct` compares the rows of one \
        shard, and `until: 200` gives each its share (`phibatch help shards`).

        `phibatch check` counts the prompts of the first step alone. Those of later ones it shows with `<question.text>` for \
        what isn't there yet. It warns of each name that is neither a field of any line nor an earlier step, and of members \
        that nothing says a step has.

          phibatch run jobs/steps.yaml
          phibatch run jobs/repair.yaml
          phibatch run jobs/talk.yaml
        """)
}
