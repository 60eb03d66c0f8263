import BatchEngine
import PhiModel

/// Why a completion ended.
public enum FinishReason: String, Sendable {
    /// The model's end of sequence.
    case stop
    /// `max_tokens` reached, or the end of the context.
    case length
    /// A stop string came up; the text is cut before it.
    case stopSequence = "stop_sequence"
}

/// A request on its way through the model: what is still to be sent, and what has come of it.
struct Completion {
    let request: Request
    private(set) var tokens: [Int32] = []
    /// For each token its encoded log-probability entry, if asked for.
    private(set) var logprobs: [String] = []
    private(set) var text = ""
    private(set) var finishReason: FinishReason?
    /// How many of `tokens` an earlier run has made.
    private(set) var savedCount = 0

    var sequence: SequenceID?
    var admittedAt: ContinuousClock.Instant?
    var firstTokenAt: ContinuousClock.Instant?
    /// Tokens not yet sent to the model.
    private(set) var unsent: ArraySlice<Int32> = []

    private let endOfSequence: Set<Int32>
    private var stream: any TextStream
    private var stops: StopMatcher

    init(_ request: Request, model: any BatchModel, ignoresEndOfSequence: Bool) {
        self.request = request
        endOfSequence = ignoresEndOfSequence ? [] : model.limits.endOfSequence
        stream = model.makeTextStream()
        stops = StopMatcher(request.stops)
    }

    /// The completion with the tokens that an earlier run saved, text and stop strings worked out anew.
    /// Nil if there are none, or none that can be ours: they come from a file.
    func resumed(limits: ModelLimits) -> Completion? {
        guard let saved = request.saved,
            saved.tokens.allSatisfy({
                $0 >= 0 && Int($0) < limits.vocabularySize && !endOfSequence.contains($0)
            }),
            request.sampling.logprobs == nil || saved.logprobs.count == saved.tokens.count
        else { return nil }
        var completion = self
        for (index, token) in saved.tokens.enumerated() {
            completion.append(token, logprob: request.sampling.logprobs == nil ? nil : saved.logprobs[index])
            if completion.finishReason != nil { return nil }
        }
        completion.savedCount = saved.tokens.count
        return completion
    }

    /// Starts over from the prompt, and the saved tokens behind it.
    /// - Parameter cached: prompt tokens that the model needs no more.
    mutating func begin(_ sequence: SequenceID, cached: Int) {
        self.sequence = sequence
        admittedAt = .now
        unsent = (request.prompt + tokens)[cached...]
    }

    /// The next rows for the model.
    mutating func send(_ count: Int, samples: Bool, to sequence: SequenceID) -> StepInput {
        let rows = unsent.prefix(count)
        unsent.removeFirst(count)
        return StepInput(
            sequence: sequence, tokens: rows,
            sampling: samples
                ? SamplingRequest(
                    parameters: request.sampling, stream: request.stream, position: tokens.count)
                : nil)
    }

    /// Takes the token that the model chose. Sets `finishReason` if it was the last one.
    mutating func accept(_ choice: TokenChoice, model: any BatchModel) {
        if firstTokenAt == nil { firstTokenAt = .now }
        if endOfSequence.contains(choice.token) {
            finish(.stop)
            return
        }
        append(
            choice.token,
            logprob: request.sampling.logprobs == nil ? nil : LogprobEntry(choice, model: model).encoded)
        unsent = [choice.token]
    }

    private mutating func append(_ token: Int32, logprob: String?) {
        tokens.append(token)
        if let logprob { logprobs.append(logprob) }
        text += stops.append(stream.append(token))
        if stops.hasStopped {
            finishReason = .stopSequence
        } else if tokens.count >= request.maxTokens {
            finish(.length)
        }
    }

    /// What was held back is text after all, unless half a character at the end completes a stop string.
    private mutating func finish(_ reason: FinishReason) {
        text += stops.append(stream.finish())
        text += stops.finish()
        finishReason = stops.hasStopped ? .stopSequence : reason
    }

    /// What to save of it; nil if there is nothing yet.
    var inFlightRecord: InFlightRecord? {
        tokens.isEmpty ? nil : InFlightRecord(key: request.label.key, tokens: tokens, logprobs: logprobs)
    }
}
