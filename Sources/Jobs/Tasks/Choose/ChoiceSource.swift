/// Where a job's lines have the answers to choose from: in the job, in a field that it names, or in their own
/// `choices`.
struct ChoiceSource: Sendable {
    private enum Place: Sendable {
        case job([String])
        case field(String)
        /// The line's `choices`, if it has any.
        case own
        /// The job says otherwise what answers must be.
        case none
    }
    private let place: Place

    static let ownField = "choices"
    /// Each costs a row of the model at least.
    static let countLimit = 10_000

    /// - Parameter templateFields: the fields that the job's templates use. A line's `choices` that are shown to the
    ///   model are not taken for its answers, unless the job says so.
    init(_ job: JobSettings, templateFields: Set<String>) {
        if let name = Self.field(in: job.choices) {
            place = .field(name)
        } else if !job.choices.isEmpty {
            place = .job(job.choices)
        } else {
            place = job.answerForm == nil && !templateFields.contains(Self.ownField) ? .own : .none
        }
    }

    /// The field that a job names in place of a list.
    static func field(in choices: [String]) -> String? {
        guard choices.count == 1 else { return nil }
        return choices[0].wholeMatch(of: /\{\{\s*(\w+)\s*\}\}/).map { String($0.1) }
    }

    /// What is wrong with a job's list, in words that follow its name; nil if nothing is.
    static func problem(with choices: [String]) -> String? {
        field(in: choices) == nil ? listProblem(choices) : nil
    }

    private static func listProblem(_ choices: [String]) -> String? {
        guard choices.count >= 2 else {
            let number = choices.isEmpty ? "an empty list" : "a single one (\(shown(choices[0])))"
            return "must be two answers or more, but is \(number)"
        }
        guard choices.count <= countLimit else {
            return "has \(choices.count) answers; at most \(countLimit) can be compared"
        }
        var seen: Set<[UInt8]> = []
        for choice in choices {
            if choice.isEmpty { return "has an empty text, which is no answer" }
            // By bytes: as texts, letters with their accents apart would be the same.
            if !seen.insert(Array(choice.utf8)).inserted { return "has \(shown(choice)) more than once" }
            if choice.utf8.contains(0x7b), field(in: [choice]) != nil {
                return "has the field \(shown(choice)) in a list, but a field must stand alone"
            }
        }
        return nil
    }

    static func shown(_ choice: String) -> String {
        choice.count > 60 ? "\"\(choice.prefix(60))…\"" : "\"\(choice)\""
    }

    /// Whether a line has answers to choose from, or must have some.
    func concerns(_ record: PromptRecord) -> Bool {
        switch place {
        case .job, .field: true
        case .own: LineField(record.fields)[Self.ownField] != nil
        case .none: false
        }
    }

    /// The answers that a line has to choose from; of one that they concern.
    func texts(of record: PromptRecord) throws(LineError) -> [String] {
        let name: String
        switch place {
        case .job(let choices): return choices
        case .field(let field): name = field
        case .own, .none: name = Self.ownField
        }
        guard let value = LineField(record.fields)[name] else {
            throw LineError(.badField, "The line has no `\(name)`, which the job names for its choices.")
        }
        guard case .array(let elements) = value else {
            throw LineError(
                .badField,
                "`\(name)` must be a list of strings, the answers to choose from, but is \(value.kindName).")
        }
        var texts: [String] = []
        for (number, element) in elements.enumerated() {
            guard case .string(let text) = element else {
                throw LineError(
                    .badField, "`\(name)[\(number)]` must be a string, but is \(element.kindName).")
            }
            texts.append(text)
        }
        if let problem = Self.listProblem(texts) { throw LineError(.badField, "`\(name)` \(problem).") }
        return texts
    }
}
