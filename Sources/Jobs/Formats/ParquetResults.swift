import Errors
import JSON
import OperatingSystem

/// A Parquet file with a row a result. Its columns are the members of a JSON line, except times.
///
/// It is written as a whole once all results are there.
extension ResultFormat {
    package static let parquet = ResultFormat(
        word: "parquet", nameEnds: ["parquet"], table: ParquetColumns([:], known: [:]), ownDetail: .data,
        detail: .data,
        fit: {
            $0.table = ParquetColumns(
                $1.task.exampleRow($1.results), known: $1.typesOfKeptFields())
        },
        fault: { _, job in
            if job.output == "-" { return "is no stream; name a file as output" }
            if job.errors != nil { return "has failed lines among its rows, and no file of them (errors)" }
            guard case .fields(let fields) = job.keep else { return nil }
            return ParquetColumns.problem(withKeeping: fields.map(\.resultName), of: job.task)
        },
        makeWriter: { _ in { _, _ in } })
}

extension ParquetColumns {
    /// Returns the columns that several outputs share.
    init(joining paths: [String]) {
        let columns = Self.common(of: paths)
        self.init(
            .object(JSONObject(columns.map { ($0.name, .null) })),
            known: JSONObject(columns.map { ($0.name, .string($0.type)) }))
    }

    /// Returns the reason why a table can't keep fields of these names; nil if it can.
    /// DuckDB doesn't distinguish names by case. Fields with a result's own names are not kept.
    static func problem(withKeeping names: [String], of task: JobTask) -> String? {
        let own = KeptFields.resultNames(of: task)
        var seen = Set(own.map { $0.lowercased() })
        return names.first { !own.contains($0) && ($0.isEmpty || !seen.insert($0.lowercased()).inserted) }
            .map {
                "can't have two columns whose names differ only in case (\($0.prefix(64))); keep the field under another name"
            }
    }

    /// Returns the columns of a table with their SQL types; nil if it can't be read.
    private static func columns(of path: String) -> [(name: String, type: String)]? {
        guard let file = try? File.open(path, .read) else { return nil }
        // SQL allows no NUL in names of a struct's members.
        return (try? DuckDB.columns(of: file.descriptor))?.filter { !$0.type.utf8.contains(0) }
    }

    /// Returns the columns with the same type in all files; none if any of these is no table.
    static func common(of paths: [String]) -> [(name: String, type: String)] {
        var common: [(name: String, type: String)]?
        for path in paths {
            guard let columns = columns(of: path) else { return [] }
            common = common?.filter { one in columns.contains { $0 == one } } ?? columns
        }
        return common ?? []
    }
}

extension JobTask {
    /// Returns a row with the columns that always exist.
    func exampleRow(_ detail: ResultDetail) -> JSONValue {
        guard detail == .full || detail == .data else {
            return detail == .messages
                ? [GenerationResult.conversation: [["role": "", "content": ""]]] : ["id": ""]
        }
        let text =
            self == .generate
            ? #""text":"","finish_reason":"","usage":{"prompt_tokens":0,"completion_tokens":0},"#
            : ""
        let row = #"{"id":"",\#(text)"error":{"code":"","message":"","line":0}}"#
        return (try? JSONValue(parsing: Array(row.utf8), limits: .line)) ?? [:]
    }
}

/// Rows of a table in an unnamed file, until all are there.
final class TableDraft {
    private let file: File
    private var writer: BufferedWriter
    private var encoder: ResultEncoder
    private var columns: ParquetColumns
    /// Kept fields whose numbers are quoted, so that no digit is lost.
    private let typed: JSONObject

    /// - Parameter path: the output's.
    init(
        _ columns: ParquetColumns, of format: ResultFormat, samples: Int, beside path: String,
        in system: FileSystem
    ) throws {
        var rows = ResultFormat.jsonl
        rows.detail = format.detail
        (encoder, self.columns, typed) = (ResultEncoder(rows, samples: samples), columns, columns.known)
        file = try File.nameless(in: Paths.folder(of: path), system)
        writer = BufferedWriter(file)
    }

    func append(_ record: ResultRecord) throws {
        var (record, row) = (record, [UInt8]())
        for kept in record.result.kept where typed[kept.name] != nil {
            let json = JSONWriter.text(of: kept.value).utf8
            let quoted = JSONBytes.quotingBareWords(in: json) { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            record.result.kept[kept.name] = try JSONValue(parsing: quoted, limits: .ownLine)
        }
        encoder.append(record, to: &row)
        if row.isEmpty { return }
        try columns.add(Array(row.dropLast()))
        try writer.withBuffer { $0 += row }
    }

    /// Writes the table to an empty file.
    /// - Returns: the renamed columns and members, each as `Topic as Topic_2`.
    func finish(into draft: File) throws -> [String] {
        try writer.flush()
        let (renamed, folder, types) = (columns.secondNames, Paths.folder(of: draft.path), columns.types)
        var rows = file
        if !renamed.isEmpty {
            rows = try File.nameless(in: folder, draft.system)
            var writer = BufferedWriter(rows)
            try file.forEachLine(maximumLength: .max) { line in
                try writer.appendLine(columns.renamed(line.bytes, types))
                return true
            }
            try writer.flush()
        }
        let (commands, given) = columns.commands()
        // Opened again, so that the child doesn't share the draft's lock.
        let output = try File.open(draft.path, .readWrite, in: draft.system)
        let names = try File.nameless(in: folder, draft.system)
        try names.write(given)
        do throws(UserError) {
            try DuckDB(
                commands, given: names.descriptor, input: rows.descriptor, output: output.descriptor
            ).finish()
        } catch {
            throw UserError(.io, at: draft.path, error.text)
        }
        return renamed
    }
}
