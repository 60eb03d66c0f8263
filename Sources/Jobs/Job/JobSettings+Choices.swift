import BatchEngine

extension JobSettings {
    /// What doesn't go with choices, in words that follow nothing; nil if all does.
    var choicesProblem: String? {
        guard request.choices?.isEmpty == false else { return nil }
        return RequestSetting.all.first { !$0.tasks.contains(.choose) && isSet($0) }?.choicesProblem
    }

    /// Whether the job says something of it.
    func isSet(_ setting: RequestSetting) -> Bool {
        SettingMember.forms[setting.name].map { $0.text(self) != nil } ?? setting.isSet(in: request)
    }
}

extension RequestSetting {
    /// Why it has no place beside choices.
    var choicesProblem: String {
        switch group {
        case .sampling:
            "\(name) has no meaning with choices, which are compared as whole answers; leave it out."
        case .answers: "\(name) and choices both say what the answer must be; keep one."
        case .results: "\(name) can't be combined with choices; each choice's probability is there anyway."
        }
    }
}
