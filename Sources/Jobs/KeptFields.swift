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
