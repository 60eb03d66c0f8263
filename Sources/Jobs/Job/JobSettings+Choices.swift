extension JobSettings {
    /// Settings that say how tokens come one after the other, and so nothing where whole answers are compared.
    private static let withoutChoices = [
        "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty", "repetition_penalty",
        "logit_bias",
        "stop", "ignore_eos", "logprobs", "schema", "regex", "response_format",
    ]

    /// What doesn't go with choices, in words that follow nothing; nil if all does.
    var choicesProblem: String? {
        guard !choices.isEmpty else { return nil }
        let unset = JobSettings()
        let keys = Self.withoutChoices.compactMap(JobKey.named)
        guard let key = keys.first(where: { $0.member.text(self) != $0.member.text(unset) }) else {
            return nil
        }
        return Self.choicesProblem(with: key.name)
    }

    /// Why a setting has no place beside choices.
    static func choicesProblem(with name: String) -> String {
        switch name {
        case "logprobs":
            "logprobs can't be combined with choices; each choice's probability is there anyway."
        case "schema", "regex", "response_format":
            "\(name) and choices both say what the answer must be; keep one."
        default:
            "\(name) has no meaning with choices, which are compared as whole answers; leave it out."
        }
    }
}
