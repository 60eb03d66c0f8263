import BatchEngine
import PhiText

/// What is done with a line: the requests that are made of it, how they go through the engine, and the result that
/// comes of them. A task is a type and its name in `JobTask.all`.
protocol LineTask: Sendable {
    associatedtype Made: TaskResult

    // MARK: Of a job

    /// Whether it does all lines of a job. The default is that it does.
    static func doesAll(of job: JobSettings) -> Bool
    /// The columns of a table of a job's results; nil if they have no place in one. The default are those of its results.
    static func columns(of job: JobSettings) -> [String]?
    /// What is wrong with the first line of a job's input, so that none like it can be done; nil if nothing is, or it is
    /// the prompt.
    static func problem(with line: FirstLine) -> String?

    /// - Throws: `UserError` if what the job says of it is malformed.
    init(_ job: JobSettings, _ builder: PromptBuilder) throws

    /// The fields of a line that it uses beside the prompt's. The default is none.
    var fields: Set<String> { get }
    /// All fields that its results can depend on beside the prompt's: the default is `fields`.
    var names: [String] { get }
    /// The job's templates that it fills beside the prompt's. The default is none.
    var templates: [LineTemplate] { get }

    // MARK: Of a line

    /// Whether it does this line, if no task before it in the list does. The default is that it does.
    func takes(_ record: PromptRecord) -> Bool
    /// - Parameter model: asked only for lines that are right so far: it may have to be loaded first.
    /// - Throws: `LineError` for what is wrong with the line; what `model` throws.
    func prepare(
        _ record: PromptRecord, for model: () throws -> LinePreparer.Model
    ) throws -> any PreparedLine
}

extension LineTask {
    static var made: any TaskResult.Type { Made.self }
    static func doesAll(of job: JobSettings) -> Bool { true }
    static func columns(of job: JobSettings) -> [String]? { Made.columns }
    static func problem(with line: FirstLine) -> String? { nil }
    var fields: Set<String> { [] }
    var names: [String] { Array(fields) }
    var templates: [LineTemplate] { [] }
    func takes(_ record: PromptRecord) -> Bool { true }
}

/// A line as token ids. Of it the requests of each of its samples are made.
package protocol PreparedLine: Sendable {
    /// The line's prompt.
    var prompt: [Int32] { get }
    /// How many tokens the prompt and the completion of each request have, the completion at most.
    var lengths: [(prompt: Int, completion: Int)] { get }
    /// Texts of control tokens in the line are taken as text.
    var isCovered: Bool { get }
    /// What one of OpenAI's requests asks for in vain, by name. The default is nothing.
    var missing: [String] { get }
    /// What the answer must be like; nil if it may be anything, the default.
    var answer: GenerateTask.Answer? { get }

    /// - Parameter saved: what an earlier run has made of this sample.
    func work(_ label: WorkLabel, saved: InFlightRecord?, _ maker: RequestMaker) -> [Work]
}

extension PreparedLine {
    package var missing: [String] { [] }
    package var answer: GenerateTask.Answer? { nil }
}

/// What requests are made of, beside their lines.
package struct RequestMaker: Sendable {
    let text: any TextCoding
    let limits: ModelLimits
    let rope: RopeFactors
    /// Who waits for what requests need that takes a while.
    let waiter: AnswerCompilation.Waiter

    /// - Parameter asked: what the settings say of the outcome, `RequestSettings.content`; nil if that is not known.
    func request(
        _ prompt: [Int32], _ kind: any RequestKind, asked: [UInt8]? = nil, for part: any WorkPart
    ) -> Request {
        var request = Request(prompt: prompt, kind: kind, label: part)
        request.rope = rope
        request.asked = asked
        return request
    }
}

/// What a request is for, a piece of work or a part of it: the label that a loop hands back. It says what becomes of the
/// request's sequence.
protocol WorkPart: Sendable {
    var label: WorkLabel { get set }
    /// Another request of the same sample has this prompt, too, and counts it. By default none has.
    var sharesPrompt: Bool { get }
    /// Whether the request may be made again once it is done. By default it is not.
    var mayComeAgain: Bool { get }
    /// Whether its text is the result's from the first piece on. By default it is if the request isn't made again.
    var isCertain: Bool { get }
    /// What was reasoning before the answer that begins, where results have that apart. By default it is nothing.
    func reasoning(of sequence: TokenSequence) -> String?
    /// Whether other rows of its line ask for the same, with the same random stream. By default none does.
    var isCommon: Bool { get }

    /// The sequence has come to its end. It may have been computed for an equal request.
    func outcome(of sequence: TokenSequence, _ provenance: [String: String], in job: JobSettings)
        -> WorkOutcome
    /// Nothing comes of it.
    /// - Parameter sequence: nil if none was admitted.
    func outcome(of error: LineError, _ sequence: TokenSequence?) -> WorkOutcome

    /// What is saved of it while it is under way; nil if that would be nothing.
    func record(_ tokens: [Int32], _ notes: [String]) -> InFlightRecord?
}

extension WorkPart {
    var sharesPrompt: Bool { false }
    var mayComeAgain: Bool { false }
    var isCommon: Bool { false }
    var isCertain: Bool { !mayComeAgain }
    func reasoning(of sequence: TokenSequence) -> String? { nil }
    func outcome(of error: LineError, _ sequence: TokenSequence?) -> WorkOutcome { .failed(error) }

    func record(_ tokens: [Int32], _ notes: [String]) -> InFlightRecord? {
        guard !tokens.isEmpty || label.attempt > 0 else { return nil }
        return InFlightRecord(key: label.key, tokens: tokens, logprobs: notes, attempt: label.attempt)
    }
}

package enum WorkOutcome: Sendable {
    /// - Parameter isOwn: something was computed for it.
    case made(any TaskResult, GenerationResult.Timing, isOwn: Bool)
    /// - Parameter text: the answer that is at fault.
    case failed(LineError, text: String? = nil)
    /// To be done anew.
    case again(Request)
    /// To be done next, before there is a result.
    case more([Work])
    /// To be decided once all rows before it have got as far.
    case held(HeldRow)
    /// Other parts are to come.
    case open
}
