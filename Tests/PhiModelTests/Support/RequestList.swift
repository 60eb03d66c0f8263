import BatchEngine
import TestSupport

@testable import PhiModel

/// Requests that are in a loop from the beginning, and what each ended with, by its label.
final class RequestList<Ending>: RequestSource {
    let workers: Int
    let speculation: Speculation
    let isCancelled = false
    private var requests: [Request]
    private let note: (SampledToken) -> String?
    private let ending: (TokenSequence, [String: String]) -> Ending
    private(set) var endings: [Int: Ending] = [:]
    private(set) var reports: [PassReport] = []
    private(set) var isComplete = false

    private init(
        _ requests: [Request], workers: Int, _ speculation: Speculation,
        note: @escaping (SampledToken) -> String?,
        ending: @escaping (TokenSequence, [String: String]) -> Ending
    ) {
        (self.requests, self.workers, self.speculation) = (requests.reversed(), workers, speculation)
        (self.note, self.ending) = (note, ending)
    }

    static func run(
        _ requests: [Request], on engine: PhiEngine, workers: Int, chunk: Int, lookahead: Int = 0,
        _ speculation: Speculation = .auto, note: @escaping (SampledToken) -> String? = { _ in nil },
        ending: @escaping (TokenSequence, [String: String]) -> Ending
    ) -> (list: RequestList, preemptions: Int) {
        let list = RequestList(requests, workers: workers, speculation, note: note, ending: ending)
        let scheduler = Scheduler(workers: workers, prefillChunk: chunk, lookahead: lookahead)
        let loop = BatchLoop(scheduler: scheduler) { engine }
        loop.add(list)
        loop.run()
        return (list, loop.preemptions)
    }

    func next(patience: Double) -> SourceAnswer { requests.popLast().map { .request($0) } ?? .end }
    func note(on choice: SampledToken) -> String? { note(choice) }
    func finished(_ sequence: TokenSequence, provenance: [String: String]) {
        endings[sequence.request.number] = ending(sequence, provenance)
    }
    func failed(_ sequence: TokenSequence, _ fault: ChoiceFault) {}
    func refused(_ request: Request, _ refusal: UserError, room: Int?) throws { throw refusal }
    func passed(_ report: PassReport, in loop: BatchLoop) { reports.append(report) }
    func completed() { isComplete = true }
    func abandoned(_ live: [TokenSequence], error: (any Error)?) {}
}

struct NoStream: TextStream {
    mutating func append(_ token: Int32) -> String { "" }
    mutating func finish() -> String { "" }
}
