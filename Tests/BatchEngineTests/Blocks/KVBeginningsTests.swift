import Testing

@testable import BatchEngine

/// Beginnings of prompts that outlive their sequences.
@Suite struct KVBeginningsTests {
    private func tokens(_ count: Int, own: Int32 = 0) -> [Int32] {
        (0..<Int32(count)).map { $0 < 8 ? $0 : $0 + 100 * own }
    }

    /// Runs a prompt to its end.
    private func run(_ prompt: [Int32], branch: Int = 0, cacheable: Int = .max, in blocks: inout KVBlocks)
        throws -> Int
    {
        guard case .leased(var lease) = blocks.lease(prompt, branch: branch, cacheable: cacheable) else {
            throw Refusal(.tooLarge, "waits")
        }
        blocks.advance(&lease, to: prompt.count)
        blocks.release(lease)
        return lease.cached
    }

    @Test func promptsThatShareABlockAreCounted() throws {
        var blocks = KVBlocks(capacity: 40, blockLength: 4)
        for own in [1, 2, 3] as [Int32] { _ = try run(tokens(13, own: own), in: &blocks) }
        // The samples of a line, and what is scored after one.
        for _ in 0..<3 { _ = try run(tokens(13, own: 4), in: &blocks) }
        _ = try run(tokens(13, own: 1), branch: 1, cacheable: 9, in: &blocks)
        #expect(blocks.promptCount == 5)
        let all = blocks.beginnings()
        #expect(all.map(\.uses) == [4, 4, 1, 1, 1, 1, 1, 1])
        #expect(all.map(\.place) == [0, 1, 2, 2, 2, 2, 0, 1])
        #expect(all.map(\.previous) == [nil, 0, 1, 1, 1, 1, nil, 6])
        #expect(all.map(\.branch) == [0, 0, 0, 0, 0, 0, 1, 1])
        #expect(Array(all[1].tokens) == [4, 5, 6, 7] && Set(all.map(\.block)).count == 8)
    }

    @Test func whoGaveWayCountsOnce() throws {
        var blocks = KVBlocks(capacity: 40, blockLength: 4)
        for _ in 0..<2 {
            guard case .leased(var lease) = blocks.lease(tokens(13)) else { continue }
            blocks.advance(&lease, to: 13)
            blocks.release(lease, keeping: tokens(13)[...])
        }
        _ = try run(tokens(13), in: &blocks)
        #expect(blocks.beginnings().map(\.uses) == [1, 1, 1])
    }

    @Test func whatIsNotReadyIsNoBeginning() throws {
        var blocks = KVBlocks(capacity: 40, blockLength: 4)
        guard case .leased(var lease) = blocks.lease(tokens(13)) else { return }
        blocks.advance(&lease, to: 9)
        #expect(blocks.beginnings().count == 2)
        // Somebody is computing the third.
        #expect(blocks.unknownBeginning(of: tokens(13), branch: 0, cacheable: .max) == nil)
        #expect(blocks.unknownBeginning(of: tokens(20, own: 1), branch: 0, cacheable: .max) == 2..<4)
        #expect(blocks.unknownBeginning(of: tokens(20, own: 1), branch: 0, cacheable: 13) == 2..<3)
        #expect(blocks.unknownBeginning(of: tokens(8), branch: 0, cacheable: .max) == nil)
        #expect(blocks.unknownBeginning(of: tokens(8), branch: 1, cacheable: .max) == 0..<1)
        // What follows a block that is gone can't be reached.
        blocks.release(lease)
        guard case .leased(let others) = blocks.lease((0..<156).map { $0 + 1000 }) else { return }
        #expect(blocks.beginnings().map(\.place) == [0])
        blocks.release(others)
    }

    @Test func blocksFromElsewhereAreFound() throws {
        var blocks = KVBlocks(capacity: 6, blockLength: 4)
        #expect(blocks.unusedCount == 6)
        let next = Array(blocks.nextFree(2).reversed())
        blocks.insert(tokens(14), places: 0..<2, branch: 0)
        #expect(blocks.unusedCount == 4 && blocks.available == 6)
        #expect(blocks.beginnings().map(\.block) == next && blocks.beginnings().map(\.uses) == [0, 0])
        #expect(blocks.unknownBeginning(of: tokens(14), branch: 0, cacheable: .max) == 2..<3)
        blocks.insert(tokens(14), places: 2..<3, branch: 0)
        guard case .leased(let lease) = blocks.lease(tokens(14)) else { return }
        #expect(lease.cached == 12 && lease.blocks.prefix(2) == next[...])
        #expect(blocks.beginnings().map(\.uses) == [1, 1, 1])
        blocks.release(lease)
        #expect(try run(tokens(14, own: 1), in: &blocks) == 8)
        #expect(try run(tokens(14), branch: 1, in: &blocks) == 0)
    }
}
