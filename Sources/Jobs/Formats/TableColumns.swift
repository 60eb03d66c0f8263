import JSON

/// The columns of a table whose rows are JSON objects, each with a type that holds all that is in the rows.
struct TableColumns {
    /// What JSON values have in common.
    private indirect enum Kind {
        /// Null is all that came.
        case none
        case boolean, integer, double, text
        case list(Kind)
        case object([(name: String, kind: Kind)])
        /// Values of several kinds, which stay JSON.
        case json
    }

    private var columns: [(name: String, kind: Kind)] = []
    /// Types of columns in SQL that are known beforehand, by name.
    private let known: [String: String]
    /// So many bytes has the longest row.
    private(set) var longestRow = 0
    private(set) var count = 0
    private var size = 0

    /// - Parameter example: a row that says which columns there are first, whatever rows come.
    init(_ example: JSONValue, known: [String: String]) {
        self.known = known
        if case .object(let members) = example { columns = Self.merged([], Self.kinds(of: members)) }
    }

    mutating func add(_ row: [UInt8]) throws {
        guard case .object(let members) = try JSONValue(parsing: row, limits: .ownLine) else { return }
        columns = Self.merged(columns, Self.kinds(of: members))
        longestRow = max(longestRow, row.count)
        (count, size) = (count + 1, size + row.count)
    }

    private static func kinds(of members: JSONObject) -> [(name: String, kind: Kind)] {
        members.map { ($0.name, kind(of: $0.value)) }
    }

    private static func kind(of value: JSONValue) -> Kind {
        switch value {
        case .null: .none
        case .bool: .boolean
        case .int: .integer
        // One without a fraction that doesn't fit stays as it is.
        case .number(let number): number.text.contains { ".eE".contains($0) } ? .double : .json
        case .string: .text
        case .array(let values): .list(values.reduce(.none) { merged($0, kind(of: $1)) })
        case .object(let members): .object(merged([], kinds(of: members)))
        }
    }

    private static func merged(_ a: Kind, _ b: Kind) -> Kind {
        switch (a, b) {
        case (.none, let other), (let other, .none): other
        case (.boolean, .boolean), (.integer, .integer), (.double, .double), (.text, .text): a
        case (.integer, .double), (.double, .integer): .double
        case (.list(let a), .list(let b)): .list(merged(a, b))
        case (.object(let a), .object(let b)): .object(merged(a, b))
        default: .json
        }
    }

    private static func merged(
        _ a: [(name: String, kind: Kind)], _ b: [(name: String, kind: Kind)]
    ) -> [(name: String, kind: Kind)] {
        var all = a
        for (place, (name, kind)) in b.enumerated() {
            // Most often it stands where it did before.
            let isThere = place < all.count && all[place].name.utf8.elementsEqual(name.utf8)
            if let found = isThere ? place : all.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) })
            {
                all[found].kind = merged(all[found].kind, kind)
            } else {
                all.append((name, kind))
            }
        }
        return all
    }

    // MARK: In SQL

    private static func name(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
    private static func text(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }

    /// Names that differ only in case are one to DuckDB, which also knows none that is empty.
    private static func areDistinct(_ names: [String]) -> Bool {
        Set(names.map { Array($0.lowercased().utf8) }).count == names.count && !names.contains("")
    }

    private static func type(_ kind: Kind) -> String {
        switch kind {
        case .none, .text: return "VARCHAR"
        case .boolean: return "BOOLEAN"
        case .integer: return "BIGINT"
        case .double: return "DOUBLE"
        case .json: return "JSON"
        case .list(let element): return type(element) + "[]"
        case .object(let members):
            guard !members.isEmpty, members.count <= 256, areDistinct(members.map(\.name)) else {
                return "JSON"
            }
            return "STRUCT(" + members.map { "\(name($0.name)) \(type($0.kind))" }.joined(separator: ", ")
                + ")"
        }
    }

    /// The command that makes Parquet of the rows.
    /// - Parameters:
    ///   - rows: where they are read from, and `output` where the table goes, as DuckDB names files.
    /// - Returns: nil if there is no such table.
    func command(rows: String, output: String) -> String? {
        let later = known.keys.filter { name in !columns.contains { $0.name == name } }.sorted()
        let types =
            columns.map { column in
                let type = known[column.name] ?? Self.type(column.kind)
                return (column.name, type.utf8.count > 8_000 ? "JSON" : type)
            } + later.map { ($0, known[$0] ?? "VARCHAR") }
        guard Self.areDistinct(types.map(\.0)) else { return nil }
        func row(_ change: (String) -> String) -> String {
            "STRUCT(" + types.map { "\(Self.name($0.0)) \(change($0.1))" }.joined(separator: ", ") + ")"
        }
        // Bytes stand in JSON as text, of which a cast makes them again.
        let read = row { $0.replacing(/(^| )BLOB(?=[,)\[]|$)/) { "\($0.output.1)VARCHAR" } }
        // What does not fit a type would be null.
        let checks = known.keys.sorted().map { name in
            let pointer = "/" + name.replacing("~", with: "~0").replacing("/", with: "~1")
            return
                "CASE WHEN r.\(Self.name(name)) IS NULL AND coalesce(json_type(json, \(Self.text(pointer))), 'NULL') <> 'NULL' "
                + "THEN error('a kept value does not have the type of its column') ELSE true END"
        }
        // The longer the rows, the fewer are in memory at once: 32 MiB of them, up to DuckDB's own number.
        let group = max(2048, min(122_880, (32 << 20) / max(1, size / max(1, count)) / 2048 * 2048))
        return """
            COPY (SELECT unnest(r) FROM (SELECT json, from_json(json, \(Self.text(JSONWriter.text(of: .string(read)))))::\(row { $0 }) AS r \
            FROM read_ndjson_objects(\(rows), maximum_object_size=\(max(1 << 24, longestRow + 1024)))) \
            WHERE \((["true"] + checks).joined(separator: " AND "))) \
            TO \(output) (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE \(group), USE_TMP_FILE false);
            """
    }
}
