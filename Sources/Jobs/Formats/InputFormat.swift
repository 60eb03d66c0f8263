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
    /// A job's settings of cells, for formats that have them.
    var cells = CellFormat()
    private let records: @Sendable (ByteSource, _ limit: Int, CellFormat) -> RecordSource

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
    func records(of source: ByteSource, limit: Int) -> RecordSource { records(source, limit, cells) }

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
        InputFormat(name: name, objectContent: content) { source, limit, _ in
            source.lines(limit: limit) { line throws(LineError) in
                content(try PromptRecord.parseObject(line))
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
    package static let auto = InputFormat(name: "auto", records: requestsOrNative.records)

    static let json = InputFormat(
        name: "json", nameEnds: ["json"], canGrow: false
    ) { source, limit, _ in
        var elements = JSONArrayElements(source: source, limit: limit)
        return { try elements.next() }
    }

    // MARK: Text

    /// Plain text: each line that is not blank is a prompt.
    static let text = InputFormat(name: "text", nameEnds: ["txt"]) { source, limit, _ in
        source.lines(limit: limit, isText: true, parse: prompt)
    }

    /// Plain text in which a prompt may span lines and ends at a blank line.
    static let paragraphs = InputFormat(name: "paragraphs") { source, limit, _ in
        source.paragraphs(limit: limit, parse: prompt)
    }

    @Sendable private static func prompt(_ bytes: [UInt8]) throws(LineError) -> LineContent {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LineError(.invalidUTF8, "The line is not valid UTF-8.")
        }
        return LineContent(fields: ["prompt": .string(text)])
    }

    // MARK: Tables

    static let csv = InputFormat(name: "csv", nameEnds: ["csv"], hasColumns: true) { source, limit, cells in
        var input = DelimitedInput(source, limit: limit, cells)
        return { try input.next() }
    }

    static let tsv = InputFormat(name: "tsv", nameEnds: ["tsv"], hasColumns: true) { source, limit, cells in
        var cells = cells
        cells.separator = cells.separator ?? 0x09
        return csv.records(source, limit, cells)
    }

    /// Rows of a Parquet file, whose columns are a line's fields. Numbers, booleans, texts, lists, structs and maps are as
    /// in JSON; times, dates and intervals are text, and bytes are text with \xHH for what is not ASCII. NaN and infinities
    /// are text.
    ///
    /// A row without an id is identified by its number in the file, from 1.
    static let parquet = InputFormat(
        name: "parquet", nameEnds: ["parquet"], hasColumns: true, canGrow: false
    ) { source, limit, _ in
        source.lines(limit: limit) { line throws(LineError) in
            var row = line
            let words: [StaticString] = ["NaN", "Infinity"]
            if words.contains(where: { word in row.withUnsafeBytes { $0.offset(of: word) != nil } }) {
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

    /// - Throws: `UserError` if a file of this format can't be followed.
    func checkGrowth(of path: String) throws(UserError) {
        guard !canGrow else { return }
        throw UserError(
            .usage, at: path,
            "can't be followed: the format \(name) has an end, after which nothing comes. Run without --follow."
        )
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

/// Returns the next record of a file, or nil at the end; blank ones are skipped. Throws `UserError` if the file can't be
/// read.
package typealias RecordSource = () throws -> InputRecord?

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
package struct InputRecord {
    /// Content without the record's end: equal bytes mean equal records.
    package var text: LimitedText
    /// Number of its first line in its file, from 1.
    package var number: Int
    /// Its own number, from 1, if several records may begin in one line; nil if it is the line's.
    package var place: Int?
    /// Whether it is the file's last record without an end, which may still be being written.
    package var isUnterminated = false
    /// Reason why it is incomplete, beyond the missing end: the file ends within a quoted field or the like.
    package var whatIsBroken: Message?
    /// Parses the bytes.
    var parse: ([UInt8]) throws(LineError) -> LineContent = { bytes throws(LineError) in
        LineContent(fields: try PromptRecord.parseObject(bytes))
    }

    // Set by the reader.
    /// The input's file, as named in the job.
    package internal(set) var file = ""
    /// Number that identifies it without an id, from 1, over all files: its first line's, or its own.
    package internal(set) var overallNumber = 0

    package var bytes: [UInt8] { text.bytes }

    /// - Throws: `LineError` if it is too long or malformed.
    package func content() throws(LineError) -> LineContent {
        if text.isTooLong {
            throw LineError(
                .lineTooLong, "The line has \(text.length) bytes; at most \(text.limit) are read.")
        }
        return try parse(bytes)
    }

    /// Whether it is incomplete: without an end and with nothing valid. Its writer seems to be at it still, or was
    /// interrupted.
    package var isHalf: Bool {
        whatIsBroken != nil || isUnterminated && !text.isTooLong && (try? content()) == nil
    }
}

extension [UInt8] {
    /// Whether there are only spaces, tabs and carriage returns.
    var isBlank: Bool { allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }

    /// Removes a carriage return before a line feed.
    mutating func removeReturn() {
        if last == 0x0D { removeLast() }
    }
}

extension ByteSource {
    /// Returns a source of the lines that are not blank.
    /// - Parameter isText: whether any text is complete, as a last line without an end is.
    fileprivate func lines(
        limit: Int, isText: Bool = false, parse: @escaping ([UInt8]) throws(LineError) -> LineContent
    ) -> RecordSource {
        {
            while var line = try self.nextLine(limit: limit) {
                line.bytes.removeReturn()
                if !line.isTooLong, line.bytes.isBlank { continue }
                return InputRecord(
                    text: line, number: self.lineCount, isUnterminated: !line.isComplete && !isText,
                    parse: parse)
            }
            return nil
        }
    }

    /// Returns a source of the texts between blank lines.
    fileprivate func paragraphs(
        limit: Int, parse: @escaping ([UInt8]) throws(LineError) -> LineContent
    ) -> RecordSource {
        {
            var (text, number): (LimitedText?, Int) = (nil, 0)
            while var line = try self.nextLine(limit: limit) {
                line.bytes.removeReturn()
                if !line.isTooLong, line.bytes.isBlank {
                    if text != nil { break }
                } else if text == nil {
                    (text, number) = (line, self.lineCount)
                } else {
                    text?.append(line: line)
                }
            }
            return text.map { InputRecord(text: $0, number: number, parse: parse) }
        }
    }
}
