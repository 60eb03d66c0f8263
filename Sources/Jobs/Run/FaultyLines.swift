import BatchEngine

/// Lines of which a completion failed under way: each sample may, or may not, and the line counts once.
struct FaultyLines {
    private var indexes: Set<Int> = []
    private static let pruneCount = 1024

    /// - Parameter lowest: the first line of which samples are under way, or wait; nil if there is none.
    /// - Returns: whether this line's first failure is this one.
    mutating func insert(_ label: WorkLabel, lowest: @autoclosure () -> Int?) -> Bool {
        if indexes.count >= Self.pruneCount {
            // A line's samples come one after the other: of those before, none is to come.
            let lowest = min(lowest() ?? label.index, label.index)
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
