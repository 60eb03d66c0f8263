/// Merges of a BPE model: pairs of tokens that become one, with their ranks.
struct MergeTable: Sendable {
    /// No pair has this rank.
    static let noRank = UInt32.max

    struct Slot: BitwiseCopyable, Sendable {
        var left: Int32 = -1
        var right: Int32 = -1
        /// Lower ranks first.
        var rank = MergeTable.noRank
        var merged: Int32 = -1
    }

    private let slots: FrozenArray<Slot>
    private let mask: Int
    private let seed = ByteHash.seed

    /// - Parameter merges: in order of rank; of equal pairs the last counts.
    init(_ merges: [(left: Int32, right: Int32, merged: Int32)]) {
        var size = 16
        while size < 2 * merges.count { size *= 2 }
        var table = [Slot](repeating: Slot(), count: size)
        let mask = size - 1
        for (rank, merge) in merges.enumerated() {
            var i = Self.hash(merge.left, merge.right, ByteHash.seed) & mask
            while table[i].left >= 0, table[i].left != merge.left || table[i].right != merge.right {
                i = (i + 1) & mask
            }
            table[i] = Slot(
                left: merge.left, right: merge.right, rank: UInt32(rank), merged: merge.merged)
        }
        slots = FrozenArray(table)
        self.mask = mask
    }

    @inline(__always)
    private static func hash(_ left: Int32, _ right: Int32, _ seed: UInt64) -> Int {
        let key = UInt64(UInt32(bitPattern: left)) << 32 | UInt64(UInt32(bitPattern: right))
        return Int(truncatingIfNeeded: ByteHash.hash(key, seed: seed))
    }

    @inline(__always)
    func find(_ left: Int32, _ right: Int32) -> (rank: UInt32, merged: Int32) {
        let slots = slots.base
        var i = Self.hash(left, right, seed) & mask
        while true {
            let slot = slots[i]
            // An empty slot has no rank, so it also serves absent pairs.
            if slot.left < 0 || slot.left == left && slot.right == right {
                return (slot.rank, slot.merged)
            }
            i = (i + 1) & mask
        }
    }
}
