import JSON

/// A value to group results by: a member of a structured answer, a class, a score, a field of the line.
package struct ReportedField: Sendable {
    package enum Origin: String, Sendable {
        case answer
        /// A field kept from the line.
        case line
    }

    /// Names of the enclosing objects and its own; empty for an answer as a whole.
    package var path: [String]
    package var origin: Origin
    package var value: JSONValue
    /// Depth to which objects are opened.
    private static let depth = 4

    init(_ path: [String], _ value: JSONValue, _ origin: Origin = .answer) {
        (self.path, self.value, self.origin) = (path, value, origin)
    }

    /// Returns an object's members recursively; any other value alone.
    static func parts(of value: JSONValue, at path: [String] = [], _ origin: Origin = .answer) -> [Self] {
        guard case .object(let members) = value, !members.isEmpty, path.count < depth else {
            return [Self(path, value, origin)]
        }
        return members.flatMap { parts(of: $0.value, at: path + [$0.name], origin) }
    }

    /// Returns the members of an answer that is an object, or else the answer itself.
    static func parts(ofAnswer text: String) -> [Self] {
        parts(of: GeneratedResult.object(of: text).map { .object($0) } ?? .string(text))
    }

    /// Name on a page.
    package static func name(of path: [String]) -> String {
        path.isEmpty ? "text" : path.joined(separator: ".")
    }
}
