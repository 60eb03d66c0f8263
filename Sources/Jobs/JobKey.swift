import BatchEngine

/// A setting of a job: one declaration serves job files, command-line options, the help and the run's fingerprint.
package struct JobKey: Sendable {
    package enum Shape: Sendable {
        case value
        /// As an option it may be repeated; the values make a list.
        case list
        /// True or false in a job file; `--tokens` and `--no-tokens` as options.
        case flag
    }

    package let name: String
    /// The letter of its short option, such as the i of `-i`.
    package let letter: Character?
    /// The value's name in the help; empty for a flag, which has none.
    package let placeholder: String
    package let help: String
    package let kind: Shape
    let member: SettingMember
    /// The words that its value may be, for completion by shells; empty if there are other values.
    package var words: [String] { member.words }
    private let effect: RequestSetting.Effect

    init(
        _ name: String, _ placeholder: String, _ help: String, letter: Character? = nil, kind: Shape = .value,
        _ member: SettingMember, effect: RequestSetting.Effect = .none
    ) {
        self.name = name
        self.letter = letter
        self.placeholder = placeholder
        self.help = help
        self.kind = kind
        self.member = member
        self.effect = effect
    }

    /// Returns the setting with another help, where the job's doesn't apply.
    private func described(_ help: String) -> JobKey {
        JobKey(name, placeholder, help, kind: kind, member, effect: effect)
    }

    /// The setting's value as text; nil if results don't depend on it.
    func resultValue(_ job: JobSettings) -> String? {
        switch effect {
        case .none: nil
        case .always(let unset): member.text(job) ?? unset
        case .ifSet: member.text(job)
        }
    }

    /// `max_tokens` is `max-tokens` on the command line.
    package var optionName: String { String(name.map { $0 == "_" ? "-" : $0 }) }

    package var option: String { "--" + optionName }

    package static func named(_ name: String) -> JobKey? {
        all.first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// Removed settings, each with its replacement.
    package static let removed = [
        "kv_cache": "prefixes that prompts share stay in memory during a run; leave it out"
    ]

    /// The message about an option that was removed; nil if there is none among the arguments.
    package static func removal(in arguments: [String]) -> String? {
        for (name, instead) in removed {
            let option = "--" + name.replacing("_", with: "-")
            if arguments.contains(where: { $0 == option || $0.hasPrefix(option + "=") }) {
                return "\(option) was taken out: \(instead)."
            }
        }
        return nil
    }

    /// In the order of the help and of the fingerprint.
    package static let all: [JobKey] = files + prompt + sampling + answers + results + engine
}

/// Settings of a job's requests.
extension JobKey {
    /// Choice of a completion's tokens, and its end.
    package static let sampling = ofRequests(.sampling)
    /// Constraints of answers.
    package static let answers = AnswerKeys.all.map { JobKey($0) } + ofRequests(.answers)

    static func ofRequests(_ group: RequestSetting.Group) -> [JobKey] {
        RequestSetting.all.filter { $0.group == group }.map(JobKey.init)
    }

    private init(_ setting: RequestSetting) {
        let kind: Shape =
            switch setting.kind {
            case .flag: .flag
            case .texts, .bias: .list
            case .int, .number, .word: .value
            }
        self.init(
            setting.name, setting.placeholder, setting.help, kind: kind, SettingMember(setting),
            effect: setting.effect)
    }

    /// Settings of a chat, in the order of the help.
    package static let ofChats: [JobKey] = {
        let requests = RequestSetting.all(in: .chat).compactMap { setting in
            named(setting.name).map { key in setting.chatHelp.map(key.described) ?? key }
        }
        func others(_ names: String...) -> [JobKey] { names.compactMap(named) }
        return others("adapter") + others("system").map { $0.described("system message, as it is") }
            + requests
            + others("engine", "threads", "kv_budget", "kv")
    }()
}

extension JobSettings {
    /// Returns the settings of a chat, including `max_tokens`.
    /// - Throws: `UserError` of kind `usage`, with the option and the valid values.
    package static func chat(_ options: [JobOption]) throws -> JobSettings {
        var settings = JobSettings()
        settings.request = .ofChats
        try settings.apply(options)
        return settings
    }
}
