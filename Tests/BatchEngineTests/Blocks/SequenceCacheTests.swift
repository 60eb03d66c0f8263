import Testing

@testable import BatchEngine

/// Sequences that have more than what they keep of each position.
@Suite struct SequenceCacheTests {
    private static let limits = ModelLimits(contextLength: 100, vocabularySize: 100, endOfSequence: [])
    private let cache = SequenceCache(ceiling: 40)

    private func blocks(slots: SequenceSlots? = nil) throws -> KVBlocks {
        var blocks = KVBlocks(Self.limits, capacity: 20, blockLength: 4, blockBytes: 1, slots: slots)
        let admission = blocks.admit(
            cache, tokens: Array(10..<16), lookahead: 0, cacheable: .max, beside: [])
        #expect(admission == .ready && cache.length == 0 && cache.room == 8)
        let isExtended = blocks.extend(cache, to: 40)
        #expect(isExtended && cache.room == 40)
        return blocks
    }

    /// Sends tokens, of which the last `wrong` are drafts that do not hold.
    private func send(
        _ blocks: inout KVBlocks, _ tokens: [Int32], start: Int? = nil, wrong: Int = 0
    ) -> RowRun {
        if let start { cache.length = start }
        var input = PassInput(cache, tokens[...])
        let request = SamplingRequest(parameters: SamplingParameters(), stream: 0)
        input.samplings = SmallArray(repeatElement(request, count: wrong + 1))
        let run = blocks.begin([input])[0]
        blocks.finish([input], [PassAnswer(choice: SampledToken(token: 0))])
        return run
    }

    @Test func rowsAreComputedAgainFromTheBlocksBeginning() throws {
        var blocks = try self.blocks(slots: SequenceSlots(count: 1, windowBlocks: 6, window: 11))
        var run = send(&blocks, Array(10..<16))
        #expect(run.start == 0 && Array(run.tokens) == Array(10..<16))
        // Goes on where the state is.
        run = send(&blocks, [20, 21, 22], wrong: 2)
        #expect(run.start == 6 && Array(run.tokens) == [20, 21, 22] && run.logitRows == 3)
        // The state is two drafts ahead.
        run = send(&blocks, [30])
        #expect(run.start == 4 && Array(run.tokens) == [14, 15, 20, 30] && run.logitRows == 1)
        run = send(&blocks, [31])
        #expect(run.start == 8 && Array(run.tokens) == [31])
        run = send(&blocks, [40, 41], start: 6)
        #expect(run.start == 4 && Array(run.tokens) == [14, 15, 40, 41])
        #expect(cache.length == 8)
    }

    /// Four states, and keys and values of six blocks of four, of which a row sees eleven.
    @Test func fromTheBeginningWhereRingsHaveLostWhatIsNeeded() throws {
        var blocks = try self.blocks(
            slots: SequenceSlots(count: 1, windowBlocks: 6, window: 11))
        _ = send(&blocks, Array(10..<16))
        _ = send(&blocks, Array(20..<30), wrong: 9)
        // After the state at 4 come those at 8, 12 and 16.
        var run = send(&blocks, [30])
        #expect(run.start == 4 && Array(run.tokens) == [14, 15, 20, 30] && run.slot == 0)
        _ = send(&blocks, Array(40..<50), wrong: 9)
        run = send(&blocks, [31])
        #expect(run.start == 8 && Array(run.tokens) == [40, 31])
        _ = send(&blocks, Array(50..<64), wrong: 13)
        run = send(&blocks, [32])
        #expect(run.start == 0 && Array(run.tokens) == Array(10..<16) + [20, 30, 40, 31, 50, 32])
        // The last rows begin anew.
        run = send(&blocks, [33, 34], wrong: 1)
        #expect(run.start == 12)
        #expect(send(&blocks, [35]).start == 12)
        // Here it is the keys that are lost.
        let short = SequenceSlots(count: 1, windowBlocks: 3, window: 5)
        #expect(short.holds(beginningOf: 2, reach: 16, blockLength: 4))
        #expect(!short.holds(beginningOf: 2, reach: 17, blockLength: 4))
    }

    @Test func slotsAreOfOneSequenceEach() throws {
        var blocks = try self.blocks(slots: SequenceSlots(count: 1, windowBlocks: 6, window: 11))
        _ = send(&blocks, Array(10..<20))
        let other = SequenceCache(ceiling: 40)
        func admit() -> Admission {
            blocks.admit(
                other, tokens: Array(10..<20), lookahead: 0, cacheable: .max, beside: [cache])
        }
        #expect(admit() == .wait(.room))
        blocks.release(cache, keeping: Array(10..<20))
        #expect(admit() == .ready && other.length == 0 && other.room == 12, "nothing is shared")
        #expect(blocks.begin([PassInput(other, [10])])[0].slot == 0)
    }

    @Test func longRunsAreCut() {
        let run = RowRun(
            tokens: Array(0..<10)[...], start: 7, blocks: [3], longRope: false, logitRows: 5, slot: 2)
        let parts = run.parts(of: 4)
        #expect(parts.map { Array($0.tokens) } == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])
        #expect(parts.map(\.start) == [7, 11, 15] && parts.map(\.logitRows) == [0, 3, 2])
        #expect(parts.allSatisfy { $0.slot == 2 && $0.blocks == [3] })
        #expect(parts.map { $0.withLogits?.start } == [nil, 12, 15])
    }

    @Test func withoutStateNothingIsComputedAgain() throws {
        var blocks = try self.blocks()
        _ = send(&blocks, Array(10..<16))
        _ = send(&blocks, [20, 21, 22], wrong: 2)
        let run = send(&blocks, [30], start: 6)
        #expect(run.start == 6 && Array(run.tokens) == [30])
    }
}
