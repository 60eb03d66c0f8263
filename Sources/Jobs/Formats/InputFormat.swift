import Errors
import JSON

/// How an input's records are cut from its bytes and what they say. A format is one file in this folder and one line
/// in `InputFormats.all`.
package protocol InputFormat: Sendable {
    var name: String { get }

    /// From how many bytes on a record need not be kept in memory where records are only counted.
    var countingLimit: Int { get }

    /// Each line is a JSON object.
    var isJSONLines: Bool { get }

    /// What names of its files end in, without the dot.
    var nameEnds: [String] { get }

    /// Whether a file with such a name has this format.
    func isOf(_ path: String) -> Bool

    /// A file may get more records at its end.
    var canGrow: Bool { get }

    /// The last byte of a whole file that is no white space; nil where it may be any.
    var lastByte: UInt8? { get }

    /// The format of one file of the input; most often this one.
    func format(for path: String) -> any InputFormat

    /// The same format, with what a job says of cells; formats without cells are as they were.
    func with(_ cells: CellFormat) -> any InputFormat

    /// - Parameter limit: bytes of a record from which on it is only measured, not kept in memory.
    func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor
}

extension InputFormat {
    package var countingLimit: Int { 4096 }
    package var isJSONLines: Bool { false }
    package var nameEnds: [String] { [] }
    package func isOf(_ path: String) -> Bool { true }
    package var canGrow: Bool { true }
    package var lastByte: UInt8? { nil }
    package func format(for path: String) -> any InputFormat { self }
    package func with(_ cells: CellFormat) -> any InputFormat { self }
}

/// How the cells of a table in a text file are told apart.
package struct CellFormat: Sendable, Equatable {
    /// Nil for what the file's first record shows.
    package var separator: UInt8?
    /// A quote at a cell's beginning opens one that may hold separators; otherwise quotes are text.
    package var hasQuotes = true
}

/// Goes through the records of one file.
package protocol InputCursor {
    /// The next record, or nil at the end; blank ones are passed over.
    /// - Throws: `JobError` if the file can't be read.
    mutating func next() throws -> InputRecord?

    /// What the record that came last says.
    func content(of record: InputRecord) throws(LineError) -> LineContent
}

/// What a record says.
package struct LineContent: Sendable {
    /// A JSON object: `id`, `prompt` and the others, as in a native line.
    package var fields: JSONValue
    /// All fields are strings, as the format has nothing else.
    package var isOfCells = false
    /// Nil if the record is none of OpenAI's requests.
    package var request: OpenAIRequest?
    /// What is wrong with it beside what its fields show.
    package var fault: LineError?
}

/// A piece of the input that asks for one answer. In most formats it is a line.
package struct InputRecord: Sendable {
    /// All that its answer depends on; a record with the same bytes is the same one. Without its end. Empty if it was
    /// too long to keep.
    package var bytes: [UInt8]
    /// The full length in bytes of one that was too long to keep.
    package var excessLength: Int?
    /// The number of its first line, from 1, in its file.
    package var number: Int
    /// Its own number, from 1, where several may begin in one line; nil where it is that of the line.
    package var place: Int?
    /// The file's last record, which has no end: its writer may still be at it.
    package var isUnterminated = false
    /// The file's last record, which ends within a quoted field or the like: whatever its length, it is not whole.
    package var isBroken = false
    /// Why it is not whole, where that is more than that there is no end.
    package var whatIsBroken: Message?

    // Filled in by the reader.
    /// The input's file, as the job names it.
    package internal(set) var file = ""
    /// By which it is known without an id, from 1, over all files of the job: of its first line, or its own.
    package internal(set) var overallNumber = 0
}

/// The formats that inputs can have.
package enum InputFormats {
    package static let all: [any InputFormat] = [
        FormatByName(), NativeLines(), JSONArrayRecords(), OpenAILines(), DelimitedRecords.csv,
        DelimitedRecords.tsv, PlainLines(), Paragraphs(), ParquetRows(),
    ]

    /// What an input has where nothing else is said.
    package static let standard: any InputFormat = FormatByName()
}

/// The format that a job has for its input or its output; equal to another of that name.
package struct FormatChoice<Format: Sendable>: Sendable, Equatable {
    package let format: Format
    private let name: String

    package static func == (a: Self, b: Self) -> Bool { a.name == b.name }
}

extension FormatChoice<any InputFormat> {
    package init(_ format: any InputFormat) { self.init(format: format, name: format.name) }
}

extension FormatChoice<any ResultFormat> {
    package init(_ format: any ResultFormat) { self.init(format: format, name: format.name) }
}
