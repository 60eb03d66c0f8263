import BatchEngine

extension JobSettings {
    /// What doesn't go with choices, in words that follow nothing; nil if all does.
    var choicesProblem: String? {
        guard request.choices?.isEmpty == false else { return nil }
        if let key = askedForms.first?.key {
            return "\(key) and choices both say what the answer must be; keep one."
        }
        return RequestSetting.all.first { !$0.tasks.contains(.choose) && $0.isSet(in: request) }?
            .choicesProblem
    }
}

extension RequestSetting {
    /// Why it has no place beside choices.
    var choicesProblem: String {
        switch group {
        case .sampling, .answers:
            "\(name) has no meaning with choices, which are compared as whole answers; leave it out."
        case .results: "\(name) can't be combined with choices; each choice's probability is there anyway."
        }
    }
}
