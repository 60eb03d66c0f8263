import FoundationShim

/// Stop strings of a request as one automaton over bytes, so that a completion is searched for all at once.
package struct StopSet: Sendable, Equatable {
    static let countLimit = 1024
    static let byteLimit = 1 << 16

    let automaton: TextAutomaton

    package static let none = StopSet([])

    package init(_ stops: [String]) {
        automaton = TextAutomaton(stops.filter { !$0.isEmpty }.map { Array($0.utf8) })
    }

    package var isEmpty: Bool { automaton.lengths.isEmpty }

    /// Returns the problem with a list of stop strings, in words that follow the setting's name.
    package static func problem(with stops: [String]) -> String? {
        if stops.contains(where: \.isEmpty) { return "holds an empty string, which would stop at once" }
        if stops.count > countLimit { return "holds more than \(countLimit) strings" }
        if stops.reduce(0, { $0 + $1.utf8.count }) > byteLimit { return "is longer than \(byteLimit) bytes" }
        return nil
    }
}
