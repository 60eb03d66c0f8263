/// A page of the help beside those of the commands: `phibatch help TOPIC`. The manual page has them too.
///
/// A topic is one file in Topics and one line in `all`.
struct HelpTopic: Sendable {
    let name: String
    /// For the list of topics.
    let summary: String
    /// As `HelpText` reads it.
    let source: String

    init(_ name: String, _ summary: String, _ source: String) {
        self.name = name
        self.summary = summary
        self.source = source
    }

    var text: HelpText { HelpText(source) }
}

extension HelpTopic {
    /// In the order of the list.
    static let all: [HelpTopic] = [
        job, input, rows, templates, sampling, answers, choices, reasoning, tools, steps, results, resuming,
        reuse,
        files,
        shards,
        verify,
        models, engines, pipelines, pipe, serve,
        exitCodes,
        environment,
    ]
}
