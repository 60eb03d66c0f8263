import JSON

/// The columns of a table whose rows are JSON objects, each with a type that holds all that is in the rows.
struct TableColumns {
    /// What JSON values have in common.
    private indirect enum Kind {
        /// No row has it, or null is all that came.
        case absent, none
        case boolean, integer, double, text
        case list(Kind)
        case object([(name: String, kind: Kind)])
        /// Values of several kinds, which stay JSON.
        case json
    }

    private var columns: [(name: String, kind: Kind)] = []
    /// Types of columns in SQL that are known beforehand.
    private let known: JSONObject
    /// So many bytes has the longest row.
    private(set) var longestRow = 0
    private(set) var count = 0
    private var size = 0

    /// - Parameter example: a row that says which columns there are first, whatever rows come.
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
        case (.absent, let other), (let other, .absent), (.none, let other), (let other, .none): other
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

    /// Names as DuckDB can tell them apart: one that is empty, or differs from an earlier one only in case, gets a number.
    private static func names(of members: [(name: String, kind: Kind)]) -> [String] {
        func folded(_ name: String) -> [UInt8] { Array(name.lowercased().utf8) }
        func isThere(_ kind: Kind) -> Bool { if case .absent = kind { false } else { true } }
        var seen = Set<[UInt8]>()
        var taken = Set(members.filter { isThere($0.kind) }.map { folded($0.name) })
        return members.map { member in
            if !member.name.isEmpty, seen.insert(folded(member.name)).inserted { return member.name }
            var number = 2
            while !taken.insert(folded("\(member.name)_\(number)")).inserted { number += 1 }
            return "\(member.name)_\(number)"
        }
    }

    /// Columns, and members of structs in them, that have second names.
    var secondNames: [String] { Self.secondNames(.object(columns), .object(types), "") }

    private static func secondNames(_ kind: Kind, _ type: JSONValue, _ path: String) -> [String] {
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

    /// A row with second names.
    mutating func renamed(_ row: UnsafeRawBufferPointer, _ types: JSONObject) throws -> [UInt8] {
        let row = try JSONValue(parsing: row, limits: .ownLine)
        let bytes = Array(JSONWriter.text(of: Self.renamed(row, .object(columns), .object(types))).utf8)
        longestRow = max(longestRow, bytes.count)
        return bytes
    }

    private static func renamed(_ value: JSONValue, _ kind: Kind, _ type: JSONValue) -> JSONValue {
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

    /// The type as `from_json` takes it: a name in SQL, a list of one type, or an object of a struct's.
    private static func type(_ kind: Kind) -> JSONValue {
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

    /// Bytes stand in JSON as text, of which a cast makes them again.
    private static func asRead(_ type: String) -> String {
        let bytes = Array(type.utf8)
        var (made, word, quote) = ([UInt8](), [UInt8](), UInt8?.none)
        for byte in bytes + [0] {
            if quote == nil, UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte {
                word.append(byte)
                continue
            }
            // A member of that name has a space after it.
            let isType = word.elementsEqual("BLOB".utf8) && byte != UInt8(ascii: " ")
            made += isType ? Array("VARCHAR".utf8) : word
            word = []
            made.append(byte)
            if quote == byte {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
        }
        return String(decoding: made.dropLast(), as: UTF8.self)
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

    /// The commands that make Parquet of the rows, and the names and types that these are given.
    func commands() -> (SQL, given: [UInt8]) {
        let types = types
        var (read, pointers, checks): (JSONObject, [JSONValue], SQL) = (types, [], "[true")
        for (index, name) in types.names.enumerated() {
            guard known[name] != nil, case .string(let type)? = types[name] else { continue }
            read[name] = .string(Self.asRead(type))
            let pointer = name.utf8.reduce(into: [UInt8(ascii: "/")]) { pointer, byte in
                switch byte {
                case UInt8(ascii: "~"): pointer += "~0".utf8
                case UInt8(ascii: "/"): pointer += "~1".utf8
                default: pointer.append(byte)
                }
            }
            pointers.append(.string(String(decoding: pointer, as: UTF8.self)))
            checks = "\(checks), fits(json, \(pointers.count), struct_extract_at(r, \(index + 1)))"
        }
        // The longer the rows, the fewer are in memory at once: 32 MiB of them, up to DuckDB's own number. What does not fit a
        // type would be null, and is an error instead.
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
