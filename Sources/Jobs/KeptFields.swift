import FoundationShim
import JSON

/// Fields of a line that are copied to its result.
public enum KeptFields: Sendable, Equatable {
    case none
    /// All but names of a result's own members.
    case all
    case fields([Field])

    public struct Field: Sendable, Equatable {
        /// In the line.
        public var name: String
        /// In the result.
        public var resultName: String

        public init(_ name: String, as resultName: String? = nil) {
            self.name = name
            self.resultName = resultName ?? name
        }
    }

    /// Members of any result.
    static let commonNames: Set = [
        "id", "sample", "usage", "tokens", "provenance", "timing", "error", "line_hash", "run",
        "sum",
    ]

    /// Members of a task's results.
    static func resultNames(of task: JobTask) -> Set<String> { commonNames.union(task.resultNames) }

    /// Returns an error; nil if there is none.
    /// - Parameter task: nil for any.
    func problem(for task: JobTask? = nil) -> String? {
        let names = task.map(Self.resultNames) ?? Self.commonNames
        guard case .fields(let fields) = self else { return nil }
        var seen: Set<String> = []
        for field in fields {
            let name = field.resultName.prefix(64)
            if names.contains(field.resultName) {
                return "must not use \(name), which a result has of its own; another name is given as "
                    + "NEW: \(field.name.prefix(64)) (--keep NEW=\(field.name.prefix(64)))"
            }
            if !seen.insert(field.resultName).inserted { return "must name \(name) only once" }
        }
        return nil
    }

    /// Distinct for distinct values; nil for none.
    var text: String? {
        switch self {
        case .none: nil
        case .all: "all"
        case .fields(let fields): JSONWriter.list(fields.flatMap { [$0.resultName, $0.name] })
        }
    }

    /// Returns a line's kept values, in order. A field that the line lacks is omitted.
    func values(of line: JSONValue, for task: JobTask) -> JSONObject {
        guard case .object(let members) = line else { return [:] }
        switch self {
        case .none: return [:]
        case .all:
            let names = Self.resultNames(of: task)
            return JSONObject(distinct: members.filter { !names.contains($0.name) })
        case .fields(let fields):
            return JSONObject(
                distinct: fields.compactMap { field in
                    members[field.name].map { JSONMember(name: field.resultName, value: $0) }
                })
        }
    }
}

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
