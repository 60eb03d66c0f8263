import BatchEngine

/// The source of a line's choices: the job, a field that it names, or the line's own `choices`.
struct ChoiceSource: Sendable {
    private enum Location: Sendable {
        case job([String])
        case field(String)
        /// The line's `choices`, if it has any.
        case own
        /// The job constrains answers in another way.
        case none
    }
    private let place: Location

    static let ownField = "choices"

    /// - Parameter templateFields: the fields that the job's templates use. A line's `choices` that are in the prompt
    ///   are not its choices, unless the job says so.
    init(_ job: JobSettings, templateFields: Set<String>) {
        let choices = job.choices ?? []
        if let name = ChoiceList.field(in: choices) {
            place = .field(name)
        } else if !choices.isEmpty {
            place = .job(choices)
        } else {
            let isFree = job.linesChoose && job.answerFormat == nil
            let isNamed = job.lineSettings?.contains(Self.ownField) == true
            place = isFree && (isNamed || !templateFields.contains(Self.ownField)) ? .own : .none
        }
    }

    /// Whether a line chooses between answers, or must.
    func concerns(_ record: PromptRecord) -> Bool {
        switch place {
        case .job, .field: true
        case .own: record.reading.reads(Self.ownField) && record.fields.given(Self.ownField) != nil
        case .none: false
        }
    }

    /// Returns the answers that such a line chooses from.
    func texts(of record: PromptRecord) throws(LineError) -> [String] {
        let name: String
        switch place {
        case .job(let choices): return choices
        case .field(let field): name = field
        case .own, .none: name = Self.ownField
        }
        guard let value = record.fields.given(name) else {
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
        if let problem = ChoiceList.problem(with: texts) {
            throw LineError(.badField, "`\(name)` \(problem).")
        }
        return texts
    }
}
