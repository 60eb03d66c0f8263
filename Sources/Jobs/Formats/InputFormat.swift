import Errors
import JSON
import OperatingSystem

/// Format of an input: splits bytes into records and parses them. A format is a value here and its place in `all`.
package struct InputFormat: Sendable, Equatable {
    package let name: String
    /// File name suffixes, without the dot.
    var nameEnds: [String] = []
    /// Meaning of a line that is a JSON object; nil if lines are something else.
    private var objectContent: (@Sendable (JSONValue) -> LineContent)?
    /// Whether a file names its fields before its records.
    var hasColumns = false
    /// Whether records may be appended to a file.
    var canGrow = true
    /// Last byte of a complete file, except white space; nil for any.
    var lastByte: UInt8?
    /// A job's settings of cells, for formats that have them.
    var cells = CellFormat()
    private let cursor: @Sendable (InputBytes, _ limit: Int, CellFormat) -> any InputCursor

    package static func == (a: Self, b: Self) -> Bool { a.name == b.name }

    /// In the order of the help.
    package static let all = [auto, jsonl, json, openAI, csv, tsv, text, paragraphs, parquet]

    /// Whether each line is a JSON object.
    var isJSONLines: Bool { objectContent != nil }

    /// - Parameter object: a line of the format.
    func content(of object: JSONValue) -> LineContent {
        objectContent?(object) ?? LineContent(fields: object)
    }

    /// - Parameter limit: size in bytes from which a record is only measured, not kept in memory.
    func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor { cursor(bytes, limit, cells) }

    /// Returns the format of one file of the input; usually this one.
    package func format(for path: String) -> InputFormat {
        guard self == .auto else { return self }
        let name = Packing.stem(ofName: Paths.name(of: path).lowercased())
        let named = Self.all.first { $0.nameEnds.contains { name.hasSuffix("." + $0) } }
        // Files of this name may also contain JSON lines.
        guard var named, named != .json || InputLook(path: path)?.isArray == true else {
            return .requestsOrNative
        }
        named.cells = cells
        return named
    }

    // MARK: JSON

    private static func objects(
        _ name: String, _ content: @escaping @Sendable (JSONValue) -> LineContent
    ) -> InputFormat {
        InputFormat(name: name, objectContent: content) { bytes, limit, _ in
            LineCursor(bytes: bytes, limit: limit) { record throws(LineError) in
                content(try PromptRecord.parseObject(record.bytes))
            }
        }
    }

    /// phibatch's own input: one JSON object a line, in UTF-8.
    ///
    /// Lines end in LF or CR LF; the last one may have no end. Blank lines are skipped, but counted.
    package static let jsonl = objects("jsonl") { LineContent(fields: $0) }

    /// OpenAI's batch files: one request a line, such as
    ///
    ///     {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": [...]}}
    ///
    /// See https://platform.openai.com/docs/api-reference/batch/request-input.
    package static let openAI = objects("openai") { OpenAIRequest.content(of: $0) }

    /// Requests and native lines mixed.
    static let requestsOrNative = objects("auto") {
        OpenAIRequest.isOne($0) ? OpenAIRequest.content(of: $0) : LineContent(fields: $0)
    }

    /// The format by a file's name, with or without `.gz` or `.zst`; by default JSON lines, native or OpenAI's requests.
    package static let auto = InputFormat(name: "auto", cursor: requestsOrNative.cursor)

    static let json = InputFormat(
        name: "json", nameEnds: ["json"], canGrow: false, lastByte: UInt8(ascii: "]")
    ) { bytes, limit, _ in JSONArrayCursor(bytes: bytes, limit: limit) }

    // MARK: Text

    /// Plain text: each line that is not blank is a prompt.
    static let text = InputFormat(name: "text", nameEnds: ["txt"]) { bytes, limit, _ in
        LineCursor(bytes: bytes, limit: limit, isText: true, parse: text)
    }

    /// Plain text in which a prompt may span lines and ends at a blank line.
    static let paragraphs = InputFormat(name: "paragraphs") { bytes, limit, _ in
        ParagraphCursor(bytes: bytes, limit: limit)
    }

    fileprivate static func text(of record: InputRecord) throws(LineError) -> LineContent {
        guard let text = String(validating: record.bytes, as: UTF8.self) else {
            throw LineError(.invalidUTF8, "The line is not valid UTF-8.")
        }
        return LineContent(fields: ["prompt": .string(text)])
    }

    // MARK: Tables

    static let csv = InputFormat(name: "csv", nameEnds: ["csv"], hasColumns: true) { bytes, limit, cells in
        DelimitedInput(bytes, limit: limit, cells)
    }

    static let tsv = InputFormat(name: "tsv", nameEnds: ["tsv"], hasColumns: true) { bytes, limit, cells in
        var cells = cells
        cells.separator = cells.separator ?? 0x09
        return DelimitedInput(bytes, limit: limit, cells)
    }

    /// Rows of a Parquet file, whose columns are a line's fields. Numbers, booleans, texts, lists, structs and maps are as
    /// in JSON; times, dates and intervals are text, and bytes are text with \xHH for what is not ASCII. NaN and infinities
    /// are text.
    ///
    /// A row without an id is identified by its number in the file, from 1.
    static let parquet = InputFormat(
        name: "parquet", nameEnds: ["parquet"], hasColumns: true, canGrow: false
    ) { bytes, limit, _ in
        LineCursor(bytes: bytes, limit: limit) { record throws(LineError) in
            var row = record.bytes
            let words: [StaticString] = ["NaN", "Infinity"]
            if words.contains(where: { word in row.withUnsafeBytes { word.firstOffset(in: $0) != nil } }) {
                row = BareWords.quoted(row) { $0 == 0x4E || $0 == 0x49 }
            }
            return LineContent(fields: try PromptRecord.parseObject(row))
        }
    }

    /// - Throws: `UserError` if a file is a table and this format is not, or the other way round.
    func check(_ source: ByteSource) throws {
        try source.look()
        guard (self == .parquet) != source.isParquet, !source.isParquet || !isJSONLines else { return }
        throw UserError(
            .badJob, at: source.name,
            source.isParquet
                ? "is Parquet, whose rows are no \(name); leave input_format out." : "is no Parquet file.")
    }
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

/// Cursor over a file whose records are its lines that are not blank.
struct LineCursor: InputCursor {
    let bytes: InputBytes
    let limit: Int
    /// Whether any text is complete, as a last line without an end is.
    var isText = false
    let parse: (InputRecord) throws(LineError) -> LineContent

    mutating func next() throws -> InputRecord? {
        while let line = try bytes.nextLine(limit: limit) {
            var record = InputRecord(
                bytes: line.bytes, excessLength: line.length > limit ? line.length : nil,
                number: bytes.lineCount, isUnterminated: !line.isComplete && !isText)
            if record.bytes.last == 0x0D { record.bytes.removeLast() }
            if record.excessLength != nil || !record.bytes.isBlank { return record }
        }
        return nil
    }

    func content(of record: InputRecord) throws(LineError) -> LineContent { try parse(record) }
}

extension [UInt8] {
    /// Whether there are only spaces, tabs and carriage returns.
    var isBlank: Bool { allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }
}

struct ParagraphCursor: InputCursor {
    let bytes: InputBytes
    let limit: Int

    mutating func next() throws -> InputRecord? {
        var (record, length): (InputRecord?, Int) = (nil, 0)
        while var line = try bytes.nextLine(limit: limit) {
            if line.bytes.last == 0x0D { line.bytes.removeLast() }
            if line.length <= limit, line.bytes.isBlank {
                if record != nil { break }
                continue
            }
            length += line.length + (record == nil ? 0 : 1)
            if record == nil {
                record = InputRecord(bytes: line.bytes, number: bytes.lineCount)
            } else if length <= limit {
                record?.bytes += [0x0A] + line.bytes
            }
            if length > limit {
                record?.bytes = []
                record?.excessLength = length
            }
        }
        return record
    }

    func content(of record: InputRecord) throws(LineError) -> LineContent {
        try InputFormat.text(of: record)
    }
}
