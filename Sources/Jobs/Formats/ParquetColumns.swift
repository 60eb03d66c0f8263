import FoundationShim
import JSON

/// Columns of a table whose rows are JSON objects, each with a type that fits all values.
struct ParquetColumns: Sendable {
    /// Types by name: an SQL name, which is `JSON` for values of several types; a list of one type; an object of
    /// types; null if the rows have only null; `absent` if no row has it.
    private var columns = JSONObject()
    private static let absent: JSONValue = false
    /// SQL types of columns known in advance.
    let known: JSONObject
    /// Bytes of the longest row.
    private(set) var longestRow = 0
    private(set) var count = 0
    private var size = 0

    /// - Parameter example: a row with the first columns, which exist whatever rows follow.
    init(_ example: JSONValue, known: JSONObject) {
        self.known = known
        guard case .object(let members) = example else { return }
        for member in members {
            columns[member.name] = member.value == .null ? Self.absent : Self.kind(of: member.value)
        }
    }

    mutating func add(_ row: [UInt8]) throws {
        guard case .object(let members) = try JSONValue(parsing: row, limits: .ownLine) else { return }
        columns = Self.merged(columns, Self.kinds(of: members))
        longestRow = max(longestRow, row.count)
        (count, size) = (count + 1, size + row.count)
    }

    private static func kinds(of members: JSONObject) -> JSONObject {
        JSONObject(distinct: members.map { JSONMember(name: $0.name, value: kind(of: $0.value)) })
    }

    private static func kind(of value: JSONValue) -> JSONValue {
        switch value {
        case .null: .null
        case .bool: "BOOLEAN"
        case .int: "BIGINT"
        // A number without a fraction that doesn't fit stays JSON.
        case .number(let number): number.text.contains { ".eE".contains($0) } ? "DOUBLE" : "JSON"
        case .string: "VARCHAR"
        case .array(let values): [values.reduce(.null) { merged($0, kind(of: $1)) }]
        case .object(let members): .object(kinds(of: members))
        }
    }

    private static func merged(_ a: JSONValue, _ b: JSONValue) -> JSONValue {
        switch (a, b) {
        case (absent, let other), (let other, absent), (.null, let other), (let other, .null): other
        case ("BIGINT", "DOUBLE"), ("DOUBLE", "BIGINT"): "DOUBLE"
        case (.array(let a), .array(let b)): [merged(a[0], b[0])]
        case (.object(let a), .object(let b)): .object(merged(a, b))
        default: a == b ? a : "JSON"
        }
    }

    private static func merged(_ a: JSONObject, _ b: JSONObject) -> JSONObject {
        b.reduce(into: a) { $0[$1.name] = merged($0[$1.name] ?? absent, $1.value) }
    }

    // MARK: In SQL

    /// Returns names that DuckDB distinguishes: an empty one, or one that differs only in case, gets a number.
    private static func names(of members: JSONObject) -> [String] {
        func folded(_ name: String) -> [UInt8] { Array(name.lowercased().utf8) }
        var seen = Set<[UInt8]>()
        var taken = Set(members.filter { $0.value != absent }.map { folded($0.name) })
        return members.map { member in
            if !member.name.isEmpty, seen.insert(folded(member.name)).inserted { return member.name }
            var number = 2
            while !taken.insert(folded("\(member.name)_\(number)")).inserted { number += 1 }
            return "\(member.name)_\(number)"
        }
    }

    /// Columns, and members of structs in them, that are renamed.
    var secondNames: [String] { Self.secondNames(.object(columns), .object(types), "") }

    private static func secondNames(_ kind: JSONValue, _ type: JSONValue, _ path: String) -> [String] {
        switch (kind, type) {
        case (.array(let kinds), .array(let types)): secondNames(kinds[0], types[0], path)
        case (.object(let members), .object(let types)):
            zip(members, names(of: members)).flatMap { member, name in
                (member.name.utf8.elementsEqual(name.utf8) ? [] : ["\(path)\(member.name) as \(name)"])
                    + secondNames(member.value, types[name] ?? "", "\(path)\(name).")
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

    private static func renamed(_ value: JSONValue, _ kind: JSONValue, _ type: JSONValue) -> JSONValue {
        switch (value, kind, type) {
        case (.array(let values), .array(let kinds), .array(let types)):
            return .array(values.map { renamed($0, kinds[0], types[0]) })
        case (.object(let values), .object(let members), .object(let types)):
            let pairs = zip(members, names(of: members)).compactMap { member, name in
                values[member.name].map { (name, renamed($0, member.value, types[name] ?? "")) }
            }
            return .object(JSONObject(pairs))
        default: return value
        }
    }

    /// Returns the type for `from_json`: an SQL name, a list of one type, or a struct's object.
    private static func type(_ kind: JSONValue) -> JSONValue {
        switch kind {
        case .array(let kinds): return [type(kinds[0])]
        case .object(let members):
            if members.isEmpty || members.count > 256 { return "JSON" }
            return .object(JSONObject(zip(names(of: members), members).map { ($0, type($1.value)) }))
        default: return kind == .null || kind == absent ? "VARCHAR" : kind
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
            let own = Self.type(column.value)
            let type = Self.secondNames(column.value, own, "").isEmpty ? known[name] ?? own : own
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
