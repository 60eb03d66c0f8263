import BatchEngine

/// A setting of a job: its row serves job files, steps, options, help, chats, the fingerprint and Python.
package struct JobKey: Sendable {
    /// Place beside a job file where it may be set.
    package enum Place: Sendable {
        /// An option; `--tokens` and `--no-tokens` for a flag.
        case option
        case step, chat
        /// Keywords of Python's `LLM`, and of its `map`.
        case llm, map
    }

    package let name: String
    /// The letter of its short option, such as the i of `-i`.
    package let letter: Character?
    /// The value's name in the help; empty for a flag, which has none.
    package let placeholder: String
    package let help: String
    package let places: Set<Place>
    let member: SettingMember
    /// The words that its value may be, for completion by shells; empty if there are other values.
    package var words: [String] { member.words }
    package var form: SettingForm { member.form }
    /// Whether it is in the fingerprint: whether results depend on it. It is by default if its member has a text.
    private let changesResults: Bool
    /// Its text in the fingerprint where it is not set; nil leaves it out, so that a new setting changes no earlier run.
    private let unset: String?

    init(
        _ name: String, _ placeholder: String, _ help: String, letter: Character? = nil,
        in places: Set<Place> = [.option], _ member: SettingMember, changesResults: Bool = true,
        unset: String? = nil
    ) {
        self.name = name
        self.letter = letter
        self.placeholder = placeholder
        self.help = help
        self.places = places
        self.member = member
        self.changesResults = changesResults
        self.unset = unset
    }

    /// The setting's value as text; nil if results don't depend on it.
    func resultValue(_ job: JobSettings) -> String? { changesResults ? member.text(job) ?? unset : nil }

    /// `max_tokens` is `max-tokens` on the command line.
    package var optionName: String { String(name.map { $0 == "_" ? "-" : $0 }) }

    package var option: String { "--" + optionName }

    package static func named(_ name: String) -> JobKey? {
        all.first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    package static func all(in place: Place) -> [JobKey] { all.filter { $0.places.contains(place) } }

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

/// Form of a value, with its type in Python.
package enum SettingForm: String, Sendable {
    case int
    case text = "str"
    case number = "float"
    case flag = "bool"
    /// A number, or a word or a unit.
    case amount = "int | str"
    case flagOrText = "bool | str"
    case path = "str | PathLike[str]"
    case paths = "str | PathLike[str] | Sequence[str | PathLike[str]]"
    case texts = "str | Sequence[str]"
    case bias = "Mapping[int, float]"
    case messages = "Sequence[Mapping[str, str]]"
    case fields = "Sequence[str] | Mapping[str, str]"
    case mapping = "Mapping[str, object]"
    case mappings = "Sequence[Mapping[str, object]]"

    /// Whether its option may be repeated; the values make a list.
    package var isList: Bool { [.paths, .texts, .bias, .messages, .fields].contains(self) }
}

/// Settings of a job's requests.
extension JobKey {
    /// Choice of a completion's tokens, and its end.
    package static let sampling = ofRequests(.sampling)
    /// Constraints of answers.
    package static let answers = AnswerKey.all.map { JobKey($0) } + ofRequests(.answers)

    static func ofRequests(_ group: RequestSetting.Group) -> [JobKey] {
        RequestSetting.all.filter { $0.group == group }.map { JobKey($0, $0.help) }
    }

    private init(_ setting: RequestSetting, _ help: String) {
        let places: Set<Place> = [.option, .step, .llm, .map]
        self.init(
            setting.name, setting.placeholder, help,
            in: setting.places.contains(.chat) ? places.union([.chat]) : places, SettingMember(setting),
            changesResults: setting.changesResults, unset: setting.unset)
    }

    /// Settings of a chat, with its own help.
    package static let ofChats = all(in: .chat).map { key in
        if let setting = RequestSetting.named(key.name) {
            return JobKey(setting, setting.chatHelp ?? setting.help)
        }
        let help = key.name == "system" ? "system message, as it is" : key.help
        return JobKey(key.name, key.placeholder, help, key.member)
    }
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
