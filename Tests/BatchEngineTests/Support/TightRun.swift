import TestSupport
import Testing

@testable import BatchEngine

/// A loop with random settings, most often with a cache that is too small for all that run.
enum TightRun {
    /// - Returns: what came of the requests, and how many gave way.
    static func run(
        _ requests: [Request], round: Int, _ random: inout FixedRandom
    ) -> (source: TestSource, preemptions: Int) {
        let engine = BlockEngine(tightFor: requests, &random)
        let source = TestSource(requests, workers: Int.random(in: 1...12, using: &random))
        source.speculation = [.off, .tokens(Int.random(in: 1...8, using: &random))][round % 2]
        let scheduler = Scheduler(
            workers: 12, prefillChunk: Int.random(in: 1...50, using: &random),
            lookahead: [0, 1, 10, 64][round % 4])
        let preemptions = source.run(scheduler, engine)
        #expect(source.results.count == requests.count)
        return (source, preemptions)
    }
}

extension BlockEngine {
    /// Most often with a cache that is too small for all of the requests.
    convenience init(tightFor requests: [Request], _ random: inout FixedRandom) {
        let blockLength = Int.random(in: 1...6, using: &random)
        let longest = requests.map(\.ceiling).max() ?? 0
        self.init(
            blocks: (longest + blockLength - 1) / blockLength + Int.random(in: 0...30, using: &random),
            blockLength: blockLength)
    }
}

extension TestSource {
    /// Runs its requests to their end, and checks that every block is given back.
    /// - Returns: the number of preemptions.
    func run(_ scheduler: Scheduler, _ engine: BlockEngine) -> Int {
        let loop = BatchLoop(scheduler: scheduler) { engine }
        loop.add(self)
        loop.run()
        #expect(engine.faults.isEmpty, "\(engine.faults.prefix(3))")
        #expect(engine.isEmpty && isComplete && isTold)
        return loop.preemptions
    }
}
