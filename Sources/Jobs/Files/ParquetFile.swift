import Errors

/// Identification of Parquet files, and of Arrow files, which are refused.
enum ParquetFile {
    /// First and last bytes of a file.
    static let magic = Array("PAR1".utf8)
    /// First bytes of Arrow files, and of streams.
    static let arrowMagics = [Array("ARROW1\0\0".utf8), [0xFF, 0xFF, 0xFF, 0xFF]]
    static let arrowAdvice: Message =
        "is Arrow, which is neither read nor written. Convert to Parquet: pyarrow.parquet.write_table(pyarrow.feather.read_table(FILE), \"FILE.parquet\")."

    static func isNamed(_ name: String) -> Bool { name.lowercased().hasSuffix(".parquet") }

    static func isArrow(named name: String) -> Bool {
        let name = name.lowercased()
        return name.hasSuffix(".arrow") || name.hasSuffix(".feather")
    }
}
