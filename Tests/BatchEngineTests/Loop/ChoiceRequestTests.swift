import TestSupport
import Testing

@testable import BatchEngine

/// Requests that compare choices, in a loop with others.
@Suite struct ChoiceRequestTests {
    private static let ends: Set<Int32> = [0, 1000]

    /// Each choice by itself, as if nothing were shared.
    private func expected(_ prompt: [Int32], _ choice: [Int32]) -> [Float] {
        var hash = prompt.reduce(BlockEngine.emptyHash, BlockEngine.hash)
        return choice.map { token in
            defer { hash = BlockEngine.hash(hash, token) }
            return BlockEngine.logprob(of: token, after: hash)
        } + Self.ends.sorted().map { BlockEngine.logprob(of: $0, after: hash) }
    }

    private func tokens(_ count: Int, _ random: inout FixedRandom) -> [Int32] {
        (0..<count).map { _ in Int32.random(in: 1..<999, using: &random) }
    }

    /// Choices of two values in each place, so that many begin alike and some are beginnings of others.
    private func choices(_ random: inout FixedRandom, _ count: ClosedRange<Int> = 2...20) -> [[Int32]] {
        let all = (0..<Int.random(in: count, using: &random)).map { _ in
            (0..<Int.random(in: 1...9, using: &random)).map { _ in Int32.random(in: 7...8, using: &random) }
        }
        return Array(Set(all)).sorted { $0.lexicographicallyPrecedes($1) }.shuffled(using: &random)
    }

    private func check(_ answers: [Float], _ prompt: [Int32], _ choices: [[Int32]], _ tree: LabelTree) {
        guard answers.count == tree.questionCount else {
            Issue.record("\(answers.count) answers to \(tree.questionCount) questions")
            return
        }
        for (number, choice) in choices.enumerated() {
            let path = tree.path(of: number)
            #expect(path.tokens.map { answers[$0] } + answers[path.ends] == expected(prompt, choice))
        }
    }

    /// Random workloads of both kinds, most in caches that are too small for them.
    @Test func valuesDependOnNothingElse() throws {
        var random = FixedRandom(19)
        var preemptions = 0
        for round in 0..<40 {
            let shared = tokens(20, &random)
            var given: [Int: (choices: [[Int32]], tree: LabelTree)] = [:]
            let requests = (0..<25).map { number in
                let own = tokens(Int.random(in: 1...20, using: &random), &random)
                let prompt = (number % 2 == 0 ? shared : []) + own
                guard number % 5 > 0 else { return Request.test(prompt, max: 40, stream: UInt64(number)) }
                // Some trees are so large that they are gone through in parts.
                let choices = choices(&random, round % 8 == 1 && number == 7 ? 900...999 : 2...20)
                let tree = LabelTree(choices, ends: Self.ends)
                given[number] = (choices, tree)
                return Request(prompt: prompt, kind: tree)
            }
            let (source, gaveWay) = TightRun.run(requests, round: round, &random)
            preemptions += gaveWay
            for (number, (choices, tree)) in given {
                check(source.answers[number] ?? [], requests[number].prompt, choices, tree)
                #expect(source.completions[number].isEmpty)
            }
        }
        #expect(preemptions > 20)
    }

    /// What choices have in common is computed once, and so is the prompt; where one ends nothing more is.
    @Test func eachTokenOfTheTreeIsComputedOnce() throws {
        var random = FixedRandom(12)
        for (round, blockLength) in [1, 3, 64].enumerated() {
            let prompt = tokens(401, &random)
            let choices = choices(&random)
            let tree = LabelTree(choices, ends: Self.ends)
            let request = Request(prompt: prompt, kind: tree)
            let engine = BlockEngine(blockLength: blockLength)
            let source = TestSource([request], workers: 8)
            _ = source.run(Scheduler(workers: 8, prefillChunk: [512, 64, 7][round]), engine)
            check(source.answers[0] ?? [], prompt, choices, tree)
            let nodes = Set(choices.flatMap { choice in choice.indices.map { Array(choice[...$0]) } })
            #expect(engine.rows == 401 + nodes.count)
            #expect(nodes.count < choices.reduce(0) { $0 + $1.count })
        }
    }

    /// The source sees one request all the same, and the prompt is computed once, its last block too.
    @Test func manyChoicesAreComparedInParts() throws {
        var random = FixedRandom(5)
        let prompt = tokens(100, &random)
        let choices = choices(&random, 900...999)
        let tree = LabelTree(choices, ends: Self.ends)
        for isCancelled in [false, true] {
            let source = TestSource([Request(prompt: prompt, kind: tree)], workers: 3)
            let engine = BlockEngine(blockLength: 64)
            let loop = BatchLoop(engine: engine, workers: 8, prefillChunk: 64)
            loop.add(source)
            for _ in 0..<6 { _ = try loop.pass() }
            #expect(source.mostRunning == 1 && source.admitted == [0] && source.order.isEmpty)
            source.isCancelled = isCancelled
            loop.run()
            #expect(source.live.count == (isCancelled ? 1 : 0) && source.order.count == (isCancelled ? 0 : 1))
            guard !isCancelled else { continue }
            check(source.answers[0] ?? [], prompt, choices, tree)
            // Beside that the way to each part's first token.
            #expect(engine.rows <= 100 + tree.tokenCount + 2 * tree.depth)
        }
    }
}
