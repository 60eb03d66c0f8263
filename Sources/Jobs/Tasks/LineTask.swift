import BatchEngine
import PhiText

/// The processing of a line: its requests, their way through the engine, and their result. A task is a type and its
/// name in `JobTask.all`.
protocol LineTask: Sendable {
    associatedtype Made: TaskResult

    // MARK: Of a job

    /// Whether it processes all lines of a job. By default it does.
    static func doesAll(of job: JobSettings) -> Bool
    /// The columns of a table of a job's results; nil, the default, if no table holds them.
    static func columns(of job: JobSettings) -> [String]?
    /// An error in the first line of a job's input that makes all such lines fail; nil if there is none, or it is in
    /// the prompt.
    static func problem(with line: FirstLine) -> String?

    /// - Throws: `UserError` if its settings are malformed.
    init(_ job: JobSettings, _ builder: PromptBuilder) throws

    /// The fields of a line that it uses besides the prompt's. By default none.
    var fields: Set<String> { get }
    /// All fields that its results can depend on besides the prompt's; by default `fields`.
    var names: [String] { get }
    /// The job's templates that it fills besides the prompt's. By default none.
    var templates: [(key: String, template: TextTemplate)] { get }

    // MARK: Of a line

    /// Whether it processes this line, if no task before it in the list does. By default it does.
    func takes(_ record: PromptRecord) -> Bool
    /// - Parameter model: called only for lines without errors so far, as it may load the model.
    /// - Throws: `LineError` for an error of the line; errors of `model`.
    func prepare(
        _ record: PromptRecord, for model: () throws -> LinePreparer.Model
    ) throws -> any PreparedLine
}

extension LineTask {
    static var made: any TaskResult.Type { Made.self }
    static func doesAll(of job: JobSettings) -> Bool { true }
    static func columns(of job: JobSettings) -> [String]? { nil }
    static func problem(with line: FirstLine) -> String? { nil }
    var fields: Set<String> { [] }
    var names: [String] { Array(fields) }
    var templates: [(key: String, template: TextTemplate)] { [] }
    func takes(_ record: PromptRecord) -> Bool { true }
}

/// A line as token ids, from which the requests of its samples are made.
package protocol PreparedLine: Sendable {
    /// The line's prompt.
    var prompt: [Int32] { get }
    /// Number of tokens of each request's prompt, and of its completion at most.
    var lengths: [(prompt: Int, completion: Int)] { get }
    /// Whether texts of control tokens in the line are taken as text.
    var isCovered: Bool { get }
    /// Names of unsupported fields of one of OpenAI's requests. By default none.
    var missing: [String] { get }
    /// The constraint of the answer; nil by default, if it is free.
    var answer: GenerateTask.Answer? { get }

    /// - Parameter saved: an earlier run's part of this sample.
    func work(_ label: RequestLabel, saved: InFlightRecord?, _ maker: RequestMaker) -> [PendingRequest]
}

extension PreparedLine {
    package var missing: [String] { [] }
    package var answer: GenerateTask.Answer? { nil }
}

/// Common parts of requests, besides their lines.
package struct RequestMaker: Sendable {
    let text: any TextCoding
    let limits: ModelLimits
    let rope: RopeFactors
    /// The model that equal requests share, `RunFingerprint.model`; nil if equal ones are of no interest.
    let model: [UInt8]?
    /// Notified when a slow part of a request is ready.
    let waiter: AnswerCompilation.Waiter

    /// - Parameters:
    ///   - asked: the settings that change the outcome, `RequestSettings.content`; nil if unknown.
    ///   - saved: an earlier run's part of it.
    func request(
        _ prompt: [Int32], _ kind: any RequestKind, asked: [UInt8]? = nil, saved: InFlightRecord? = nil,
        for owner: any RequestOwner
    ) -> OwnedRequest {
        var request = Request(prompt: prompt, kind: kind)
        (request.rope, request.asked, request.saved) = (rope, asked, saved?.saved)
        request.key = model.flatMap { RequestKey(request, model: $0) }
        return OwnedRequest(request: request, owner: owner)
    }
}

/// The purpose of a request: the label that a loop hands back, which makes an outcome of the request's sequence.
protocol RequestOwner: Sendable {
    var label: RequestLabel { get set }
    /// Whether another request of the same sample has this prompt, and counts it. By default none has.
    var sharesPrompt: Bool { get }
    /// Whether the request may be repeated when done. By default not.
    var mayComeAgain: Bool { get }
    /// Whether its text is the result's from the first piece on. By default so if the request isn't repeated.
    var isCertain: Bool { get }
    /// Returns the reasoning before the answer that begins, if results separate it. By default none.
    func reasoning(of sequence: TokenSequence) -> String?
    /// Whether other rows of its line make the same request, with the same random stream. By default none.
    var isCommon: Bool { get }

    func outcome(of ended: EndedRequest) -> RequestOutcome
    /// Returns the outcome of an error.
    /// - Parameter sequence: nil if none was admitted.
    func outcome(of error: LineError, _ sequence: TokenSequence?) -> RequestOutcome

    /// Returns its record while in flight; nil if there is nothing to save.
    func record(_ saved: SavedDecoding) -> InFlightRecord?
}

extension RequestOwner {
    var sharesPrompt: Bool { false }
    var mayComeAgain: Bool { false }
    var isCommon: Bool { false }
    var isCertain: Bool { !mayComeAgain }
    func reasoning(of sequence: TokenSequence) -> String? { nil }
    func outcome(of error: LineError, _ sequence: TokenSequence?) -> RequestOutcome { .failed(error) }

    func record(_ saved: SavedDecoding) -> InFlightRecord? {
        guard !saved.tokens.isEmpty || label.attempt > 0 else { return nil }
        return InFlightRecord(key: label.key, saved: saved, attempt: label.attempt)
    }
}

package enum RequestOutcome: Sendable {
    /// - Parameter isOwn: whether it was computed for this line.
    case made(any TaskResult, GenerationResult.Timing, isOwn: Bool)
    /// - Parameter text: the answer with the error.
    case failed(LineError, text: String? = nil)
    /// To be repeated.
    case again(OwnedRequest)
    /// To be done next, before there is a result.
    case more([PendingRequest])
    /// Decided once all rows before it have come as far.
    case held(HeldRow)
    /// Other parts are missing.
    case open
}
