import Testing

@testable import BatchEngine

/// Sequences that have more than what they keep of each position.
@Suite struct SequenceTableTests {
    private static let limits = ModelLimits(contextLength: 100, vocabularySize: 100, endOfSequence: [])
    private let id = RequestID(1)

    private func table(hasState: Bool) throws -> SequenceTable {
        var table = SequenceTable(
            Self.limits, capacity: 20, blockLength: 4, blockBytes: 1, hasState: hasState)
        let admission = table.admit(
            id, tokens: Array(10..<16), ceiling: 40, lookahead: 0, cacheable: .max, rope: .byLength)
        #expect(admission == .ready(cached: 0, room: 8))
        #expect(table.extend(id, to: 40) == 40)
        return table
    }

    /// Sends tokens, of which the last `wrong` are guesses that do not hold.
    private func send(
        _ table: inout SequenceTable, _ tokens: [Int32], start: Int? = nil, wrong: Int = 0
    ) -> RowRun {
        var input = StepInput(sequence: id, tokens: tokens[...], start: start)
        let request = SamplingRequest(parameters: SamplingParameters(), stream: 0)
        input.samplings = Array(repeating: request, count: wrong + 1)
        let run = table.begin(input)
        table.finish(input, StepAnswer(choice: TokenChoice(token: 0)))
        return run
    }

    @Test func rowsAreComputedAgainFromTheBlocksBeginning() throws {
        var table = try table(hasState: true)
        var run = send(&table, Array(10..<16))
        #expect(run.start == 0 && Array(run.tokens) == Array(10..<16))
        // Goes on where the state is.
        run = send(&table, [20, 21, 22], wrong: 2)
        #expect(run.start == 6 && Array(run.tokens) == [20, 21, 22] && run.logitRows == 3)
        // The state is two guesses ahead.
        run = send(&table, [30])
        #expect(run.start == 4 && Array(run.tokens) == [14, 15, 20, 30] && run.logitRows == 1)
        run = send(&table, [31])
        #expect(run.start == 8 && Array(run.tokens) == [31])
        run = send(&table, [40, 41], start: 6)
        #expect(run.start == 4 && Array(run.tokens) == [14, 15, 40, 41])
        #expect(table[id]?.length == 8)
    }

    @Test func withoutStateNothingIsComputedAgain() throws {
        var table = try table(hasState: false)
        _ = send(&table, Array(10..<16))
        _ = send(&table, [20, 21, 22], wrong: 2)
        let run = send(&table, [30], start: 6)
        #expect(run.start == 6 && Array(run.tokens) == [30])
    }

    /// A full block's state is there with its positions.
    @Test func sharedBlocksHaveTheirState() throws {
        var table = try table(hasState: true)
        _ = send(&table, Array(10..<16))
        let other = RequestID(2)
        let admission = table.admit(
            other, tokens: [10, 11, 12, 13, 50, 51], ceiling: 40, lookahead: 0, cacheable: .max,
            rope: .byLength)
        #expect(admission == .ready(cached: 4, room: 8))
        let run = table.begin(StepInput(sequence: other, tokens: [50, 51]))
        #expect(
            run.start == 4 && Array(run.tokens) == [50, 51] && run.blocks[0] == table[id]?.lease.blocks[0])
    }
}
