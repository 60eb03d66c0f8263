/// Source of a loop's requests and receiver of their results: a job, or a caller that waits for one answer. All calls
/// come from the loop's thread. An error that a source throws ends only this source.
package protocol RequestSource: AnyObject {
    /// The most requests of this source that run together.
    var workers: Int { get }
    /// Whether its completions are drafted ahead. `auto` by default.
    var speculation: Speculation { get }
    /// Once true, the loop drops its requests. Read between passes.
    var isCancelled: Bool { get }

    /// Whether the loop is to drop some of its requests. Read between passes.
    var drops: Bool { get }
    /// Whether to drop this one; the source hears nothing more of it.
    func drops(_ request: Request) -> Bool

    /// - Parameter patience: seconds to wait for a request if there is none yet.
    func next(patience: Double) throws -> SourceAnswer
    /// Returns text to keep beside a token with log-probabilities. None by default.
    func note(on choice: SampledToken) -> String?
    /// The request begins to run. Not called again after a preemption.
    func admitted(_ sequence: TokenSequence)
    /// New text of the completion is certain. Does nothing by default.
    func received(_ text: ReasoningReader.Piece, of sequence: TokenSequence)
    /// The completion is complete, or everything is scored.
    func finished(_ sequence: TokenSequence, provenance: [String: String]) throws
    /// No token could be chosen for the request.
    func failed(_ sequence: TokenSequence, _ fault: ChoiceFault) throws
    /// The engine can't serve the request; see `Admission.never`.
    func refused(_ request: Request, _ refusal: UserError, room: Int?) throws
    /// A pass is done, and its results have been passed on.
    func passed(_ report: PassReport, in loop: BatchLoop) throws
    /// The source has no more requests, and all are done.
    func completed()
    /// The source was cancelled, or `error` ended it.
    /// - Parameter live: its unfinished requests.
    func abandoned(_ live: [TokenSequence], error: (any Error)?)
}

package enum SourceAnswer {
    case request(Request)
    /// Nothing yet.
    case wait
    /// Nothing any more.
    case end
}

extension RequestSource {
    package var speculation: Speculation { .auto }
    package func note(on choice: SampledToken) -> String? { nil }
    package func admitted(_ sequence: TokenSequence) {}
    package func received(_ text: ReasoningReader.Piece, of sequence: TokenSequence) {}
    package var drops: Bool { false }
    package func drops(_ request: Request) -> Bool { false }
    package func passed(_ report: PassReport, in loop: BatchLoop) throws {}
}

/// Share of one source in a pass.
package struct PassReport: Sendable {
    /// Rows of prompts.
    package var prefillRows = 0
    /// Rows of completions, draft tokens included.
    package var decodeRows = 0
    /// Tokens sampled, forced or scored.
    package var tokens = 0
    /// Draft tokens, and those accepted.
    package var drafted = 0
    package var acceptedDrafts = 0
    /// Preemptions of its requests before the pass.
    package var preempted = 0
    /// Its running requests after the pass.
    package var running = 0
    /// The rows of all sources.
    package var passRows = 0
    /// Duration of the whole pass.
    package var seconds = 0.0
    /// The engine's times since it was loaded, before and after the pass.
    package var timesBefore = ComputeTimes()
    package var times = ComputeTimes()

    /// Counts a sequence's input.
    mutating func count(_ input: PassInput, decodes: Bool) {
        if decodes, input.targets.isEmpty {
            decodeRows += input.tokens.count
        } else {
            prefillRows += input.tokens.count
        }
        tokens += input.targetRows
        drafted += input.drafted
    }

    /// Counts a sequence's progress.
    mutating func count(_ outcome: PassOutcome, right: Int) {
        tokens += outcome.tokens
        acceptedDrafts += right
    }
}

/// A source in a loop.
final class SourceSlot {
    let source: any RequestSource
    /// Workers that its running sequences occupy, in units of `TokenSequence.wholeLoad`.
    var load = 0
    var waiting = 0
    var hasEnded = false
    var failure: (any Error)?
    var report = PassReport()
    var drafts = DraftRecord()

    init(_ source: any RequestSource) { self.source = source }

    /// Whether it may give one more request. Requests that wait for a prefix don't take other sources' places.
    var mayBeAsked: Bool {
        !hasEnded && failure == nil && hasFreeWorker && waiting < source.workers
            && !source.isCancelled
    }
    var hasFreeWorker: Bool { load < TokenSequence.wholeLoad * source.workers }
    var isDone: Bool { hasEnded && load == 0 && waiting == 0 }
}
