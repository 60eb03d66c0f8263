// Callers catch it.
@_exported import struct Errors.UserError

extension UserError {
    /// Whether the settings are at fault, and neither a model nor a disk.
    package var isOfSettings: Bool { [.usage, .badJob, .missingInput].contains(kind) }
}

/// Problem of one value: a setting, a constraint on answers, or YAML text. The caller adds the place.
package struct SettingProblem: Error, Equatable {
    package let message: String
    /// The line at fault, where it is not the setting's own.
    var line: Int?

    package init(_ message: String, line: Int? = nil) {
        (self.message, self.line) = (message, line)
    }
}
