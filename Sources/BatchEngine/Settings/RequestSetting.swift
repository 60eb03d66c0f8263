/// Row of a request's setting in the table of settings, which has everything about it.
package struct RequestSetting: Sendable {
    package typealias Path<Value> = WritableKeyPath<RequestSettings, Value?> & Sendable

    /// Key path of the value, its range and its default.
    package enum ValueType: Sendable {
        case int(Path<Int>, ClosedRange<Int>, default: Int?)
        case number(Path<Float>, NumberRange, default: Float)
        case flag(Path<Bool>)
        /// One of a few words, or any text if none are listed.
        case word(Path<String>, [String])
        /// One text or a list; `problem` returns the problem with it in words that follow the name.
        case texts(Path<[String]>, problem: @Sendable ([String]) -> String?)
        case bias(Path<[Int32: Float]>, NumberRange)
    }

    /// Place where a setting may be set, beside a job file.
    package enum Place: Sendable {
        /// An option; `--tokens` and `--no-tokens` for a flag.
        case option
        case step
        case line
        /// OpenAI's chats and completions; settings allowed there are also allowed in a line.
        case body
        /// OpenAI's responses.
        case responses
        /// `phibatch chat`.
        case chat
        /// A program that uses the library.
        case library
        /// Keywords of Python's `LLM`, and of its `map`.
        case llm, map

        /// Places of most settings.
        package static let usual: Set<Self> = [.line, .body, .chat, .library]
        package static let withResponses = usual.union([.responses])
    }

    /// Tasks that it applies to.
    package enum Task: Sendable { case generate, choose, score }

    /// Value that wins if both job and line have one.
    package enum Precedence: Sendable {
        /// The job's.
        case job
        case line
        /// The smaller one.
        case least
        /// The job's texts followed by the line's.
        case both
    }

    package let name: String
    /// Placeholder of the value in the help; empty for a flag.
    package let placeholder: String
    package let help: String
    package let kind: ValueType
    package let places: Set<Place>
    package let tasks: Set<Task>
    package let precedence: Precedence
    /// Whether results depend on it, so that the fingerprint has it.
    package let changesResults: Bool
    /// Its text in the fingerprint where it is not set; nil leaves it out, so that a new setting changes no earlier run.
    package let unset: String?
    /// Tasks whose outcomes from the model depend on it. Excludes tasks whose requests express it in another form, and
    /// settings applied to the outcome.
    let changesOutcomeOf: Set<Task>
    /// Its place in the order of steps that choose a token; nil if it is none of them.
    package let order: Int?
    /// Reason why it can't be combined with a constraint; nil if it can.
    package let formConflict: String?
    /// Help of a chat, if it differs from a job's.
    package let chatHelp: String?

    init(
        _ name: String, _ placeholder: String, _ help: String, _ kind: ValueType,
        in places: Set<Place> = Place.usual, for tasks: Set<Task> = [.generate],
        precedence: Precedence = .job,
        changesResults: Bool = true, unset: String? = nil, changesOutcomeOf outcomes: Set<Task>? = nil,
        order: Int? = nil,
        formConflict: String? = nil,
        chatHelp: String? = nil
    ) {
        (self.name, self.placeholder, self.help, self.kind) = (name, placeholder, help, kind)
        (self.places, self.tasks, self.precedence) = (places, tasks, precedence)
        (self.changesResults, self.unset, self.order) = (changesResults, unset, order)
        (self.formConflict, self.chatHelp) = (formConflict, chatHelp)
        changesOutcomeOf = outcomes ?? tasks
    }

    /// Whether its value is a number, which a CSV file has as text.
    package var isNumber: Bool {
        switch kind {
        case .int, .number: true
        case .flag, .word, .texts, .bias: false
        }
    }

    /// Words that its value may be, if it is one of a few.
    package var words: [String] { if case .word(_, let words) = kind { words } else { [] } }

    package static func named(_ name: String) -> RequestSetting? {
        all.first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    package static func all(in place: Place) -> [RequestSetting] { all.filter { $0.places.contains(place) } }
}
