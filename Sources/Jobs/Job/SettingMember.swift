import BatchEngine

/// The member of `JobSettings` that a key sets: its form, its parser, its range, and its text in the fingerprint. Job
/// files, options and code all use it.
package struct SettingMember: Sendable {
    typealias Reader =
        @Sendable (inout JobSettings, SettingValue) throws(SettingProblem) -> Void

    let form: SettingForm
    /// Changes only the settings.
    let set: Reader
    /// Resolves the value once all settings are known, such as by reading a file; nil if it names nothing.
    let resolve: Reader?
    /// An error of the value; nil if it is valid.
    let problem: @Sendable (JobSettings) -> String?
    /// The value as text, distinct for distinct values; nil if it is unset.
    let text: @Sendable (JobSettings) -> String?
    /// The words that it may be; empty if there are other values.
    let words: [String]

    init(
        _ form: SettingForm, set: @escaping Reader, resolve: Reader? = nil,
        problem: @escaping @Sendable (JobSettings) -> String? = { _ in nil },
        text: @escaping @Sendable (JobSettings) -> String? = { _ in nil }, words: [String] = []
    ) {
        (self.form, self.set, self.resolve, self.words) = (form, set, resolve, words)
        (self.problem, self.text) = (problem, text)
    }

    static func int(_ path: WritableKeyPath<JobSettings, Int> & Sendable, _ range: ClosedRange<Int>) -> Self {
        SettingMember(
            .int, set: { job, value throws(SettingProblem) in job[keyPath: path] = try value.int(in: range) },
            problem: { job in
                let number = job[keyPath: path]
                return range.contains(number) ? nil : "must be \(range.right), but is \(number)"
            })
    }

    static func seconds(_ path: WritableKeyPath<JobSettings, Double> & Sendable, upTo limit: Int) -> Self {
        let range = NumberRange(0, to: limit, noun: "a number of seconds")
        return SettingMember(
            .number,
            set: { job, value throws(SettingProblem) in job[keyPath: path] = try value.number(in: range) },
            problem: { job in
                let seconds = job[keyPath: path]
                return range.contains(seconds) ? nil : "must be \(range.right), but is \(seconds)"
            })
    }

    static func countOrAuto(
        _ path: WritableKeyPath<JobSettings, CountSetting> & Sendable, _ range: ClosedRange<Int>
    ) -> Self {
        SettingMember(
            .amount,
            set: { job, value throws(SettingProblem) in
                job[keyPath: path] = try value.countOrAuto(in: range)
            },
            problem: { job in
                guard case .count(let count) = job[keyPath: path], !range.contains(count) else { return nil }
                return "must be \(range.right), but is \(count)"
            })
    }

    /// The fingerprint omits the value `unset`.
    static func flag(_ path: WritableKeyPath<JobSettings, Bool> & Sendable, unset: Bool? = nil) -> Self {
        SettingMember(
            .flag, set: { job, value throws(SettingProblem) in job[keyPath: path] = try value.bool() },
            text: { $0[keyPath: path] == unset ? nil : "\($0[keyPath: path])" })
    }

    static func text(
        _ path: WritableKeyPath<JobSettings, String?> & Sendable,
        shown: @escaping @Sendable (String) -> String = { ResultText.list([$0]) }
    ) -> Self {
        SettingMember(
            .text, set: { job, value throws(SettingProblem) in job[keyPath: path] = try value.string() },
            text: { $0[keyPath: path].map(shown) })
    }

    /// A file or a folder, which results don't depend on by its name.
    static func path(_ path: WritableKeyPath<JobSettings, String?> & Sendable) -> Self {
        SettingMember(.path) { job, value throws(SettingProblem) in job[keyPath: path] = try value.path() }
    }

    /// One of a few words. The fingerprint omits the word `unset`.
    static func word<Choice: RawRepresentable & CaseIterable & Equatable & Sendable>(
        _ path: WritableKeyPath<JobSettings, Choice> & Sendable, unset: Choice? = nil
    ) -> Self where Choice.RawValue == String {
        SettingMember(
            .text,
            set: { job, value throws(SettingProblem) in job[keyPath: path] = try value.word(Choice.self) },
            text: { $0[keyPath: path] == unset ? nil : $0[keyPath: path].rawValue },
            words: Choice.allCases.map(\.rawValue))
    }

    static let speculation = SettingMember(
        .amount,
        set: { job, value throws(SettingProblem) in job.engine.speculation = try value.speculation() },
        problem: { job in
            let range = 1...Speculation.limit
            guard case .tokens(let count) = job.engine.speculation, !range.contains(count) else { return nil }
            return "must be \(range.right), but is \(count)"
        }, words: ["auto", "off"])

    /// One of the requests' settings.
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
            form, set: { job, value throws(SettingProblem) in try value.read(setting, into: &job.request) },
            problem: { setting.problem(in: $0.request) }, text: { setting.text(in: $0.request) },
            words: setting.words)
    }
}
