import TestSupport
import Testing

@testable import BatchEngine

@Suite struct KVBlocksTests {
    private func tokens(_ count: Int, from start: Int32 = 0) -> [Int32] {
        (0..<Int32(count)).map { $0 + start }
    }

    private func blocks(capacity: Int, blockLength: Int = 4) -> KVBlocks {
        let limits = ModelLimits(contextLength: 100, vocabularySize: 1000, endOfSequence: [])
        return KVBlocks(limits, capacity: capacity, blockLength: blockLength, blockBytes: 1)
    }

    /// A sequence that has blocks.
    private func leased(
        _ blocks: inout KVBlocks, _ tokens: [Int32], longRope: Bool = false
    ) throws -> SequenceCache {
        let cache = SequenceCache(ceiling: 100)
        cache.longRope = longRope
        try #require(blocks.lease(cache, tokens) == .ready)
        return cache
    }

    private func waits(_ blocks: inout KVBlocks, _ tokens: [Int32], sparing: Int = 0) -> Admission {
        blocks.lease(SequenceCache(ceiling: 100), tokens, sparing: sparing)
    }

    private func extend(_ blocks: inout KVBlocks, _ cache: SequenceCache, to count: Int) -> Bool {
        blocks.extend(cache, to: count)
    }

    @Test func aFinishedBeginningIsShared() throws {
        var blocks = self.blocks(capacity: 8)
        let first = try leased(&blocks, tokens(10))
        #expect(first.length == 0 && first.blocks.count == 3)
        #expect(waits(&blocks, tokens(10)) == .wait(.prefix), "it is being computed")
        blocks.advance(first, to: 7)
        #expect(waits(&blocks, tokens(10)) == .wait(.prefix))
        blocks.advance(first, to: 8)
        let second = try leased(&blocks, tokens(10))
        #expect(second.length == 8 && second.blocks.prefix(2) == first.blocks.prefix(2))
        #expect(second.blocks[2] != first.blocks[2])
        #expect(try leased(&blocks, tokens(8)).length == 4, "a row must be left to compute")
        #expect(try leased(&blocks, tokens(10), longRope: true).length == 0)
    }

    @Test func roomIsTakenAsItIsNeeded() throws {
        var blocks = self.blocks(capacity: 4)
        let first = try leased(&blocks, tokens(4))
        #expect(blocks.available == 3)
        let second = try leased(&blocks, tokens(8, from: 100))
        #expect(waits(&blocks, tokens(1, from: 200), sparing: 1) == .wait(.room))
        #expect(extend(&blocks, first, to: 8) && first.blocks.count == 2)
        let before = first.blocks
        #expect(!extend(&blocks, first, to: 9) && first.blocks == before)
        blocks.release(second)
        #expect(extend(&blocks, first, to: 16) && blocks.available == 0)
        blocks.release(first)
        #expect(blocks.available == 4)
    }

    @Test func whatGaveWayIsFoundAgain() throws {
        var blocks = self.blocks(capacity: 6)
        let all = tokens(20)
        var lease = try leased(&blocks, Array(all[..<5]))
        #expect(extend(&blocks, lease, to: 19))
        blocks.advance(lease, to: 18)
        blocks.release(lease, keeping: Array(all[..<18]))
        #expect(blocks.available == 6)
        #expect(try leased(&blocks, all).length == 16)

        // Somebody takes two blocks: the end goes first, the beginning is still of use.
        blocks = self.blocks(capacity: 6)
        lease = try leased(&blocks, Array(all[..<5]))
        #expect(extend(&blocks, lease, to: 19))
        blocks.advance(lease, to: 18)
        blocks.release(lease, keeping: Array(all[..<18]))
        let other = try leased(&blocks, tokens(16, from: 100))
        #expect(blocks.available == 2)
        blocks.release(other)
        #expect(try leased(&blocks, all).length == 8)
    }

    @Test func aBeginningThatIsNeverFinishedIsForgotten() throws {
        var blocks = self.blocks(capacity: 8)
        let first = try leased(&blocks, tokens(10))
        blocks.advance(first, to: 4)
        blocks.release(first, keeping: tokens(5))
        let second = try leased(&blocks, tokens(10))
        #expect(second.length == 4)
    }

    /// Random lives of sequences, many with the same beginnings: no block is lost or given to two that write to
    /// it, and what is said to be cached was written by somebody with these very tokens.
    @Test func noBlockIsLostOrOwnedTwice() throws {
        var random = FixedRandom(11)
        for _ in 0..<60 {
            let capacity = Int.random(in: 4...20, using: &random)
            let length = Int.random(in: 1...5, using: &random)
            var blocks = self.blocks(capacity: capacity, blockLength: length)
            var live: [(cache: SequenceCache, tokens: [Int32], written: Int)] = []
            /// For each block and place in it all tokens up to there.
            var memory: [Int32: [[Int32]]] = [:]
            for _ in 0..<300 {
                switch Int.random(in: 0..<5, using: &random) {
                case 0:
                    let count = Int.random(in: 1...12, using: &random)
                    let prompt = (0..<count).map { _ in Int32.random(in: 0..<2, using: &random) }
                    let cache = SequenceCache(ceiling: 100)
                    guard blocks.lease(cache, prompt) == .ready else { break }
                    for place in 0..<cache.length {
                        let block = cache.blocks[place / length]
                        #expect(memory[block]?[place % length] == Array(prompt[...place]))
                    }
                    #expect(cache.length < count)
                    live.append((cache, prompt, cache.length))
                case 1:
                    guard let place = live.indices.randomElement(using: &random) else { break }
                    // Writes some rows; after the prompt one at a time.
                    if live[place].written == live[place].tokens.count {
                        let count = live[place].tokens.count + 1
                        guard blocks.extend(live[place].cache, to: count) else { break }
                        live[place].tokens.append(Int32.random(in: 0..<2, using: &random))
                    }
                    let end = Int.random(
                        in: live[place].written + 1...live[place].tokens.count, using: &random)
                    for row in live[place].written..<end {
                        let block = live[place].cache.blocks[row / length]
                        let others = live.indices.filter {
                            $0 != place && live[$0].cache.blocks.contains(block)
                        }
                        #expect(others.isEmpty, "written while others read")
                        var rows = memory[block] ?? Array(repeating: [], count: length)
                        rows[row % length] = Array(live[place].tokens[...row])
                        memory[block] = rows
                    }
                    live[place].written = end
                    blocks.advance(live[place].cache, to: end)
                default:
                    guard live.count > 3, let place = live.indices.randomElement(using: &random) else {
                        break
                    }
                    let gone = live.remove(at: place)
                    let isBack = Bool.random(using: &random)
                    blocks.release(gone.cache, keeping: isBack ? Array(gone.tokens[..<gone.written]) : [])
                }
                let used = Set(live.flatMap(\.cache.blocks))
                #expect(blocks.available + used.count == capacity)
            }
            for sequence in live { blocks.release(sequence.cache) }
            #expect(blocks.available == capacity)
        }
    }
}
