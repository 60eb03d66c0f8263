/// Where a loop's requests come from, and where their results go: a job, or somebody who waits for one answer.
/// All calls come from the loop's thread. What a source throws ends this source and no other.
package protocol RequestSource: AnyObject {
    /// The most of its requests that run together.
    var workers: Int { get }
    /// Whether its completions are guessed ahead. The default is `auto`.
    var speculation: Speculation { get }
    /// Once true, its requests are taken out of the loop. Looked at between steps.
    var isCancelled: Bool { get }

    /// Whether some of its requests that are in the loop are to be taken out. Looked at between steps.
    var drops: Bool { get }
    /// Whether this one is; then nothing more is heard of it.
    func drops(_ request: Request) -> Bool

    /// - Parameter patience: how many seconds to wait for a request, if there is none yet.
    func next(patience: Double) throws -> SourceAnswer
    /// What to keep beside a token whose log-probabilities were asked for. The default is nothing.
    func note(on choice: SampledToken) -> String?
    /// The request has begun to run. Not called again if it gives way and comes back.
    func admitted(_ sequence: TokenSequence)
    /// Text that has become certain.
    func received(_ text: String, of sequence: TokenSequence)
    /// The same of reasoning before the answer, with its tags. Does nothing by default.
    func received(reasoning: String, of sequence: TokenSequence)
    /// The request's completion is whole, or all that it asks for is scored.
    func finished(_ sequence: TokenSequence, provenance: [String: String]) throws
    /// The engine could choose no token for the request.
    func failed(_ sequence: TokenSequence, _ fault: ChoiceFault) throws
    /// The engine can't serve the request.
    func refused(_ request: Request, _ refusal: Refusal) throws
    /// A step is done; what it finished has been handed over.
    func stepped(_ report: StepReport, in loop: BatchLoop) throws
    /// It has no more requests, and all are done.
    func completed()
    /// It was cancelled, or `error` ended it.
    /// - Parameter live: its requests that are not done.
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
    package func received(reasoning: String, of sequence: TokenSequence) {}
    package func admitted(_ sequence: TokenSequence) {}
    package func received(_ text: String, of sequence: TokenSequence) {}
    package var drops: Bool { false }
    package func drops(_ request: Request) -> Bool { false }
    package func stepped(_ report: StepReport, in loop: BatchLoop) throws {}
}

/// One source's part of a step.
package struct StepReport: Sendable {
    /// Rows of prompts.
    package var prefillRows = 0
    /// Rows of completions, guessed ones among them.
    package var decodeRows = 0
    /// Tokens chosen, certain after those, or scored.
    package var tokens = 0
    /// Tokens that were guessed, and those of them that the model chose as well.
    package var guessed = 0
    package var rightGuesses = 0
    /// Times that one of its requests gave way before the step.
    package var preempted = 0
    /// Its requests that run after the step.
    package var running = 0
    /// The rows of all sources.
    package var stepRows = 0
    /// What the whole step took.
    package var seconds = 0.0
    /// The engine's times since it was loaded: before the step and after it.
    package var timesBefore = ComputeTimes()
    package var times = ComputeTimes()

    /// Counts what a sequence brings into the step.
    mutating func count(_ input: StepInput, of part: Scheduler.ScheduledRows) {
        if part.decodes, input.targets.isEmpty {
            decodeRows += input.tokens.count
        } else {
            prefillRows += part.rows
        }
        tokens += input.targetRows
        guessed += input.guessed
    }

    /// Counts what has come of it.
    mutating func count(_ step: DecodingStep, right: Int) {
        tokens += step.tokens
        rightGuesses += right
    }
}

/// A source in a loop.
final class SourceSlot {
    let source: any RequestSource
    /// What its running sequences take of workers.
    var load = 0
    var waiting = 0
    var hasEnded = false
    var failure: (any Error)?
    var report = StepReport()
    var guesses = SourceGuesses()

    init(_ source: any RequestSource) { self.source = source }

    /// Whether it may give one more request. Those that wait for a prefix don't take others' places.
    var mayBeAsked: Bool {
        !hasEnded && failure == nil && hasFreeWorker && waiting < source.workers
            && !source.isCancelled
    }
    var hasFreeWorker: Bool { load < TokenSequence.wholeLoad * source.workers }
    var isDone: Bool { hasEnded && load == 0 && waiting == 0 }
}
