/// Beginnings of prompts that outlive the sequences: what an engine keeps for another run, or brings from one.
extension KVBlocks {
    /// A full block that is ready, at the beginning of a prompt.
    package struct Beginning: Sendable {
        package let block: Int32
        /// As in `lease`.
        package let branch: Int
        /// From the first block of the prompt, which is 0.
        package let place: Int
        /// The block before it, as an index into the list; nil for the first.
        package let previous: Int?
        /// Its own.
        package let tokens: ArraySlice<Int32>
        /// How many prompts have used it.
        package let uses: Int
    }

    /// Prompts that were leased so far.
    package var promptCount: Int { uses.prompts }

    /// Blocks that can be had without pushing out what may be wanted again.
    package var unusedCount: Int { free.count }

    /// All beginnings, each block after the one that it follows.
    package func beginnings() -> [Beginning] {
        var next: [Int: [(key: Key, entry: Entry)]] = [:]
        for (key, entry) in index where entry.isReady { next[key.parent, default: []].append((key, entry)) }
        // In the order in which they came, whatever the order of the index.
        for parent in next.keys { next[parent]?.sort { $0.entry.serial < $1.entry.serial } }
        var all: [Beginning] = []
        // Blocks whose successors are still to be looked for; the first branch is the last of them.
        var open = next.keys.filter { $0 <= 0 }.sorted().map { (serial: $0, index: -1, branch: -$0) }
        while let (serial, index, branch) = open.popLast() {
            for (key, entry) in next[serial] ?? [] {
                let previous = index < 0 ? nil : index
                open.append((entry.serial, all.count, branch))
                all.append(
                    Beginning(
                        block: entry.block, branch: branch, place: previous.map { all[$0].place + 1 } ?? 0,
                        previous: previous, tokens: key.tokens, uses: uses[entry.block]))
            }
        }
        return all
    }

    /// The full blocks at the beginning of a prompt that nobody has computed, nor is computing.
    /// - Parameters: as of `lease`.
    /// - Returns: their places; nil if there are none.
    package func unknownBeginning(of tokens: [Int32], branch: Int, cacheable: Int) -> Range<Int>? {
        let full = fullBlocks(of: tokens, cacheable: cacheable)
        var parent = -branch
        for place in 0..<full {
            guard let entry = index[key(tokens, place, parent: parent)] else { return place..<full }
            if !entry.isReady { return nil }
            parent = entry.serial
        }
        return nil
    }

    /// Makes unused blocks, whose content is ready, findable.
    /// - Parameters:
    ///   - tokens: of a prompt.
    ///   - places: the first of those that `unknownBeginning` has named: no more than there are unused blocks.
    /// - Precondition: the content is in `nextFree(places.count)`, that of the first place in the last of them.
    package mutating func insert(_ tokens: [Int32], places: Range<Int>, branch: Int) {
        var parent = -branch
        var inserted: [Int32] = []
        for place in 0..<places.upperBound {
            let key = key(tokens, place, parent: parent)
            if let entry = index[key] {
                precondition(place < places.lowerBound && entry.isReady)
                parent = entry.serial
            } else {
                precondition(place >= places.lowerBound && !free.isEmpty)
                let block = free.removeLast()
                parent = note(key, block, isReady: true)
                inserted.append(block)
            }
        }
        // The end first, as in `release`.
        for block in inserted.reversed() { idle.append(block) }
    }
}
