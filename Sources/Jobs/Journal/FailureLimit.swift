/// How many lines may fail in a job that still counts as complete.
public enum FailureLimit: Sendable, Equatable {
    case count(Int)
    case percent(Double)

    package func allowed(of total: Int) -> Int {
        switch self {
        case .count(let count): return count
        case .percent(let percent): return Int((Double(total) * percent / 100).rounded(.down))
        }
    }
}
