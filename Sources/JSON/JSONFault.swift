/// What is wrong with JSON text, and where.
package struct JSONFault: Error, Equatable, Sendable, CustomStringConvertible {
    package let message: String
    /// Bytes before the place of the fault.
    package let offset: Int
    /// Both count from 1; a column is a byte.
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

/// Bounds of what is read: JSON comes from strangers.
package struct JSONLimits: Sendable {
    /// Levels of nesting.
    package var depth: Int
    /// Values that become a tree. Each takes tens of bytes of memory, whatever it takes in the text.
    package var values: Int

    /// A line of prompts.
    package static let line = JSONLimits(depth: 128, values: 1 << 20)
    /// A file of a model folder; real ones nest less than ten levels.
    package static let file = JSONLimits(depth: 64, values: 4_000_000)
    /// A line of a file that phibatch itself writes: a completion has some values for each token.
    package static let ownLine = JSONLimits(depth: 128, values: 1 << 26)
}
