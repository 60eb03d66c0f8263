/// What became of a row that has steps.
public enum RowOutcome: Sendable, Hashable {
    case accepted
    /// By a step.
    case dropped(by: String, Reason)

    public enum Reason: String, Sendable {
        /// The step didn't accept what it had made.
        case notAccepted = "not_accepted"
        /// What it had made was too much like that of an earlier row.
        case duplicate
        /// The list that it makes rows of had no item for this one.
        case noItem = "no_item"
        /// Enough rows of its line were accepted without it.
        case notNeeded = "not_needed"
    }
}

/// As a count of rows goes on: 2 dropped by judge.
extension RowOutcome: CustomStringConvertible {
    public var description: String {
        switch self {
        case .accepted: "accepted"
        case .dropped(let step, .notAccepted): "dropped by \(step)"
        case .dropped(let step, .duplicate): "dropped by \(step) as duplicates"
        case .dropped(let step, .noItem): "without an item for \(step)"
        case .dropped(let name, .notNeeded): "not needed (\(name))"
        }
    }
}

extension [RowOutcome: Int] {
    package var byName: [String: Int] {
        [String: Int](map { ($0.key.description, $0.value) }, uniquingKeysWith: +)
    }
}
