extension HelpTopic {
    static let rows = HelpTopic(
        "rows", "lines that a job makes itself, from lists, ranges and files",
        """
        With `rows` a job has no input: it makes so many lines, each with an id (`row-1`, `row-2` and so on) and the fields \
        that `pick` names. So a dataset comes from nothing but a job file:

          model: phi-4-mini
          rows: 10000
          pick:
            topic: [history, physics, cooking]
            tone: {of: [formal, plain], weights: [1, 3]}
            age: {from: 18, to: 80}
            price: {from: 0.50, to: 20}
            persona: {file: personas.jsonl, field: text}
          output: questions.jsonl
          prompt: "{{ persona }} Ask a {{ tone }} question about {{ topic }}, as someone aged {{ age }}."
          temperature: 0.8
          keep: [topic, age]

        A field is picked from one of these:

        - [A, B, C] :: One of a list, all alike. Members are any JSON values: of mappings templates take parts, as in \
          `{{ city.name }}`.
        - {of: LIST, weights: LIST} :: The same with a weight for each member, 0 or more: how often it comes beside the others.
        - {from: A, to: B} :: A number, both ends included. It has as many decimals as the ends are written with: \
          `{from: 1, to: 6}` makes whole numbers, and `{from: 0.0, to: 1.0}` eleven numbers. `decimals: 3` says it otherwise.
        - {file: FILE, field: NAME} :: A field of one of a file's lines, or records, in any format of `phibatch help input`. \
          Without `field` it is a line's text; of `.jsonl`, `.json`, `.csv` and `.tsv` it is the record, and \
          `{{ persona.name }}` a part of it. Each line comes as often as the others. The path starts at the job file, and \
          the file is read whole when the job begins, and kept in memory.

        What a row has depends on the job's `seed`, the row's number and the field's name, and nothing else. So more `rows` \
        leave those that are there as they are, and only new ones are done. Other fields beside it, or another order of \
        them, change nothing. A list, range or file that changes makes other rows, and those are done again whose results used what changed. \
        With fewer `rows` the results beyond go, as with lines that an input lost (`phibatch help resuming`). The values are \
        the same on any machine.

        A field may have the name of anything that a line can say (`phibatch help input`): `prompt` is the prompt, and \
        `max_tokens`, `temperature` or `seed` are the row's own. `keep` carries fields into results. All else is as with an \
        input: `steps`, `--limit`, `--shard`, `samples`, `phibatch check`, `status`, `verify`. `input`, `input_format`, `id` \
        and `--follow` have no meaning beside `rows`, and are errors. `rows` is an option, and `pick` is said in a job file.

          phibatch run jobs/rows.yaml
          phibatch run jobs/rows.yaml --rows 40
        """)
}
