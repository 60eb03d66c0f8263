import BatchEngine
import JSON

/// CSV or TSV, with a first line that names the columns: one row a result, quoted as RFC 4180 says, and ended by a line
/// feed. A failed line has its error in the last two of our columns, and nothing in those of an answer but the text,
/// if there is one that is not what was asked for.
package struct DelimitedResults: ResultFormat {
    package let name: String
    package var nameEnds: [String] { [name] }
    let separator: UInt8
    /// What the columns are called that come from the input's line.
    let kept: [String]
    /// Those of the task's results.
    private let columns: [String]
    /// The first line.
    let head: [UInt8]

    package static let csv = DelimitedResults("csv", separator: UInt8(ascii: ","))
    package static let tsv = DelimitedResults("tsv", separator: 0x09)

    /// In a row's order, before those of the line.
    static func all(_ columns: [String]) -> [String] {
        ["id", "sample"] + columns + ["error", "error_message"]
    }

    private init(_ name: String, separator: UInt8) {
        (self.name, self.separator) = (name, separator)
        (kept, columns) = ([], GeneratedResult.allColumns)
        head = Self.row(Self.all(columns), separator)
    }

    private init(_ other: Self, kept: [String], columns: [String], head: [UInt8]) {
        (name, separator) = (other.name, other.separator)
        (self.kept, self.columns, self.head) = (kept, columns, head)
    }

    /// With columns for fields of the line, and for the results of other tasks.
    package func keeping(_ names: [String], columns: [String]? = nil) -> Self {
        let columns = columns ?? self.columns
        return Self(
            self, kept: names, columns: columns, head: Self.row(Self.all(columns) + names, separator))
    }

    /// The first line, whose columns between ours and the errors' are those of the task.
    package var layout: String { String(decoding: head, as: UTF8.self) }

    package func having(layout: String) -> any ResultFormat {
        let names = DelimitedRecords.cells(of: Array(layout.utf8.dropLast())[...], separator) ?? []
        let own = names.firstIndex(of: "error").map { names[..<$0] } ?? []
        return keeping(Array(names.dropFirst(own.count + 2)), columns: Array(own.dropFirst(2)))
    }

    package func problem(with job: JobSettings) -> String? {
        if let part = job.parts.first(where: { $0.task.columns(of: $0) == nil }) {
            return "has no columns for the results of task: \(part.task.rawValue)"
        }
        if let name = job.tokenSetting { return "has no column for \(name)" }
        if job.keep == .all {
            return job.fieldsOfInput == nil
                ? "names its columns before the lines are read, which may have any fields: keep: [NAME, NAME] (--keep NAME) says which; CSV, TSV and Parquet as input, or JSON Lines as output, go with keep: all"
                : nil
        }
        guard case .fields(let fields) = job.keep else { return nil }
        let all = Self.all(job.task.columns(of: job) ?? [])
        return fields.first { all.contains($0.resultName) }
            .map { "has a column \($0.resultName) of its own; keep the field under another name" }
    }

    package func makeEncoder(for run: ResultRun) -> any ResultEncoder { Encoder(format: self) }

    static func row(_ cells: [String], _ separator: UInt8) -> [UInt8] {
        Array(cells.map { quoted($0, separator) }.joined(separator: [separator])) + [0x0a]
    }

    private static func quoted(_ cell: String, _ separator: UInt8) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        let bytes = Array(cell.utf8)
        // White space at an end is taken away by some who read unquoted cells.
        let isPlain =
            !bytes.contains { $0 == quote || $0 == separator || $0 == 0x0a || $0 == 0x0d }
            && bytes.first != 0x20 && bytes.last != 0x20
        if isPlain { return bytes }
        return [quote] + bytes.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
    }

    private struct Encoder: ResultEncoder {
        let format: DelimitedResults

        mutating func begin(_ output: inout [UInt8]) { output += format.head }

        mutating func append(_ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8]) {
            var cells = [place.key.id, "\(place.key.sample)"]
            switch result.content {
            case .made(let made):
                // One of another task, of an earlier run whose results are kept, lacks some.
                cells += format.columns.map { made.cell($0) ?? "" } + ["", ""]
            case .failed(let failure):
                cells += format.columns.map { $0 == "text" ? failure.text ?? "" : "" }
                cells += [failure.error.code.rawValue, failure.error.message]
            }
            cells += format.kept.map { name in
                result.kept.first { $0.name == name }.map { DelimitedResults.text(ofJSON: $0.json) } ?? ""
            }
            output += DelimitedResults.row(cells, format.separator)
        }
    }

    /// A string as it is, nothing for null, and all else as JSON.
    static func text(ofJSON json: String) -> String {
        switch try? JSONValue(parsing: Array(json.utf8), limits: .line) {
        case .string(let text): text
        case .null: ""
        default: json
        }
    }
}
