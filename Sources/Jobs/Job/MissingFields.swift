import JSON

/// Lines without fields that `keep` names. A warning tells of a line that has none of them, and of a field that no line
/// has.
package struct MissingFields: Sendable, Equatable {
    /// Lines read.
    private var lines = 0
    /// Lines with none of the fields.
    private var bare = 0
    private var firstBare: String?
    /// The number of lines that lack a field, by its name.
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
