import JSON

/// Lines that lack fields which `keep` names: one that has none of them, or a field that no line has, is hardly meant.
/// That a line lacks some of several is not told.
package struct MissingFields: Sendable, Equatable {
    /// Lines that were looked at.
    private var lines = 0
    /// Those that have none of the fields.
    private var bare = 0
    private var firstBare: String?
    /// How many lines lack a field, by its name.
    private var lacking: [String: Int] = [:]

    /// - Parameter place: the line's file and number.
    mutating func note(_ line: JSONValue, at place: @autoclosure () -> String, _ keep: KeptFields) {
        guard case .fields(let fields) = keep, !fields.isEmpty else { return }
        lines += 1
        let missing = fields.filter { line[$0.name] == nil }
        for field in missing { lacking[field.name, default: 0] += 1 }
        guard missing.count == fields.count else { return }
        bare += 1
        if firstBare == nil { firstBare = place() }
    }

    package func warnings(_ keep: KeptFields) -> [String] {
        guard case .fields(let fields) = keep, lines > 0 else { return [] }
        let nowhere = fields.map(\.name).filter { lacking[$0] == lines }
        if !nowhere.isEmpty {
            let names = nowhere.map { "\($0.prefix(64))" }.joined(separator: ", ")
            return ["keep: no line has \(names), so results don't either."]
        }
        guard bare > 0, let firstBare else { return [] }
        let names = fields.map { "\($0.name.prefix(64))" }.joined(separator: ", ")
        return [
            "\(firstBare): keep: nothing is kept of this line, as it lacks \(names)"
                + (bare > 1 ? "; so it is with \(bare) of \(lines) lines." : ".")
        ]
    }
}
