import Errors
import JSON
import OperatingSystem

/// Beginning of an input file, examined before anything costly starts.
///
/// A file that is not JSON lines at all would fail line by line; here it is one error that names its format and a
/// remedy. A single bad line among others is not examined.
struct InputLook {
    /// First bytes of the file.
    private let start: [UInt8]
    private static let length = 1 << 16

    init(start: [UInt8]) { self.start = start }

    /// - Returns: nil if the file can't be read twice, is empty or doesn't exist.
    init?(path: String) {
        guard path != "-", Files.kind(of: path) == .regular,
            let start = try? ByteSource(path: path).readAll(limit: Self.length), !start.isEmpty
        else { return nil }
        self.init(start: start)
    }

    /// Returns the reason why the file is no JSON lines, and remedies; nil if it may be.
    func problem(path: String) -> Message? {
        if let problem = packing(path: path) { return problem }
        let lines = firstLines
        // An object over several lines begins with its brace alone.
        guard
            isArray
                || lines.count > 1
                    && !lines.contains(where: { $0.first == UInt8(ascii: "{") && $0.count > 1 })
        else { return nil }
        return
            "is not JSON lines: none of the first lines is an object. --input-format json reads a JSON array, csv or tsv a table, and so does a name that ends in .json, .csv or .tsv. \"jq -c . \(path)\" makes lines of JSON objects over several lines."
    }

    /// Returns the reason why the file is no UTF-8 text; nil if it may be.
    func packing(path: String) -> Message? {
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
        return others.first { $0.starts.contains { start.starts(with: $0) } }.map { _, what, program in
            "is \(what), not lines of UTF-8 text. \"\(program) \(path) | phibatch run ... --input -\" reads it."
        }
    }

    var isArray: Bool {
        let lines = firstLines
        guard let first = lines.first else {
            return text.first { !isBlank($0) && $0 != 0x0a } == UInt8(ascii: "[")
        }
        return first.first == UInt8(ascii: "[") && !isLine(first, among: lines)
    }

    /// An array may be a bad line among good ones.
    private func isLine(_ line: [UInt8], among lines: [[UInt8]]) -> Bool {
        (try? JSONValue(parsing: line, limits: .line)) != nil
            && lines.contains { $0.first == UInt8(ascii: "{") }
    }

    private var text: ArraySlice<UInt8> {
        start.starts(with: [0xEF, 0xBB, 0xBF]) ? start.dropFirst(3) : start[...]
    }

    /// Up to five lines that are not blank and end within the bytes read, trimmed.
    private var firstLines: [[UInt8]] {
        var lines = text.split(separator: 0x0a, maxSplits: 64)
        // It may continue beyond the bytes read.
        if start.count == Self.length, start.last != 0x0a { _ = lines.popLast() }
        return Array(lines.map(trimmed).filter { !$0.isEmpty }.prefix(5))
    }

    private func trimmed(_ line: ArraySlice<UInt8>) -> [UInt8] {
        Array(line.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
