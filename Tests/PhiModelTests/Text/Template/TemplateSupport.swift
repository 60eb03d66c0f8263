import Foundation
import JSON
import Testing

@testable import PhiModel
@testable import PhiText

extension JSONValue {
    /// The value that a file of the tests holds.
    static func parse(_ data: Data) throws -> JSONValue {
        try JSONValue(parsing: [UInt8](data), limits: .file)
    }

    var text: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    var items: [JSONValue] {
        if case .array(let items) = self { return items }
        return []
    }
}

/// Strings are compared by bytes: Swift's `==` would take canonically equivalent ones as equal.
func expectSame(_ found: String, _ wanted: String, _ what: String) {
    #expect(
        Array(found.utf8) == Array(wanted.utf8),
        "\(what): got \(found.debugDescription), not \(wanted.debugDescription)")
}

/// The error that `body` throws.
func modelError(_ body: () throws -> Void) -> UserError? {
    do {
        try body()
        return nil
    } catch {
        return error as? UserError
    }
}
