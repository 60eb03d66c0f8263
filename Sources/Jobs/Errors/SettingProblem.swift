import JSON

// Callers catch it.
@_exported import struct Errors.UserError

extension UserError {
    /// Whether the settings are at fault, and neither a model nor a disk.
    package var isOfSettings: Bool { [.usage, .badJob, .missingInput].contains(kind) }
}

/// Problem of one value: a setting, or a constraint on answers. The caller adds the place.
package struct SettingProblem: Error, Equatable {
    package let message: String
    /// The line at fault, where it is not the setting's own.
    var line: Int?

    package init(_ message: String, line: Int? = nil) {
        (self.message, self.line) = (message, line)
    }
}

extension JSONValue {
    /// The value in errors.
    var shown: String {
        switch self {
        case .int(let number): "\(number)"
        case .number(let number): number.text
        default: kindName
        }
    }

    /// Returns an error that says what is right, and the value given instead.
    func wrong(_ right: String) -> SettingProblem { SettingProblem("must be \(right), but is \(shown)") }
}
