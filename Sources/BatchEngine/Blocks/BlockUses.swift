/// How many prompts have used each block. Equal prompts, such as those of one line's samples, count once if they
/// come one after the other.
struct BlockUses: Sendable {
    private var counts: [Int32]
    /// A hash of the prompt that used each block last.
    private var hashes: [Int]
    private var lastHash: Int?
    /// Prompts in all.
    private(set) var prompts = 0

    init(capacity: Int) {
        counts = Array(repeating: 0, count: capacity)
        hashes = Array(repeating: 0, count: capacity)
    }

    subscript(_ block: Int32) -> Int { Int(counts[Int(block)]) }

    /// The block holds something else from now on.
    mutating func clear(_ block: Int32) {
        counts[Int(block)] = 0
        hashes[Int(block)] = 0
    }

    mutating func count(_ blocks: some Sequence<Int32>, of tokens: [Int32]) {
        guard !tokens.isEmpty else { return }
        let hash = tokens.hashValue | 1
        if hash != lastHash { prompts += 1 }
        lastHash = hash
        for block in blocks where hashes[Int(block)] != hash {
            hashes[Int(block)] = hash
            counts[Int(block)] += 1
        }
    }

    /// Forgets a use of each.
    mutating func takeBack(_ blocks: [Int32]) {
        for block in blocks {
            hashes[Int(block)] = 0
            counts[Int(block)] = max(0, counts[Int(block)] - 1)
        }
    }
}
