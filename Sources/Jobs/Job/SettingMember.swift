import BatchEngine

/// The member of `JobSettings` that a key sets: how it is read from text, what it may be, and how the fingerprint
/// writes it. One declaration, whether the value comes from a job file, an option or a program.
struct SettingMember: Sendable {
    /// Has no effect but on the settings.
    let set: @Sendable (inout JobSettings, SettingValue) throws(SettingProblem) -> Void
    /// Looks for what the value names, once all settings are known; nil where it names nothing.
    let resolve: (@Sendable (inout JobSettings, SettingValue) throws(SettingProblem) -> Void)?
    /// What is wrong with the value; nil if nothing is.
    let problem: @Sendable (JobSettings) -> String?
    /// The value as text, distinct for distinct values; nil where it is not set.
    let text: @Sendable (JobSettings) -> String?
    /// The words that it may be, where it is one of a few.
    let words: [String]

    init(
        set: @escaping @Sendable (inout JobSettings, SettingValue) throws(SettingProblem) -> Void,
        resolve: (@Sendable (inout JobSettings, SettingValue) throws(SettingProblem) -> Void)? = nil,
        problem: @escaping @Sendable (JobSettings) -> String? = { _ in nil },
        text: @escaping @Sendable (JobSettings) -> String? = { _ in nil },
        words: [String] = []
    ) {
        self.set = set
        self.resolve = resolve
        self.problem = problem
        self.text = text
        self.words = words
    }

    static func int(_ path: WritableKeyPath<JobSettings, Int> & Sendable, _ range: ClosedRange<Int>) -> Self {
        SettingMember(
            set: { job, value throws(SettingProblem) in job[keyPath: path] = try value.int(in: range) },
            problem: { job in
                let number = job[keyPath: path]
                return range.contains(number) ? nil : "must be \(range.right), but is \(number)"
            })
    }

    static func seconds(_ path: WritableKeyPath<JobSettings, Double> & Sendable, upTo limit: Int) -> Self {
        let range = NumberRange(0, to: limit, noun: "a number of seconds")
        return SettingMember(
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
            set: { job, value throws(SettingProblem) in
                job[keyPath: path] = try value.countOrAuto(in: range)
            },
            problem: { job in
                guard case .count(let count) = job[keyPath: path], !range.contains(count) else { return nil }
                return "must be \(range.right), but is \(count)"
            })
    }

    static func flag(_ path: WritableKeyPath<JobSettings, Bool> & Sendable) -> Self {
        SettingMember(
            set: { job, value throws(SettingProblem) in job[keyPath: path] = try value.bool() },
            text: { "\($0[keyPath: path])" })
    }

    static func string(_ path: WritableKeyPath<JobSettings, String?> & Sendable) -> Self {
        SettingMember(
            set: { job, value throws(SettingProblem) in job[keyPath: path] = try value.string() },
            text: { $0[keyPath: path].map { ResultText.list([$0]) } })
    }

    /// One of a few words. The fingerprint leaves out the word `unset`.
    static func word<Choice: RawRepresentable & CaseIterable & Equatable & Sendable>(
        _ path: WritableKeyPath<JobSettings, Choice> & Sendable, unset: Choice? = nil
    ) -> Self where Choice.RawValue == String {
        SettingMember(
            set: { job, value throws(SettingProblem) in job[keyPath: path] = try value.word(Choice.self) },
            text: { $0[keyPath: path] == unset ? nil : $0[keyPath: path].rawValue },
            words: Choice.allCases.map(\.rawValue))
    }

    static let speculation = SettingMember(
        set: { job, value throws(SettingProblem) in job.engine.speculation = try value.speculation() },
        problem: { job in
            let range = 1...Speculation.limit
            guard case .tokens(let count) = job.engine.speculation, !range.contains(count) else { return nil }
            return "must be \(range.right), but is \(count)"
        }, words: ["auto", "off"])

    /// One of the requests' settings.
    init(_ setting: RequestSetting) {
        self.init(
            set: { job, value throws(SettingProblem) in try value.read(setting, into: &job.request) },
            problem: { setting.problem(in: $0.request) }, text: { setting.text(in: $0.request) },
            words: setting.words)
    }
}
