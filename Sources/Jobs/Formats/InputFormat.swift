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
    /// Separator of cells in a text file; nil detects it in the file's first record.
    var separator: UInt8?
    /// Whether a quote at the beginning of a cell opens it; else it is text.
    var hasQuotes = true
    /// Begins to read a file. Records beyond a limit in bytes are only measured, not kept in memory.
    let records: @Sendable (Self, ByteSource, _ limit: Int) -> RecordSource

    package static func == (a: Self, b: Self) -> Bool { a.name == b.name }

    /// In the order of the help.
    package static let all = [auto, jsonl, json, openAI, csv, tsv, text, paragraphs, parquet]

    /// Whether each line is a JSON object.
    var isJSONLines: Bool { objectContent != nil }

    /// - Parameter object: a line of the format.
    func content(of object: JSONValue) -> LineContent {
        objectContent?(object) ?? LineContent(fields: object)
    }

    /// Returns the format with another one's settings of cells.
    func withCells(of other: InputFormat) -> InputFormat {
        var format = self
        (format.separator, format.hasQuotes) = (other.separator, other.hasQuotes)
        return format
    }

    /// Returns the format of one file of the input; usually this one.
    package func format(for path: String) -> InputFormat {
        guard self == .auto else { return self }
        let name = Packing.stem(ofName: Paths.name(of: path).lowercased())
        let named = Self.all.first { $0.nameEnds.contains { name.hasSuffix("." + $0) } }
        // Files of this name may also contain JSON lines.
        guard let named, named != .json || Self.start(of: path).map(Self.isArray) == true else { return self }
        return named.withCells(of: self)
    }

    // MARK: JSON

    private static func objects(
        _ name: String, _ content: @escaping @Sendable (JSONValue) -> LineContent
    ) -> InputFormat {
        InputFormat(name: name, objectContent: content) { _, source, limit in
            source.records(limit: limit) { line throws(LineError) in
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

    /// The format by a file's name, with or without `.gz` or `.zst`; by default JSON lines, native or OpenAI's requests,
    /// also mixed.
    package static let auto = objects("auto") {
        OpenAIRequest.isOne($0) ? OpenAIRequest.content(of: $0) : LineContent(fields: $0)
    }

    static let json = InputFormat(name: "json", nameEnds: ["json"], canGrow: false) { _, source, limit in
        var elements = JSONArrayElements(source: source, limit: limit)
        return { try elements.next() }
    }

    // MARK: Text

    /// Plain text: each line that is not blank is a prompt.
    static let text = InputFormat(name: "text", nameEnds: ["txt"]) { _, source, limit in
        source.records(limit: limit, isText: true, parse: prompt)
    }

    /// Plain text in which a prompt may span lines and ends at a blank line.
    static let paragraphs = InputFormat(name: "paragraphs") { _, source, limit in
        source.records(limit: limit, isText: true, joinsLines: true, parse: prompt)
    }

    @Sendable private static func prompt(_ bytes: [UInt8]) throws(LineError) -> LineContent {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LineError(.invalidUTF8, "The line is not valid UTF-8.")
        }
        return LineContent(fields: ["prompt": .string(text)])
    }

    // MARK: Tables

    static let csv = delimited("csv")
    static let tsv = delimited("tsv", by: 0x09)

    private static func delimited(_ name: String, by separator: UInt8? = nil) -> InputFormat {
        InputFormat(name: name, nameEnds: [name], hasColumns: true) { format, source, limit in
            var input = DelimitedInput(
                source, limit: limit, separator: format.separator ?? separator, hasQuotes: format.hasQuotes)
            return { try input.next() }
        }
    }

    /// Rows of a Parquet file, whose columns are a line's fields. Numbers, booleans, texts, lists, structs and maps are as
    /// in JSON; times, dates and intervals are text, and bytes are text with \xHH for what is not ASCII. NaN and infinities
    /// are text.
    ///
    /// A row without an id is identified by its number in the file, from 1.
    static let parquet = InputFormat(
        name: "parquet", nameEnds: ["parquet"], hasColumns: true, canGrow: false
    ) { _, source, limit in
        source.records(limit: limit) { line throws(LineError) in
            var row = line
            let words: [StaticString] = ["NaN", "Infinity"]
            if words.contains(where: { word in row.withUnsafeBytes { $0.offset(of: word) != nil } }) {
                row = JSONBytes.quotingBareWords(in: row) { $0 == 0x4E || $0 == 0x49 }
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

extension ByteSource {
    /// Returns a source of the lines that are not blank.
    /// - Parameters:
    ///   - isText: whether any text is complete, as a last line without an end is.
    ///   - joinsLines: whether a record ends at a blank line.
    fileprivate func records(
        limit: Int, isText: Bool = false, joinsLines: Bool = false,
        parse: @escaping ([UInt8]) throws(LineError) -> LineContent
    ) -> RecordSource {
        {
            var record: InputRecord?
            while var line = try self.nextLine(limit: limit) {
                line.removeReturn()
                if line.isBlank {
                    if record == nil { continue } else { break }
                }
                record?.append(line: line)
                if record == nil { record = line }
                if !joinsLines { break }
            }
            record?.parse = parse
            if isText { record?.isComplete = true }
            return record
        }
    }
}

/// The beginning of a file, examined before anything costly starts.
extension InputFormat {
    /// Returns the first bytes of a file; nil if it can't be read twice, is empty or doesn't exist.
    static func start(of path: String) -> [UInt8]? {
        guard path != "-", Files.kind(of: path) == .regular,
            let start = try? ByteSource(path: path).readAll(limit: 1 << 16), !start.isEmpty
        else { return nil }
        return start
    }

    /// Returns the reason why no line of a file can be read, and remedies; nil if some may be. A single bad line among
    /// others is not examined.
    /// - Parameter start: the file's first bytes.
    func problem(start: [UInt8], path: String) -> Message? {
        if start.starts(with: ParquetFile.magic) {
            return "is a truncated Parquet file, not lines of text. It does not end as it begins, with PAR1."
        }
        let brace = UInt8(ascii: "{")
        let others: [(starts: [[UInt8]], what: Message, program: Message)] = [
            ([[0xfd] + "7zXZ".utf8], "compressed with xz", "xz -dc"),
            ([Array("BZh".utf8)], "compressed with bzip2", "bunzip2 -c"),
            ([Array("PK\u{3}\u{4}".utf8)], "a ZIP archive", "unzip -p"),
            ([[0xff, 0xfe], [0xfe, 0xff], [brace, 0], [0, brace]], "UTF-16", "iconv -f UTF-16 -t UTF-8"),
        ]
        if let (_, what, program) = others.first(where: { $0.starts.contains { start.starts(with: $0) } }) {
            return
                "is \(what), not lines of UTF-8 text. \"\(program) \(path) | phibatch run ... --input -\" reads it."
        }
        let lines = Self.firstLines(of: start)
        // An object over several lines begins with its brace alone.
        guard isJSONLines,
            Self.isArray(start)
                || lines.count > 1 && !lines.contains(where: { $0.first == brace && $0.count > 1 })
        else { return nil }
        return
            "is not JSON lines: none of the first lines is an object. --input-format json reads a JSON array, csv or tsv a table, and so does a name that ends in .json, .csv or .tsv. \"jq -c . \(path)\" makes lines of JSON objects over several lines."
    }

    /// Whether a file with these first bytes begins with an array that is no bad line among good ones.
    static func isArray(_ start: [UInt8]) -> Bool {
        let lines = firstLines(of: start)
        guard let first = lines.first, first.first == UInt8(ascii: "[") else { return false }
        return (try? JSONValue(parsing: first, limits: .line)) == nil
            || !lines.contains { $0.first == UInt8(ascii: "{") }
    }

    /// Up to five lines that are not blank, trimmed; the last one may continue.
    private static func firstLines(of start: [UInt8]) -> [[UInt8]] {
        let text = start.starts(with: [0xEF, 0xBB, 0xBF]) ? start.dropFirst(3) : start[...]
        let lines = text.split(separator: 0x0A, maxSplits: 64).map { line in
            let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
            return Array(line.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
        }
        return Array(lines.filter { !$0.isEmpty }.prefix(5))
    }
}
