/// A chat has settings of a job too, some with other defaults.
extension JobKey {
    package static let chatMaxTokens = 1024
    package static let chatTemperature: Float = 0.7

    /// In the order of the help.
    package static let chatKeys: [JobKey] = chatHelp.compactMap { name, help in
        named(name).map { key in help.map(key.described) ?? key }
    }

    /// What the help says where a job's would be wrong.
    private static let chatHelp: [(name: String, help: String?)] = [
        ("adapter", nil), ("system", "system message, as it is"),
        ("max_tokens", "the most tokens of an answer (default \(chatMaxTokens))"),
        ("temperature", "0 is greedy (default \(chatTemperature))"),
        ("top_p", nil), ("top_k", nil), ("min_p", nil),
        ("presence_penalty", "taken from the logit of each token that the answer has, -2 to 2 (default 0)"),
        (
            "frequency_penalty",
            "taken from a token's logit for each time the answer has it, -2 to 2 (default 0)"
        ),
        ("repetition_penalty", nil),
        ("logit_bias", "added to the logit of token ID, -100 to 100; may come several times"),
        ("seed", "the same conversation then has the same answers (default: another one for each answer)"),
        ("stop", "a string that ends an answer; may come several times"),
        ("threads", nil), ("kv_budget", nil), ("kv", nil),
    ]
}

extension JobSettings {
    /// The settings of a chat.
    /// - Throws: `JobError` of kind `usage`, naming the option and what would be right.
    package static func chat(_ options: [JobOption]) throws -> JobSettings {
        var settings = JobSettings()
        try settings.apply(options)
        return settings
    }
}
