import TestSupport
import Testing

@testable import BatchEngine

@Suite struct KVBlocksTests {
    private func tokens(_ count: Int, from start: Int32 = 0) -> [Int32] {
        (0..<Int32(count)).map { $0 + start }
    }

    private func leased(_ outcome: KVBlocks.Outcome) throws -> KVBlocks.Lease {
        guard case .leased(let lease) = outcome else { throw UserError(.resources, "waits") }
        return lease
    }

    private func waits(_ outcome: KVBlocks.Outcome) -> Admission.Shortage? {
        if case .wait(let shortage) = outcome { shortage } else { nil }
    }

    @Test func aFinishedBeginningIsShared() throws {
        var blocks = KVBlocks(capacity: 8, blockLength: 4)
        var first = try leased(blocks.lease(tokens(10)))
        #expect(first.cached == 0 && first.blocks.count == 3)
        #expect(waits(blocks.lease(tokens(10))) == .prefix, "it is being computed")
        blocks.advance(&first, to: 7)
        #expect(waits(blocks.lease(tokens(10))) == .prefix)
        blocks.advance(&first, to: 8)
        let second = try leased(blocks.lease(tokens(10)))
        #expect(second.cached == 8 && second.blocks.prefix(2) == first.blocks.prefix(2))
        #expect(second.blocks[2] != first.blocks[2])
        #expect(try leased(blocks.lease(tokens(8))).cached == 4, "a row must be left to compute")
        #expect(try leased(blocks.lease(tokens(10), branch: 1)).cached == 0)
    }

    @Test func roomIsTakenAsItIsNeeded() throws {
        var blocks = KVBlocks(capacity: 4, blockLength: 4)
        var first = try leased(blocks.lease(tokens(4)))
        #expect(blocks.available == 3)
        let second = try leased(blocks.lease(tokens(8, from: 100)))
        #expect(waits(blocks.lease(tokens(1, from: 200), sparing: 1)) == .room)
        #expect(blocks.extend(&first, to: 8) && first.blocks.count == 2)
        let before = first.blocks
        #expect(!blocks.extend(&first, to: 9) && first.blocks == before)
        blocks.release(second)
        #expect(blocks.extend(&first, to: 16) && blocks.available == 0)
        blocks.release(first)
        #expect(blocks.available == 4)
    }

    @Test func whatGaveWayIsFoundAgain() throws {
        var blocks = KVBlocks(capacity: 6, blockLength: 4)
        let all = tokens(20)
        var lease = try leased(blocks.lease(Array(all[..<5])))
        #expect(blocks.extend(&lease, to: 19))
        blocks.advance(&lease, to: 18)
        blocks.release(lease, keeping: all[..<18])
        #expect(blocks.available == 6)
        #expect(try leased(blocks.lease(all)).cached == 16)

        // Somebody takes two blocks: the end goes first, the beginning is still of use.
        blocks = KVBlocks(capacity: 6, blockLength: 4)
        lease = try leased(blocks.lease(Array(all[..<5])))
        #expect(blocks.extend(&lease, to: 19))
        blocks.advance(&lease, to: 18)
        blocks.release(lease, keeping: all[..<18])
        let other = try leased(blocks.lease(tokens(16, from: 100)))
        #expect(blocks.available == 2)
        blocks.release(other)
        #expect(try leased(blocks.lease(all)).cached == 8)
    }

    @Test func aBeginningThatIsNeverFinishedIsForgotten() throws {
        var blocks = KVBlocks(capacity: 8, blockLength: 4)
        var first = try leased(blocks.lease(tokens(10)))
        blocks.advance(&first, to: 4)
        blocks.release(first, keeping: tokens(10)[..<5])
        let second = try leased(blocks.lease(tokens(10)))
        #expect(second.cached == 4)
    }

    /// Random lives of sequences, many with the same beginnings: no block is lost or given to two that write to
    /// it, and what is said to be cached was written by somebody with these very tokens.
    @Test func noBlockIsLostOrOwnedTwice() throws {
        var random = FixedRandom(11)
        for _ in 0..<60 {
            let capacity = Int.random(in: 4...20, using: &random)
            let length = Int.random(in: 1...5, using: &random)
            var blocks = KVBlocks(capacity: capacity, blockLength: length)
            var live: [(lease: KVBlocks.Lease, tokens: [Int32], written: Int)] = []
            /// For each block and place in it all tokens up to there.
            var memory: [Int32: [[Int32]]] = [:]
            for _ in 0..<300 {
                switch Int.random(in: 0..<5, using: &random) {
                case 0:
                    let count = Int.random(in: 1...12, using: &random)
                    let prompt = (0..<count).map { _ in Int32.random(in: 0..<2, using: &random) }
                    guard case .leased(let lease) = blocks.lease(prompt) else { break }
                    for place in 0..<lease.cached {
                        let block = lease.blocks[place / length]
                        #expect(memory[block]?[place % length] == Array(prompt[...place]))
                    }
                    #expect(lease.cached < count)
                    live.append((lease, prompt, lease.cached))
                case 1:
                    guard let place = live.indices.randomElement(using: &random) else { break }
                    // Writes some rows; after the prompt one at a time.
                    if live[place].written == live[place].tokens.count {
                        let count = live[place].tokens.count + 1
                        guard blocks.extend(&live[place].lease, to: count) else { break }
                        live[place].tokens.append(Int32.random(in: 0..<2, using: &random))
                    }
                    let end = Int.random(
                        in: live[place].written + 1...live[place].tokens.count, using: &random)
                    for row in live[place].written..<end {
                        let block = live[place].lease.blocks[row / length]
                        let others = live.indices.filter {
                            $0 != place && live[$0].lease.blocks.contains(block)
                        }
                        #expect(others.isEmpty, "written while others read")
                        var rows = memory[block] ?? Array(repeating: [], count: length)
                        rows[row % length] = Array(live[place].tokens[...row])
                        memory[block] = rows
                    }
                    live[place].written = end
                    blocks.advance(&live[place].lease, to: end)
                default:
                    guard live.count > 3, let place = live.indices.randomElement(using: &random) else {
                        break
                    }
                    let gone = live.remove(at: place)
                    if Bool.random(using: &random) {
                        blocks.release(gone.lease)
                    } else {
                        blocks.release(gone.lease, keeping: gone.tokens[..<gone.written])
                    }
                }
                let used = Set(live.flatMap(\.lease.blocks))
                #expect(blocks.available + used.count == capacity)
            }
            for sequence in live { blocks.release(sequence.lease) }
            #expect(blocks.available == capacity)
        }
    }
}
