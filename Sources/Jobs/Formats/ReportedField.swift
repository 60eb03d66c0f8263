import JSON

/// A value to group results by: a member of a structured answer, a class, a score, a field of the line.
package struct ReportedField: Sendable {
    /// Names of the enclosing objects and its own; empty for an answer as a whole.
    package var path: [String]
    /// Whether it is kept from the line.
    package var isOfLine: Bool
    package var value: JSONValue
    /// Depth to which objects are opened.
    private static let depth = 4

    init(_ path: [String], _ value: JSONValue, isOfLine: Bool = false) {
        (self.path, self.value, self.isOfLine) = (path, value, isOfLine)
    }

    /// Returns an object's members recursively; any other value alone.
    static func parts(of value: JSONValue, at path: [String] = [], isOfLine: Bool = false) -> [Self] {
        guard case .object(let members) = value, !members.isEmpty, path.count < depth else {
            return [Self(path, value, isOfLine: isOfLine)]
        }
        return members.flatMap { parts(of: $0.value, at: path + [$0.name], isOfLine: isOfLine) }
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
