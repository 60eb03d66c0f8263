import BatchEngine

/// Lines of which a completion failed under way: each sample may, or may not, and the line counts once.
struct FaultyLines {
    private var indexes: Set<Int> = []
    private static let pruneCount = 1024

    /// - Parameter open: the lines of which samples are under way; nil near the end of the input, where those of earlier
    ///   lines may be still to come.
    /// - Returns: whether this line's first failure is this one.
    mutating func insert(_ label: WorkLabel, open: (some Sequence<Int>)?) -> Bool {
        if indexes.count >= Self.pruneCount, let open {
            // A line's samples begin one after the other: of those before all that are open, none is to come.
            let lowest = open.min() ?? label.index
            indexes = indexes.filter { $0 >= lowest }
        }
        return indexes.insert(label.index).inserted
    }
}

extension LineError {
    /// - Parameter count: tokens of the completion before.
    init(_ fault: ChoiceFault, after count: Int) {
        switch fault {
        case .notFinite:
            self.init(
                .notFinite,
                "The model's logits are not finite after \(count) tokens of the completion: its weights are damaged, "
                    + "or drive this prompt out of range.")
        case .nothingAllowed:
            self.init(
                .nothingAllowed,
                "The constraint allows no token after \(count) tokens of the completion.")
        }
    }
}
