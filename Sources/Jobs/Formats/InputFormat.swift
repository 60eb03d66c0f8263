import Errors
import JSON

/// Format of an input: splits bytes into records and parses them. A format is one file in this folder and one line in
/// `InputFormats.all`.
package protocol InputFormat: Sendable {
    var name: String { get }

    /// Whether each line is a JSON object.
    var isJSONLines: Bool { get }

    /// File name suffixes, without the dot.
    var nameEnds: [String] { get }

    /// Whether a file with such a name has this format.
    func isOf(_ path: String) -> Bool

    /// Whether a file names its fields before its records.
    var hasColumns: Bool { get }

    /// Whether records may be appended to a file.
    var canGrow: Bool { get }

    /// Last byte of a complete file, except white space; nil for any.
    var lastByte: UInt8? { get }

    /// Returns the format of one file of the input; usually this one.
    func format(for path: String) -> any InputFormat

    /// Returns the format with a job's settings of cells; formats without cells don't change.
    func with(_ cells: CellFormat) -> any InputFormat

    /// - Parameter limit: size in bytes from which a record is only measured, not kept in memory.
    func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor
}

extension InputFormat {
    package var isJSONLines: Bool { false }
    package var nameEnds: [String] { [] }
    package func isOf(_ path: String) -> Bool { true }
    package var hasColumns: Bool { false }
    package var canGrow: Bool { true }
    package var lastByte: UInt8? { nil }
    package func format(for path: String) -> any InputFormat { self }
    package func with(_ cells: CellFormat) -> any InputFormat { self }
}

/// Syntax of cells in a text file.
package struct CellFormat: Sendable, Equatable {
    /// Nil detects it in the file's first record.
    package var separator: UInt8?
    /// A quote at the beginning of a cell.
    package var quotes = Quotes.double

    package enum Quotes: String, CaseIterable, Sendable {
        /// It opens the cell.
        case double
        /// It is text.
        case none
    }
}

/// Iterates over the records of one file.
package protocol InputCursor {
    /// Returns the next record, or nil at the end; blank ones are skipped.
    /// - Throws: `UserError` if the file can't be read.
    mutating func next() throws -> InputRecord?

    /// Parses the last record.
    func content(of record: InputRecord) throws(LineError) -> LineContent
}

/// Parsed content of a record.
package struct LineContent: Sendable {
    /// A JSON object with `id`, `prompt` and so on, as in a native line.
    package var fields: JSONValue
    /// Whether all fields are strings, as the format has no other values.
    package var isOfCells = false
    /// Nil if the record is none of OpenAI's requests.
    package var request: OpenAIRequest?
    /// A fault that the fields don't show.
    package var fault: LineError?
}

/// A piece of the input with one prompt. In most formats it is a line.
package struct InputRecord: Sendable {
    /// Content without the record's end: equal bytes mean equal records. Empty if it was too long to keep.
    package var bytes: [UInt8]
    /// Length in bytes of a record that was too long to keep.
    package var excessLength: Int?
    /// Number of its first line in its file, from 1.
    package var number: Int
    /// Its own number, from 1, if several records may begin in one line; nil if it is the line's.
    package var place: Int?
    /// Whether it is the file's last record without an end, which may still be being written.
    package var isUnterminated = false
    /// Whether it is the file's last record and ends within a quoted field or the like, so that it is incomplete.
    package var isBroken = false
    /// Reason why it is incomplete, beyond the missing end.
    package var whatIsBroken: Message?

    // Set by the reader.
    /// The input's file, as named in the job.
    package internal(set) var file = ""
    /// Number that identifies it without an id, from 1, over all files: its first line's, or its own.
    package internal(set) var overallNumber = 0
}

/// The formats that inputs can have.
package enum InputFormats {
    package static let all: [any InputFormat] = [
        FormatByName(), NativeLines(), JSONArrayRecords(), OpenAILines(), DelimitedInput.csv,
        DelimitedInput.tsv, PlainLines(), Paragraphs(), ParquetRows(),
    ]

    /// The default format of an input.
    package static let standard: any InputFormat = FormatByName()
}

/// Choice of a format for a job's input, compared by name.
package struct InputFormatChoice: Sendable, Equatable {
    package let format: any InputFormat

    package init(_ format: any InputFormat) { self.format = format }

    package static func == (a: Self, b: Self) -> Bool { a.format.name == b.format.name }
}
