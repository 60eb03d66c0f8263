/// Outcome of a row of a job with steps.
public enum RowOutcome: Sendable, Hashable {
    case accepted
    /// Dropped by a step.
    case dropped(by: String, Reason)

    public enum Reason: String, Sendable {
        /// The step's `accept` was false.
        case notAccepted = "not_accepted"
        /// Its text was a duplicate of an earlier row's.
        case duplicate
        /// The list had no item for this row.
        case noItem = "no_item"
        /// Enough other rows of its line were accepted.
        case notNeeded = "not_needed"
    }
}

/// Words in a count of rows: 2 dropped by judge.
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
