import FoundationShim
import JSON

/// Columns of a table whose rows are JSON objects, each with a type that fits all values.
struct ParquetColumns: Sendable {
    /// Common type of JSON values.
    private indirect enum ColumnType: Sendable {
        /// No row has it, or only null.
        case absent, none
        case boolean, integer, double, text
        case list(ColumnType)
        case object([(name: String, kind: ColumnType)])
        /// Values of several types, which stay JSON.
        case json
    }

    private var columns: [(name: String, kind: ColumnType)] = []
    /// SQL types of columns known in advance.
    let known: JSONObject
    /// Bytes of the longest row.
    private(set) var longestRow = 0
    private(set) var count = 0
    private var size = 0

    /// - Parameter example: a row with the first columns, which exist whatever rows follow.
    init(_ example: JSONValue, known: JSONObject) {
        self.known = known
        if case .object(let members) = example {
            columns = members.map { ($0.name, $0.value == .null ? .absent : Self.kind(of: $0.value)) }
        }
    }

    mutating func add(_ row: [UInt8]) throws {
        guard case .object(let members) = try JSONValue(parsing: row, limits: .ownLine) else { return }
        columns = Self.merged(columns, Self.kinds(of: members))
        longestRow = max(longestRow, row.count)
        (count, size) = (count + 1, size + row.count)
    }

    private static func kinds(of members: JSONObject) -> [(name: String, kind: ColumnType)] {
        members.map { ($0.name, kind(of: $0.value)) }
    }

    private static func kind(of value: JSONValue) -> ColumnType {
        switch value {
        case .null: .none
        case .bool: .boolean
        case .int: .integer
        // A number without a fraction that doesn't fit stays JSON.
        case .number(let number): number.text.contains { ".eE".contains($0) } ? .double : .json
        case .string: .text
        case .array(let values): .list(values.reduce(.none) { merged($0, kind(of: $1)) })
        case .object(let members): .object(merged([], kinds(of: members)))
        }
    }

    private static func merged(_ a: ColumnType, _ b: ColumnType) -> ColumnType {
        switch (a, b) {
        case (.absent, let other), (let other, .absent), (.none, let other), (let other, .none): other
        case (.boolean, .boolean), (.integer, .integer), (.double, .double), (.text, .text): a
        case (.integer, .double), (.double, .integer): .double
        case (.list(let a), .list(let b)): .list(merged(a, b))
        case (.object(let a), .object(let b)): .object(merged(a, b))
        default: .json
        }
    }

