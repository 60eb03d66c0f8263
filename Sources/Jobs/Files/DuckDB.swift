import Errors
import FoundationShim
import JSON
import OperatingSystem

/// The program `duckdb`, which reads and writes Parquet. Files are its input and output, so that no file name is ever
/// part of a command.
final class DuckDB {
    private let child: ChildProgram

    /// Settings of the child. One thread takes the least memory and is fast enough. Times have no local zone. Only the
    /// child's own descriptors and no extensions are accessible, which no command can change.
    private static let settings: SQL = """
        SET threads=1; SET TimeZone='UTC'; SET temp_directory=''; SET autoinstall_known_extensions=false; \
        SET autoload_known_extensions=false; \
        SET allowed_paths=['/dev/fd/0', '/dev/fd/1', '/dev/fd/3', '/dev/stdout']; \
        SET enable_external_access=false; SET lock_configuration=true;
        """

    /// - Parameters:
    ///   - commands: the input is the file '/dev/fd/0' there, and the output '/dev/fd/1'.
    ///   - given: a file with names and the like for the commands, '/dev/fd/3'.
    ///   - output: nil for reading by `read`.
    init(_ commands: SQL, given: Int32? = nil, input: Int32, output: Int32? = nil) throws(UserError) {
        let program = try Self.program()
        let text: SQL = "\(Self.settings) \(commands)"
        do throws(SystemError) {
            child = try ChildProgram(
                program, ["-no-init", "-batch", "-bail", "-c", text.text], input: input, output: output,
                third: given)
        } catch {
            throw UserError(.io, "needs the program \(program), which can't be started: \(error.reason).")
        }
    }

    /// Returns the path of the program.
    /// - Throws: `UserError` with the way to get it.
    static func program() throws(UserError) -> String {
        if let named = ProgramCall.path(inVariable: "PHIBATCH_DUCKDB") {
            guard Files.kind(of: named) == .regular else {
                throw UserError(
                    .io, "needs the program duckdb, and \(named), which PHIBATCH_DUCKDB names, is not there."
                )
            }
            return named
        }
        // Beside the Python package that this program is part of: SITE/phibatch/bin/phibatch.
        var sites = [ProgramCall.executable.map { Paths.folder(of: Paths.folder(of: Paths.folder(of: $0))) }]
        let found = ChildProgram.find("duckdb")
        if let found {
            // A Python package's script runs the program in its folder.
            sites += Files.matching("\(Paths.folder(of: found))/../lib/python*/site-packages").map { $0 }
        }
        let packaged = sites.compactMap { $0.map { "\($0)/duckdb_cli/duckdb" } }
        if let path = packaged.first(where: { Files.kind(of: $0) == .regular }) ?? found { return path }
        throw UserError(
            .io,
            "needs the program duckdb, which is not on PATH. Install it (pip install duckdb-cli, or as https://duckdb.org/install says), or name it by PHIBATCH_DUCKDB."
        )
    }

    /// - Returns: number of bytes of its output in the buffer; 0 only after a successful end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(UserError) -> Int {
        do throws(SystemError) {
            let count = try child.read(into: buffer)
            if count > 0 || buffer.isEmpty { return count }
        } catch {
            throw UserError(.io, "can't be read from duckdb: \(error.reason).")
        }
        try finish()
        return 0
    }

    /// Waits until everything is done.
    func finish() throws(UserError) {
        switch child.wait() {
        case .exit(0): return
        case .exit(let status):
            let said = child.said().split(at: "\n").map(String.init).first { $0.contains("Error") }
            throw UserError(
                .io, "is refused by duckdb, which ended with \(Int(status)): \(said ?? "without a message").")
        case .signal(let number):
            throw UserError(
                .io,
                "could not be brought to its end: duckdb was ended by signal \(Int(number)). Run the same command again; finished results are kept."
            )
        }
    }

    /// Reads all of its output.
    func readAll() throws(UserError) -> [UInt8] {
        let all: [UInt8]
        do { all = try child.readAll() } catch {
            throw UserError(.io, "can't be read from duckdb: \(error.reason).")
        }
        try finish()
        return all
    }

    // MARK: Parquet

    private static let input: SQL = "read_parquet('/dev/fd/0', hive_partitioning=false)"

    /// Returns the rows of a Parquet file as JSON objects, one a line, in order.
    /// - Parameter wanted: columns to read; nil for all.
    static func rows(of file: Int32, only wanted: Set<String>? = nil) throws(UserError) -> DuckDB {
        var selected: SQL = "*"
        if let wanted {
            selected = ""
            for (index, column) in try columns(of: file).enumerated() where wanted.contains(column.name) {
                selected = selected.text.isEmpty ? "#\(index + 1)" : "\(selected), #\(index + 1)"
            }
            // At least one column is needed; nobody reads this one.
            if selected.text.isEmpty { selected = "NULL AS id" }
        }
        // DuckDB silently renames a name that differs from another only in case, and rounds decimals with too many
        // digits, so both are refused. Paths of columns are lists of names with commas between them.
        return try DuckDB(
            """
            CREATE TEMP TABLE named AS SELECT error('it has `' || string_agg(path, '` and `' ORDER BY path) || '`; names of \
            columns and of members must differ in more than case, and not be empty') FROM (SELECT DISTINCT \
            array_to_string(parts[:n], '.') AS path, parts[n] AS name, CASE WHEN n = len(parts) THEN column_id END FROM \
            (SELECT column_id, string_split(path_in_schema, ', ') AS parts, unnest(range(1, len(parts) + 1)) AS n \
            FROM parquet_metadata('/dev/fd/0') WHERE row_group_id = 0)) \
            WHERE name IN (SELECT name FROM parquet_schema('/dev/fd/0')) \
            GROUP BY translate(path, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') \
            HAVING count(*) > 1 OR min(name) = ''; \
            CREATE TEMP TABLE exact AS SELECT error('it has decimals of ' || precision || ' digits (' || name || '), and at most \
            38 are read') FROM parquet_schema('/dev/fd/0') WHERE precision > 38; \
            COPY (SELECT \(selected) FROM \(input)) TO '/dev/stdout' (FORMAT json);
            """, input: file)
    }

    /// Returns the names of a Parquet file's columns and their SQL types.
    static func columns(of file: Int32) throws(UserError) -> [(name: String, type: String)] {
        let text = try DuckDB(
            """
            COPY (SELECT column_name AS name, column_type AS type FROM (DESCRIBE FROM \(input))) TO '/dev/stdout' (FORMAT json);
            """, input: file
        ).readAll()
        return text.split(separator: 0x0A).compactMap { line in
            let json = try? JSONValue(parsing: Array(line), limits: .ownLine)
            guard let name = json?.string("name"), let type = json?.string("type") else { return nil }
            return (name, type)
        }
    }
}

/// Commands for DuckDB. Only numbers can be interpolated: names and texts are passed as JSON, so that no quote can
/// break out.
struct SQL: ExpressibleByStringInterpolation, Sendable {
    fileprivate let text: String

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: StaticString) { text += "\(literal)" }
        mutating func appendInterpolation(_ number: Int) { text += String(number) }
        mutating func appendInterpolation(_ part: SQL) { text += part.text }
    }

    init(stringLiteral value: StaticString) { text = "\(value)" }
    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
}
