import JSON

/// A value by which results can be told apart: a member of a structured answer, a class, a score, a field of the line.
package struct ReportedField: Sendable {
    package enum Origin: String, Sendable {
        case answer
        /// The job keeps it.
        case line
    }

    /// The names of the objects that it is in, and its own; empty for an answer as a whole.
    package var path: [String]
    package var origin: Origin
    package var value: JSONValue
    /// How many objects are opened, one in the other.
    private static let depth = 4

    init(_ path: [String], _ value: JSONValue, _ origin: Origin = .answer) {
        (self.path, self.value, self.origin) = (path, value, origin)
    }

    /// An object's members, and theirs; any other value alone.
    static func parts(of value: JSONValue, at path: [String] = [], _ origin: Origin = .answer) -> [Self] {
        guard case .object(let members) = value, !members.isEmpty, path.count < depth else {
            return [Self(path, value, origin)]
        }
        return members.flatMap { parts(of: $0.value, at: path + [$0.name], origin) }
    }

    /// Those of an answer: its members if it is an object, and else all of it.
    static func parts(ofAnswer text: String) -> [Self] {
        parts(of: GeneratedResult.object(of: text).map { .object($0) } ?? .string(text))
    }

    /// As a page names it.
    package static func name(of path: [String]) -> String {
        path.isEmpty ? "text" : path.joined(separator: ".")
    }
}
