import BatchEngine
import JSON

/// CSV or TSV with a header line: one row a result, quoted as in RFC 4180, ending in a line feed. A failed line has its
/// error in the last two of our columns, and of the answer's columns only the text, if an answer broke its constraint.
package struct DelimitedOutput: ResultFormat {
    package let name: String
    package var nameEnds: [String] { [name] }
    let separator: UInt8
    /// Names of the columns from the input's line.
    private(set) var kept: [String] = []
    /// Columns of the task's results.
    private var columns = GeneratedResult.allColumns

    package static let csv = DelimitedOutput(name: "csv", separator: UInt8(ascii: ","))
    package static let tsv = DelimitedOutput(name: "tsv", separator: 0x09)

    /// The header line.
    package var head: [UInt8] { Self.row(Self.all(columns) + kept, separator) }

    /// Our columns in order, before those of the line.
    static func all(_ columns: [String]) -> [String] {
        ["id", "sample"] + columns + ["error", "error_message"]
    }

    /// Returns the format with columns for fields of the line, and for another task's results.
    package func keeping(_ names: [String], columns: [String]? = nil) -> Self {
        Self(name: name, separator: separator, kept: names, columns: columns ?? self.columns)
    }

    /// The header line, with the task's columns between the first two and the errors'.
    package var layout: String {
        get { String(decoding: head, as: UTF8.self) }
        set {
            let names = CellScan(of: newValue.utf8.dropLast(), separator).cells ?? []
            let own = names.firstIndex(of: "error").map { names[..<$0] } ?? []
            self = keeping(Array(names.dropFirst(own.count + 2)), columns: Array(own.dropFirst(2)))
        }
    }

    package let hasColumns = true

    package func fitting(_ job: JobSettings) -> any ResultFormat {
        var names: [String] = []
        if case .fields(let fields) = job.keep { names = fields.map(\.resultName) }
        if job.keep == .all {
            let own = ownNames(of: job)
            names = (job.fieldsOfInput ?? []).filter { !own.contains($0) }
        }
        return keeping(names, columns: job.task.columns(of: job))
    }

    package func problem(with job: JobSettings) -> String? {
        if let part = job.parts.first(where: { $0.task.columns(of: $0) == nil }) {
            return "has no columns for the results of task: \(part.task.rawValue)"
        }
        if let name = job.tokenSetting { return "has no column for \(name)" }
        if job.keep == .all {
            return job.fieldsOfInput == nil
                ? "needs the names of its columns before lines are read: use keep: [NAME, NAME] (--keep NAME). keep: all works with CSV, TSV or Parquet as input, or JSON lines as output"
                : nil
        }
        guard case .fields(let fields) = job.keep else { return nil }
        let all = Self.all(job.task.columns(of: job) ?? [])
        return fields.first { all.contains($0.resultName) }
            .map { "has its own column \($0.resultName); keep the field under another name" }
    }

    static func row(_ cells: [String], _ separator: UInt8) -> [UInt8] {
        Array(cells.map { quoted($0, separator) }.joined(separator: [separator])) + [0x0a]
    }

    private static func quoted(_ cell: String, _ separator: UInt8) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        let bytes = Array(cell.utf8)
        // Some readers strip white space of unquoted cells.
        let isPlain =
            !bytes.contains { $0 == quote || $0 == separator || $0 == 0x0a || $0 == 0x0d }
            && bytes.first != 0x20 && bytes.last != 0x20
        if isPlain { return bytes }
        return [quote] + bytes.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
    }

    package func write(_ piece: ResultPiece, to output: inout [UInt8]) {
        let result = piece.results[0]
        var cells = [piece.place.key.id, "\(piece.place.key.sample)"]
        switch result.content {
        case .made(let made):
            // A kept result of an earlier run with another task lacks some cells.
            cells += columns.map { made.cell($0) ?? "" } + ["", ""]
        case .failed(let failure):
            cells += columns.map { $0 == "text" ? failure.text ?? "" : "" }
            cells += [failure.error.code.rawValue, failure.error.message]
        }
        cells += kept.map { name in
            result.kept.first { $0.name == name }.map { Self.text(ofJSON: $0.json) } ?? ""
        }
        output += Self.row(cells, separator)
    }

    /// Returns a string as it is, nothing for null, and everything else as JSON.
    static func text(ofJSON json: String) -> String {
        switch try? JSONValue(parsing: Array(json.utf8), limits: .line) {
        case .string(let text): text
        case .null: ""
        default: json
        }
    }
}
