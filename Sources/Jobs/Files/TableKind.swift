/// The kinds of files that hold tables, with the names that people know them by.
package enum TableKind: String, CaseIterable, Sendable {
    case parquet = "Parquet"
    case arrow = "Arrow"

    /// As settings have it.
    var name: String { "\(self)" }

    /// What names of files end in, without the dot.
    var nameEnds: [String] { self == .parquet ? ["parquet"] : ["arrow", "feather"] }

    /// How files begin. Arrow's are files, or streams, which is what Hugging Face's datasets are saved as.
    var magics: [[UInt8]] {
        self == .parquet ? [Array("PAR1".utf8)] : [Array("ARROW1\0\0".utf8), [0xFF, 0xFF, 0xFF, 0xFF]]
    }

    /// What a file's name says; nil if that is none of these.
    init?(name: String) {
        let name = name.lowercased()
        let found = Self.allCases.first { $0.nameEnds.contains { name.hasSuffix("." + $0) } }
        guard let found else { return nil }
        self = found
    }

    init?(start: [UInt8]) {
        guard let found = Self.allCases.first(where: { $0.magics.contains(start) }) else { return nil }
        self = found
    }

    init?(beginningOf file: File) {
        let found = Self.allCases.first { $0.magics.contains { (try? file.bytes(0..<$0.count)) == $0 } }
        guard let found else { return nil }
        self = found
    }

    /// A descriptor of Parquet with the rows of a file.
    /// - Parameter path: the file's.
    func parquet(of file: Int32, at path: String) throws(DuckDB.Fault) -> Int32 {
        self == .parquet ? file : try Arrow.parquet(of: file, at: path)
    }
}
