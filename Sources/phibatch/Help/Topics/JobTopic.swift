import BatchPipeline

extension HelpTopic {
    static let job = HelpTopic(
        "job", "the job file and all its settings",
        """
        A job file is YAML or JSON. It needs a `model`, an `input` (or `rows`, see `phibatch help rows`) and an `output`; \
        all else has a default:

          model: phi-4-mini
          input: prompts.jsonl
          output: answers.jsonl
          max_tokens: 200
          stop: ["###"]

        Each setting but `steps` and `pick` is an option too: `max_tokens` in the file is `--max-tokens` on the command line, and \
        the option goes before the file. Options alone make a job. A flag such as `tokens` is `true` or `false` in the file, \
        and `--tokens` or `--no-tokens` as an option. A list in the file is an option that comes several times. \
        Paths in a job file are relative to the file, paths in options to the working directory. An unknown key or a \
        wrong value is an error that names file and line; `phibatch check JOB` finds it before a run does.

        \(settings)
        """)

    /// From the settings' own declarations.
    private static var settings: String {
        [
            ("FILES", JobKey.files), ("PROMPTS", JobKey.prompt), ("SAMPLING", JobKey.sampling),
            ("ANSWERS", JobKey.answers), ("RESULTS", JobKey.results), ("ENGINE", JobKey.engine),
        ].map { title, keys in
            "\(title):\n" + keys.map { "- \($0.name) :: \($0.sentence)" }.joined(separator: "\n")
        }.joined(separator: "\n\n")
    }
}
