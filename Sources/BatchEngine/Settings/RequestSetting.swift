/// A setting of requests: its row in the table, which has all that is known of it.
package struct RequestSetting: Sendable {
    package typealias Path<Value> = WritableKeyPath<RequestSettings, Value?> & Sendable

    /// Where the value is, what it may be, and what it is where nobody says.
    package enum Kind: Sendable {
        case int(Path<Int>, ClosedRange<Int>, default: Int?)
        case number(Path<Float>, NumberRange, default: Float)
        case flag(Path<Bool>)
        /// One of a few words; any text where none are named.
        case word(Path<String>, [String])
        /// One text or a list; `problem` says what is wrong with it in words that follow the name.
        case texts(Path<[String]>, problem: @Sendable ([String]) -> String?)
        case bias(Path<[Int32: Float]>, NumberRange)
    }

    /// Where the help lists it.
    package enum Group: Sendable { case sampling, answers, results }

    /// Where it may stand.
    package enum Place: Sendable, CaseIterable {
        case job, line
        /// OpenAI's chats and completions; what may stand there may stand in a line.
        case body
        /// OpenAI's responses.
        case responses
        /// `phibatch chat`.
        case chat
        /// A program that asks a model by itself.
        case library

        package static let all = Set(allCases)
    }

    /// What it says something of.
    package enum Task: Sendable { case generate, choose, score }

    /// Whose value counts where job and line have one.
    package enum Precedence: Sendable {
        /// What the job sets, it enforces.
        case job
        case line
        /// The smaller one.
        case least
        /// The job's texts, and then the line's.
        case both
    }

    /// Whether results depend on it, and how the fingerprint writes it where it is not set.
    package enum Effect: Sendable {
        case none
        case always(unset: String = "-")
        /// Left out where it is not set.
        case ifSet
    }

    package let name: String
    /// What stands for the value in the help; empty for a flag, which takes none.
    package let placeholder: String
    package let help: String
    package let kind: Kind
    package let places: Set<Place>
    package let tasks: Set<Task>
    package let group: Group
    package let precedence: Precedence
    package let effect: Effect
    /// The tasks whose outcomes, as the model gives them, depend on it: all that it says something of, unless the request
    /// says the same otherwise, or it is about what is made of an outcome.
    let shapes: Set<Task>
    /// Its place among the steps that change logits before a token is chosen; nil if it is none of them.
    package let step: Int?
    /// Why it doesn't go with a form that answers must have; nil if it does.
    package let formConflict: String?
    /// What the help of a chat says, where a job's would be wrong.
    package let chatHelp: String?

    init(
        _ name: String, _ placeholder: String, _ help: String, _ kind: Kind,
        in places: Set<Place> = Place.all.subtracting([.responses]), for tasks: Set<Task> = [.generate],
        group: Group = .sampling, precedence: Precedence = .job,
        effect: Effect = .ifSet, shapes: Set<Task>? = nil, step: Int? = nil, formConflict: String? = nil,
        chatHelp: String? = nil
    ) {
        self.name = name
        self.placeholder = placeholder
        self.help = help
        self.kind = kind
        self.places = places
        self.tasks = tasks
        self.group = group
        self.precedence = precedence
        self.effect = effect
        self.shapes = shapes ?? tasks
        self.step = step
        self.formConflict = formConflict
        self.chatHelp = chatHelp
    }

    /// Whether its value is a number, as text a CSV file has it in.
    package var isNumber: Bool {
        switch kind {
        case .int, .number: true
        case .flag, .word, .texts, .bias: false
        }
    }

    /// The words that its value may be, where it is one of a few.
    package var words: [String] { if case .word(_, let words) = kind { words } else { [] } }

    package static func named(_ name: String) -> RequestSetting? {
        all.first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    package static func all(in place: Place) -> [RequestSetting] { all.filter { $0.places.contains(place) } }
}
