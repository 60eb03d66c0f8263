import TestSupport

@testable import BatchEngine

/// A list of requests, whose results it keeps.
final class TestSource: RequestSource {
    let workers: Int
    var isCancelled = false
    var speculation = Speculation.off
    private(set) var drafted = 0
    private(set) var acceptedDrafts = 0
    private var requests: [Request]
    private let count: Int
    private(set) var results: [Int: [Int32]] = [:]
    private(set) var reasons: [Int: FinishReason] = [:]
    /// The text of each result, and the pieces that came while it was under way.
    private(set) var text: [Int: String] = [:]
    private(set) var pieces: [Int: String] = [:]
    private(set) var logprobs: [Int: [Float]] = [:]
    private(set) var answers: [Int: [Float]] = [:]
    /// Tokens as the reports count them, and those that were chosen.
    private(set) var tokens = 0
    private(set) var chosen = 0
    private(set) var prefillRows = 0
    private(set) var decodeRows = 0
    private(set) var refused: [Int] = []
    /// In the order of their ends.
    private(set) var order: [Int] = []
    private(set) var admitted: [Int] = []
    private(set) var isComplete = false
    private(set) var live: [TokenSequence] = []
    private(set) var error: (any Error)?
    private(set) var mostRunning = 0
    private(set) var texts = ""
    /// Each text came piece by piece.
    private(set) var isTold = true
    var onFinish: (Int) throws -> Void = { _ in }

    init(_ requests: [Request], workers: Int) {
        self.requests = requests.enumerated().map { number, request in
            var request = request
            request.number = number
            return request
        }.reversed()
        count = requests.count
        self.workers = workers
    }

    private func number(_ request: Request) -> Int { request.number }

    /// The completions in the order of the requests.
    var completions: [[Int32]] { (0..<count).map { results[$0] ?? [-1] } }

    func next(patience: Double) -> SourceAnswer { requests.popLast().map { .request($0) } ?? .end }
    func admitted(_ sequence: TokenSequence) { admitted.append(number(sequence.request)) }
    func received(_ text: ReasoningReader.Piece, of sequence: TokenSequence) {
        texts += text.answer
        pieces[sequence.id, default: ""] += text.answer
    }
    func finished(_ sequence: TokenSequence, provenance: [String: String]) throws {
        results[number(sequence.request)] = sequence.decoding.sampled
        if let completion = sequence.decoding as? SamplingDecoding {
            reasons[number(sequence.request)] = completion.finishReason
            text[number(sequence.request)] = completion.text
            isTold = isTold && completion.text == pieces[sequence.id, default: ""]
            // The end of sequence is chosen, but no token of the completion.
            chosen += completion.sampled.count + (completion.finishReason == .stop ? 1 : 0)
        }
        logprobs[number(sequence.request)] = (sequence.decoding as? ScoringDecoding)?.logprobs
        answers[number(sequence.request)] = (sequence.decoding as? LabelTreeScoring)?.answers
        order.append(number(sequence.request))
        try onFinish(number(sequence.request))
    }
    func failed(_ sequence: TokenSequence, _ fault: ChoiceFault) {}
    func refused(_ request: Request, _ refusal: UserError, room: Int?) { refused.append(number(request)) }
    func passed(_ report: PassReport, in loop: BatchLoop) {
        mostRunning = max(mostRunning, report.running)
        tokens += report.tokens
        prefillRows += report.prefillRows
        decodeRows += report.decodeRows
        drafted += report.drafted
        acceptedDrafts += report.acceptedDrafts
    }
    func completed() { isComplete = true }
    func abandoned(_ live: [TokenSequence], error: (any Error)?) {
        self.live = live
        self.error = error
    }
}

/// Each token is its number and a space.
struct NumberText: TextStream {
    mutating func append(_ token: Int32) -> String { "\(token) " }
    mutating func finish() -> String { "" }
}

extension Request {
    static func test(_ prompt: [Int32], max maxTokens: Int = 20, stream: UInt64 = 0) -> Request {
        Request(
            prompt: prompt,
            kind: Sampling(
                maxTokens: maxTokens, sampling: SamplingParameters(), stream: stream, endOfSequence: [0],
                stops: .none, text: NumberText()))
    }

    /// The goal of a request that generates.
    var generation: Sampling {
        get {
            guard let generation = kind as? Sampling else { preconditionFailure("it generates") }
            return generation
        }
        set { kind = newValue }
    }

    /// The tokens to be scored, if it scores.
    var scored: [Int32] { (kind as? Scoring)?.tokens ?? [] }
}
