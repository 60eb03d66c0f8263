/// A fault in JSON text, and its place.
package struct JSONFault: Error, Equatable, Sendable, CustomStringConvertible {
    package let message: String
    /// Number of bytes before the fault.
    package let offset: Int
    /// Both count from 1; columns count bytes.
    package let line: Int
    package let column: Int

    package init(_ message: String, offset: Int = 0, line: Int = 1, column: Int = 1) {
        self.message = message
        self.offset = offset
        self.line = line
        self.column = column
    }

    /// For a file of several lines.
    package var description: String { "line \(line), column \(column): \(message)" }
    /// For text that is one line.
    package var atByte: String { "\(message) at byte \(offset + 1)" }
}

/// Bounds of JSON from untrusted sources.
package struct JSONLimits: Sendable {
    /// Levels of nesting.
    package var depth: Int
    /// Number of values in a tree. Each takes tens of bytes of memory, however short its text.
    package var values: Int

    /// A line of prompts.
    package static let line = JSONLimits(depth: 128, values: 1 << 20)
    /// A file of a model folder; real ones have fewer than ten levels.
    package static let file = JSONLimits(depth: 64, values: 4_000_000)
    /// A line of a file that phibatch writes: a completion has several values for each token.
    package static let ownLine = JSONLimits(depth: 128, values: 1 << 26)
}