    private static func merged(
        _ a: [(name: String, kind: ColumnType)], _ b: [(name: String, kind: ColumnType)]
    ) -> [(name: String, kind: ColumnType)] {
        var all = a
        for (place, (name, kind)) in b.enumerated() {
            // Mostly it is at the same position as before.
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

    /// Returns names that DuckDB distinguishes: an empty one, or one that differs only in case, gets a number.
    private static func names(of members: [(name: String, kind: ColumnType)]) -> [String] {
        func folded(_ name: String) -> [UInt8] { Array(name.lowercased().utf8) }
        func isThere(_ kind: ColumnType) -> Bool { if case .absent = kind { false } else { true } }
        var seen = Set<[UInt8]>()
        var taken = Set(members.filter { isThere($0.kind) }.map { folded($0.name) })
        return members.map { member in
            if !member.name.isEmpty, seen.insert(folded(member.name)).inserted { return member.name }
            var number = 2
            while !taken.insert(folded("\(member.name)_\(number)")).inserted { number += 1 }
            return "\(member.name)_\(number)"
        }
    }

    /// Columns, and members of structs in them, that are renamed.
    var secondNames: [String] { Self.secondNames(.object(columns), .object(types), "") }

    private static func secondNames(_ kind: ColumnType, _ type: JSONValue, _ path: String) -> [String] {
        switch (kind, type) {
        case (.list(let kind), .array(let types)): secondNames(kind, types[0], path)
        case (.object(let members), .object(let types)):
            zip(members, names(of: members)).flatMap { member, name in
                (member.name.utf8.elementsEqual(name.utf8) ? [] : ["\(path)\(member.name) as \(name)"])
                    + secondNames(member.kind, types[name] ?? "", "\(path)\(name).")
            }
        default: []
        }
    }

    /// Returns a row with the new names.
    mutating func renamed(_ row: UnsafeRawBufferPointer, _ types: JSONObject) throws -> [UInt8] {
        let row = try JSONValue(parsing: row, limits: .ownLine)
        let bytes = Array(JSONWriter.text(of: Self.renamed(row, .object(columns), .object(types))).utf8)
        longestRow = max(longestRow, bytes.count)
        return bytes
    }

    private static func renamed(_ value: JSONValue, _ kind: ColumnType, _ type: JSONValue) -> JSONValue {
        switch (value, kind, type) {
        case (.array(let values), .list(let kind), .array(let types)):
            return .array(values.map { renamed($0, kind, types[0]) })
        case (.object(let values), .object(let members), .object(let types)):
            let pairs = zip(members, names(of: members)).compactMap { member, name in
                values[member.name].map { (name, renamed($0, member.kind, types[name] ?? "")) }
            }
            return .object(JSONObject(pairs))
        default: return value
        }
    }

    /// Returns the type for `from_json`: an SQL name, a list of one type, or a struct's object.
    private static func type(_ kind: ColumnType) -> JSONValue {
        switch kind {
        case .absent, .none, .text: return "VARCHAR"
        case .boolean: return "BOOLEAN"
        case .integer: return "BIGINT"
        case .double: return "DOUBLE"
        case .json: return "JSON"
        case .list(let element): return [type(element)]
        case .object(let members):
            if members.isEmpty || members.count > 256 { return "JSON" }
            return .object(JSONObject(zip(names(of: members), members).map { ($0, type($1.kind)) }))
        }
    }

    /// Bytes are text in JSON, which a cast converts back. A member called BLOB is followed by a space.
    private static func asRead(_ type: String) -> String {
        let words = /"[^"]*"|'[^']*'|[A-Z]+ ?/.matchingSemantics(.unicodeScalar)
        return type.replacing(words) { $0.output == "BLOB" ? "VARCHAR" : $0.output }
    }

    /// Types of all columns, by their names in the table.
    var types: JSONObject {
        var types = JSONObject()
        for (name, column) in zip(Self.names(of: columns), columns) {
            let own = Self.type(column.kind)
            let type = Self.secondNames(column.kind, own, "").isEmpty ? known[name] ?? own : own
            types[name] = JSONWriter.text(of: type).utf8.count > 8_000 ? "JSON" : type
        }
        for member in known where types[member.name] == nil { types[member.name] = member.value }
        return types
    }

    /// Returns the commands that write Parquet, with their names and types.
    func commands() -> (SQL, given: [UInt8]) {
        let types = types
        var (read, pointers, checks): (JSONObject, [JSONValue], SQL) = (types, [], "[true")
        for (index, name) in types.names.enumerated() {
            guard known[name] != nil, case .string(let type)? = types[name] else { continue }
            read[name] = .string(Self.asRead(type))
            let pointer = name.replacing(each: "~", with: "~0").replacing(each: "/", with: "~1")
            pointers.append(.string("/" + pointer))
            checks = "\(checks), fits(json, \(pointers.count), struct_extract_at(r, \(index + 1)))"
        }
        // Longer rows are kept in smaller groups: 32 MiB of them, up to DuckDB's own number. A value that does not fit
        // its type would become null, and is an error instead.
        let group = max(2048, min(122_880, (32 << 20) / max(1, size / max(1, count)) / 2048 * 2048))
        let commands: SQL = """
            SET VARIABLE given = (SELECT content FROM read_text('/dev/fd/3')); \
            SET VARIABLE pointers = from_json(getvariable('given')->'pointers', '["VARCHAR"]'); \
            CREATE TEMP MACRO fits(json, place, read) AS CASE WHEN read IS NULL \
            AND coalesce(json_type(json, getvariable('pointers')[place]), 'NULL') <> 'NULL' \
            THEN error('a kept value does not have the type of its column') ELSE true END; \
            COPY (SELECT unnest(r) FROM (SELECT json, cast_to_type(from_json(json, getvariable('given')->'read'), \
            from_json('{}', getvariable('given')->'types')) AS r \
            FROM read_ndjson_objects('/dev/fd/0', maximum_object_size=\(max(1 << 24, longestRow + 1024)))) \
            WHERE list_bool_and(\(checks)])) \
            TO '/dev/fd/1' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE \(group), USE_TMP_FILE false);
            """
        let given: JSONValue = [
            "read": .object(read), "types": .object(types), "pointers": .array(pointers),
        ]
        return (commands, Array(JSONWriter.text(of: given).utf8))
    }
}
