// Callers catch it.
@_exported import struct Errors.UserError

extension UserError {
    /// Whether the settings are at fault, and neither a model nor a disk.
    package var isOfSettings: Bool { [.usage, .badJob, .missingInput].contains(kind) }
}

/// Problem of one value; whoever knows the place makes a `UserError` of it.
struct SettingProblem: Error {
    let message: String
    /// The line of the value at fault, where it is not the setting's own (an element of a list).
    var line: Int?

    init(_ message: String, line: Int? = nil) {
        self.message = message
        self.line = line
    }
}
