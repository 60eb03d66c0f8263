import BatchEngine

/// Which beginnings of prompts are worth their room on disk.
struct PrefixChoice {
    /// How many the run had.
    let prompts: Int

    /// A beginning that only few prompts of many share is no job's own, but that of some lines.
    private static let share = 64
    /// Shorter ones are computed as quickly.
    private static let shortest = 2

    /// So few prompts can't tell what they share with those of the next run.
    static func isFew(_ prompts: Int) -> Bool { prompts <= 8 }

    /// - Parameter wasSeen: whether an earlier run of few prompts had the same block at its beginning.
    /// - Returns: blocks by their indices, each after the one that it follows, those that most prompts share first.
    func chosen(_ all: [KVBlocks.Beginning], wasSeen: (Int) -> Bool) -> [Int] {
        let least = max(2, prompts / Self.share)
        /// 0 for those that are not worth it.
        var uses: [Int] = []
        for (index, one) in all.enumerated() {
            let most = one.previous.map { uses[$0] } ?? .max
            let isShared = one.uses >= least || Self.isFew(prompts) && wasSeen(index)
            uses.append(isShared ? min(most, max(least, one.uses)) : 0)
        }
        // How long the longest is that goes on from each.
        var lengths = all.map { $0.place + 1 }
        for (index, one) in all.enumerated().reversed() where uses[index] > 0 {
            if let previous = one.previous { lengths[previous] = max(lengths[previous], lengths[index]) }
        }
        return all.indices.filter { uses[$0] > 0 && lengths[$0] >= Self.shortest }.sorted {
            (uses[$1], all[$0].place, $0) < (uses[$0], all[$1].place, $1)
        }
    }
}
