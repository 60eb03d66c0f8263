/// One setting of a job: the same declaration serves job files, command-line options, the help and the run's
/// fingerprint.
package struct JobKey: Sendable {
    package enum Kind: Sendable {
        case value
        /// As an option it may be given several times; the values make a list.
        case list
        /// True or false in a job file; `--tokens` and `--no-tokens` as options.
        case flag
    }

    package let name: String
    /// What stands for the value in the help; empty for a flag, which takes none.
    package let placeholder: String
    package let help: String
    package let kind: Kind
    /// The setting's value as text, if results depend on it; nil where it is not set.
    let resultValue: (@Sendable (JobSettings) -> String?)?
    let set: @Sendable (inout JobSettings, SettingValue) throws(SettingProblem) -> Void

    init(
        _ name: String, _ placeholder: String, _ help: String, kind: Kind = .value,
        result: (@Sendable (JobSettings) -> String?)? = nil,
        set: @escaping @Sendable (inout JobSettings, SettingValue) throws(SettingProblem) -> Void
    ) {
        self.name = name
        self.placeholder = placeholder
        self.help = help
        self.kind = kind
        self.resultValue = result
        self.set = set
    }

    /// `max_tokens` is `max-tokens` on the command line.
    package var optionName: String { String(name.map { $0 == "_" ? "-" : $0 }) }

    package var option: String { "--" + optionName }

    package static func named(_ name: String) -> JobKey? {
        all.first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// In the order of the help and of the fingerprint.
    package static let all: [JobKey] = files + prompt + sampling + results + engine
}
