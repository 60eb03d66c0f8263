import BatchEngine
import JSON

/// Setting of a job: its row serves job files, steps, options, help, chats, the fingerprint and Python.
package struct JobKey: Sendable {
    package typealias Place = RequestSetting.Place

    package let name: String
    /// The letter of its short option, such as the i of `-i`.
    package let letter: Character?
    /// The value's name in the help; empty for a flag, which has none.
    package let placeholder: String
    package private(set) var help: String
    /// Help of a chat, if it differs.
    private let chatHelp: String?
    package let places: Set<Place>
    let member: SettingMember
    /// The words that its value may be, for completion by shells; empty if there are other values.
    package var words: [String] { member.words }
    package var form: SettingForm { member.form }

    init(
        _ name: String, _ placeholder: String, _ help: String, letter: Character? = nil,
        in places: Set<Place> = [.option], chatHelp: String? = nil, _ member: SettingMember
    ) {
        (self.name, self.placeholder, self.help, self.letter) = (name, placeholder, help, letter)
        (self.places, self.chatHelp, self.member) = (places, chatHelp, member)
    }

    /// `max_tokens` is `max-tokens` on the command line.
    package var optionName: String { String(name.map { $0 == "_" ? "-" : $0 }) }

    package var option: String { "--" + optionName }

    package static func named(_ name: String) -> JobKey? {
        all.first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    package static func all(in place: Place) -> [JobKey] { all.filter { $0.places.contains(place) } }

    /// In the order of the help and of the fingerprint.
    package static let all: [JobKey] = files + prompt + sampling + answers + results + engine
    /// Choice of a completion's tokens, and its end.
    package static let sampling = RequestSetting.sampling.map { JobKey($0) }
    /// Constraints of answers.
    package static let answers = AnswerKey.all.map { JobKey($0) } + RequestSetting.answers.map { JobKey($0) }
    /// Settings of a loaded model.
    package static let ofModels = files.filter { $0.name == "adapter" } + engine

    /// Settings of a chat, with its own help.
    package static let ofChats = all(in: .chat).map { key in
        var key = key
        key.help = key.chatHelp ?? key.help
        return key
    }

    init(_ setting: RequestSetting) {
        let form: SettingForm =
            switch setting.kind {
            case .int: .int
            case .number: .number
            case .flag: .flag
            case .word: .text
            case .texts: .texts
            case .bias: .bias
            }
        self.init(
            setting.name, setting.placeholder, setting.help,
            in: setting.places.union([.option, .step, .llm, .map]), chatHelp: setting.chatHelp,
            SettingMember(
                form: form, set: { if !$2 { try setting.set($1, in: &$0.request) } },
                problem: { setting.problem(in: $0.request) },
                text: { setting.changesResults ? setting.text(in: $0.request) ?? setting.unset : nil },
                words: setting.words))
    }

    private init(_ key: AnswerKey) {
        self.init(
            key.name, key.placeholder, key.help, in: [.option, .step, .llm, .map],
            SettingMember(
                form: key.valueForm, set: { try $1.readForm(of: key, into: &$0, readsFile: $2) },
                text: { $0.forms[key.name]?.fingerprint }))
    }
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

/// Member of `JobSettings` that a key sets: its form, its parser, its range, and its text in the fingerprint. Job files,
/// options and code all use it.
struct SettingMember: Sendable {
    let form: SettingForm
    /// Sets the member, and nothing else. Called again with true once all settings are known, unless another value
    /// replaces it: then reads the files that the value names.
    /// - Throws: `SettingProblem`.
    let set: @Sendable (inout JobSettings, SettingValue, _ readsFiles: Bool) throws -> Void
    /// An error of the value; nil if it is valid.
    var problem: @Sendable (JobSettings) -> String? = { _ in nil }
    /// The value as text in the fingerprint, distinct for distinct values; nil if results don't depend on it. Most are
    /// nil where they are not set, so that a new setting changes no earlier run.
    var text: @Sendable (JobSettings) -> String? = { _ in nil }
    /// The words that it may be; empty if there are other values.
    var words: [String] = []

    static func of<Value>(
        _ form: SettingForm, _ path: WritableKeyPath<JobSettings, Value> & Sendable,
        _ read: @escaping @Sendable (SettingValue) throws -> Value,
        problem: @escaping @Sendable (Value) -> String? = { _ in nil },
        text: @escaping @Sendable (Value) -> String? = { _ in nil }, words: [String] = []
    ) -> Self {
        SettingMember(
            form: form, set: { if !$2 { $0[keyPath: path] = try read($1) } },
            problem: { problem($0[keyPath: path]) }, text: { text($0[keyPath: path]) }, words: words)
    }

    static func int(_ path: WritableKeyPath<JobSettings, Int> & Sendable, _ range: ClosedRange<Int>) -> Self {
        .of(.int, path, { try $0.int(in: range) }, problem: { range.problem($0) })
    }

    static func countOrAuto(
        _ path: WritableKeyPath<JobSettings, Int?> & Sendable, _ range: ClosedRange<Int>
    ) -> Self {
        .of(.amount, path, { try $0.countOrAuto(in: range) }, problem: { $0.flatMap(range.problem) })
    }

    /// The fingerprint omits the value `unset`.
    static func flag(_ path: WritableKeyPath<JobSettings, Bool> & Sendable, unset: Bool? = nil) -> Self {
        .of(.flag, path, { try $0.bool() }, text: { $0 == unset ? nil : "\($0)" })
    }

    /// The fingerprint has `unset` in place of nil.
    static func text(_ path: WritableKeyPath<JobSettings, String?> & Sendable, unset: String? = nil) -> Self {
        .of(.text, path, { try $0.string() }, text: { $0.map { JSONWriter.list([$0]) } ?? unset })
    }

    /// A file or a folder, which results don't depend on by its name.
    static func path(_ path: WritableKeyPath<JobSettings, String?> & Sendable) -> Self {
        .of(.path, path, { try $0.path() })
    }

    /// One of a few words, each with its value. The fingerprint omits the value `unset`.
    static func word<Value: Equatable & Sendable>(
        _ path: WritableKeyPath<JobSettings, Value> & Sendable, _ words: [(word: String, value: Value)],
        unset: Value? = nil, changesResults: Bool = true
    ) -> Self {
        .of(
            .text, path, { try $0.word(of: words) },
            text: { value in
                changesResults && value != unset ? words.first { $0.value == value }?.word : nil
            }, words: words.map(\.word))
    }

    static func word<Choice: RawRepresentable<String> & CaseIterable & Equatable & Sendable>(
        _ path: WritableKeyPath<JobSettings, Choice> & Sendable, unset: Choice? = nil,
        changesResults: Bool = true
    ) -> Self {
        word(
            path, Choice.allCases.map { ($0.rawValue, $0) }, unset: unset, changesResults: changesResults)
    }
}
