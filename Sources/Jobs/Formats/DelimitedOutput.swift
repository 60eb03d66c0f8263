import JSON

/// CSV or TSV with a header line: one row a result, quoted as in RFC 4180, ending in a line feed. A failed line has its
/// error in the last two of our columns, and of the answer's columns only the text, if an answer broke its constraint.
extension ResultFormat {
    package static let csv = delimited("csv", by: UInt8(ascii: ","))
    package static let tsv = delimited("tsv", by: 0x09)

    private static func delimited(_ name: String, by separator: UInt8) -> Self {
        Self(
            word: name, nameEnds: [name], hasColumns: true,
            fit: { format, job in
                var kept: [String] = []
                if case .fields(let fields) = job.keep { kept = fields.map(\.resultName) }
                if job.keep == .all {
                    let own = format.ownNames(of: job)
                    kept = (job.fieldsOfInput ?? []).filter { !own.contains($0) }
                }
                let columns = job.task.columns(of: job) ?? []
                format.layout = header(columns, kept, separator)
            },
            fault: { columnsProblem(with: $1) },
            makeWriter: { format in
                let names =
                    CellScan(of: format.layout.utf8.dropLast(), separator).cells ?? []
                let own = names.firstIndex(of: "error").map { names[..<$0] } ?? []
                let (columns, kept) = (own.dropFirst(2), names.dropFirst(own.count + 2))
                return { encoder, output in
                    let cells = cells(encoder.record, columns, kept)
                    output += row(cells, separator)
                }
            })
    }

    /// Returns our columns in order, before those of the line.
    /// - Parameter columns: of the task's results.
    static func allColumns(_ columns: [String]) -> [String] {
        ["id", "sample"] + columns + ["error", "error_message"]
    }

    /// Returns the header line.
    /// - Parameters:
    ///   - columns: of the task's results.
    ///   - kept: names of the columns from the input's line.
    static func header(_ columns: [String], _ kept: [String], _ separator: UInt8) -> String {
        String(decoding: row(allColumns(columns) + kept, separator), as: UTF8.self)
    }

    private static func columnsProblem(with job: JobSettings) -> String? {
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
        let all = allColumns(job.task.columns(of: job) ?? [])
        return fields.first { all.contains($0.resultName) }
            .map { "has its own column \($0.resultName); keep the field under another name" }
    }

    private static func row(_ cells: [String], _ separator: UInt8) -> [UInt8] {
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

    private static func cells(
        _ record: ResultRecord, _ columns: ArraySlice<String>, _ kept: ArraySlice<String>
    ) -> [String] {
        let result = record.result
        let error = result.error
        return [record.key.id, "\(record.key.sample)"]
            + columns.map { column in
                if let error { return column == "text" ? error.string("text") ?? "" : "" }
                // A kept result of an earlier run with another task lacks some cells.
                return cell(column, of: result) ?? ""
            } + ["code", "message"].map { error?.string($0) ?? "" }
            + kept.map { result.kept[$0].map(text) ?? "" }
    }

    /// Returns the cell of a column; nil if a result has none. A step's column is called `NAME.` followed by its own name.
    private static func cell(_ column: String, of result: GenerationResult) -> String? {
        switch column {
        case "prompt_tokens", "completion_tokens": return result.own["usage"]?[column].map(text)
        case "probability":
            return result.own["probabilities"]?.number(result.text ?? "").map { "\($0)" }
        default:
            if let value = result.own[column] { return text(of: value) }
            let parts = column.split(at: ".", max: 1)
            let step = result.steps?.first { parts.count == 2 && $0.name == parts[0] }
            return step.flatMap { cell(String(parts[1]), of: GenerationResult(step: $0.value)) }
        }
    }

    /// Returns a string as it is, nothing for null, and everything else as JSON.
    private static func text(of value: JSONValue) -> String {
        value == .null ? "" : value.plainText
    }
}
