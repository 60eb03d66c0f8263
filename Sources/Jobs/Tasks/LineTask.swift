import BatchEngine
import PhiText
import TokenConstraints

/// The templates of a job that a task fills, by their keys, and the names of further fields of a line that it uses.
typealias TaskSources = (templates: [(key: String, template: TextTemplate)], fields: [String])

/// The processing of a line: its requests, their way through the engine, and their result. A task is a type and its
/// name in `JobTask.allCases`.
protocol LineTask: Sendable {
    /// Members that its results may have, beside those of all results; each begins with one of these.
    static var resultNames: Set<String> { get }
    /// Returns the columns of a table of a job's results; nil, the default, if no table holds them.
    static func columns(of job: JobSettings) -> [String]?

    /// - Throws: `UserError` if its settings are malformed.
    init(_ job: JobSettings, _ builder: PromptBuilder) throws

    /// Its sources besides the prompt's templates. By default none.
    var sources: TaskSources { get }

    /// - Parameter maker: called only for lines without errors so far, as it may load the model.
    /// - Throws: `LineError` for an error of the line; errors of `maker`.
    func prepare(_ record: PromptRecord, by maker: () throws -> RequestMaker) throws -> PreparedLine
}

extension LineTask {
    static func columns(of job: JobSettings) -> [String]? { nil }
    var sources: TaskSources { ([], []) }
}

/// A line as token ids, from which the requests of its samples are made.
package struct PreparedLine: Sendable {
    /// The line's prompt.
    package var prompt: [Int32]
    /// Number of tokens of each request's prompt, and of its completion at most.
    package var lengths: [(prompt: Int, completion: Int)]
    /// Whether texts of control tokens in the line are taken as text.
    package var isCovered: Bool
    /// Names of unsupported fields of one of OpenAI's requests.
    package var missing: [String] = []
    /// The constraint of the answer; nil if it is free.
    package var answer: AnswerCompilation?
    /// Returns the work of a sample, of which an earlier run may have saved a part.
    var work: @Sendable (RequestLabel, _ saved: InFlightRecord?) -> [PendingRequest]
}

/// The model that lines are prepared for, and common parts of its requests.
package struct RequestMaker: Sendable {
    let text: any TextCoding
    let limits: ModelLimits
    /// Constraints, compiled for it.
    let grammars: AnswerGrammars
    var rope = RopeFactors.auto
    /// The model that equal requests share, `RunFingerprint.model`; nil if equal ones are of no interest.
    var model: [UInt8]?
    /// Notified when a slow part of a request is ready.
    var waiter: @Sendable () -> Void = {}
    /// Escapes texts of control tokens in the line; nil if they are parsed.
    private var shield: ControlTokenEscaper?

    package init(_ text: any TextCoding, _ limits: ModelLimits, _ grammars: AnswerGrammars) {
        (self.text, self.limits, self.grammars) = (text, limits, grammars)
    }

    // MARK: One line

    /// Returns the maker of one line's requests.
    func reading(_ record: PromptRecord, _ job: JobSettings) -> RequestMaker {
        var own = self
        own.shield = job.parsesControlTokens ? nil : text.shield(for: record.fields)
        return own
    }

    /// Whether texts of control tokens in the line are taken as text.
    var isCovered: Bool { shield?.holdsToken ?? false }

    /// Returns the line with control tokens escaped; nil if nothing escapes them.
    func covered(_ record: PromptRecord) -> PromptRecord? { shield.map(record.covered) }

    /// - Parameter limit: texts must have fewer tokens.
    /// - Throws: `LineError`.
    func tokens(of content: Prompt, below limit: Int) throws -> [Int32] {
        let tokens: [Int32]
        do {
            tokens = try text.tokens(for: content, contextLength: limit, shield: shield)
        } catch let error as UserError {
            if error.kind == .promptTooLong { throw LineError(.promptTooLong, error.message) }
            switch content {
            case .messages, .continued: throw LineError(.templateError, error.message)
            case .text, .tokens: throw LineError(.badPrompt, error.message)
            }
        }
        if let wrong = tokens.first(where: { $0 < 0 || Int($0) >= limits.vocabularySize }) {
            throw LineError(
                .badPrompt,
                "The line has the token id \(wrong), but the model's ids end at \(limits.vocabularySize - 1)."
            )
        }
        return tokens
    }

    /// - Parameters:
    ///   - asked: the settings that change the outcome, `RequestSettings.content`; nil if unknown.
    ///   - saved: an earlier run's part of it.
    func request(
        _ prompt: [Int32], _ kind: any RequestKind, asked: [UInt8]? = nil, saved: InFlightRecord? = nil
    ) -> Request {
        var request = Request(prompt: prompt, kind: kind)
        (request.rope, request.asked, request.saved) = (rope, asked, saved?.saved)
        request.key = model.flatMap { RequestKey(request, model: $0) }
        return request
    }
}

enum RequestOutcome: Sendable {
    /// - Parameter isOwn: whether it was computed for this line.
    case made(GenerationResult, isOwn: Bool)
    /// - Parameter text: the answer with the error.
    case failed(LineError, text: String? = nil)
    /// To be done next, before there is a result; nothing if other parts are missing.
    /// - Parameter isAgain: whether the request is repeated, as the answer was rejected.
    case more([PendingRequest], isAgain: Bool = false)
    /// Decided once all rows before it have come as far.
    case held(StepRow)
}
