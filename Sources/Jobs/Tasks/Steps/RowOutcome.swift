/// What became of a row that has steps.
public enum RowOutcome: Sendable, Hashable {
    case accepted
    /// The step didn't accept what it had made, or it was too much like that of an earlier row.
    case dropped(by: String, isDuplicate: Bool)
}

/// As a count of rows goes on: 2 dropped by judge.
extension RowOutcome: CustomStringConvertible {
    public var description: String {
        switch self {
        case .accepted: "accepted"
        case .dropped(let step, let isDuplicate): "dropped by \(step)" + (isDuplicate ? " as duplicates" : "")
        }
    }
}

extension [RowOutcome: Int] {
    package var byName: [String: Int] {
        [String: Int](map { ($0.key.description, $0.value) }, uniquingKeysWith: +)
    }
}
