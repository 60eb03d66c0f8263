import Errors
import JSON

/// Rows of a Parquet file, whose columns are a line's fields. Numbers, booleans, texts, lists, structs and maps are as
/// in JSON; times, dates and intervals are text, and bytes are text with \xHH for what is not ASCII. NaN and infinities
/// are text.
///
/// A row without an id is identified by its number in the file, from 1.
package struct ParquetRows: InputFormat {
    package let hasColumns = true
    package let name = "parquet"
    package let nameEnds = ["parquet"]
    package let canGrow = false

    package init() {}

    package func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor {
        LineCursor(bytes: bytes, limit: limit) { record throws(LineError) in
            var row = record.bytes
            let words: [StaticString] = ["NaN", "Infinity"]
            if words.contains(where: { word in row.withUnsafeBytes { word.firstOffset(in: $0) != nil } }) {
                row = BareWords.quoted(row) { $0 == 0x4E || $0 == 0x49 }
            }
            return LineContent(fields: try PromptRecord.parseObject(row))
        }
    }
}

extension InputFormat {
    /// - Throws: `UserError` if a file is a table and this format is not, or the other way round.
    func check(_ source: ByteSource) throws {
        try source.look()
        guard self is ParquetRows != source.isParquet, !source.isParquet || !isJSONLines else { return }
        throw UserError(
            .badJob, at: source.name,
            source.isParquet
                ? "is Parquet, whose rows are no \(name); leave input_format out." : "is no Parquet file.")
    }
}

/// JSON values without quotes: numbers, and words such as `true`.
enum BareWords {
    /// - Parameter isMeant: whether to quote a word by its first character after the sign.
    static func quoted(_ json: some Sequence<UInt8>, where isMeant: (UInt8) -> Bool) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        var (made, word) = ([UInt8](), [UInt8]())
        var (isText, isEscaped) = (false, false)
        func end() {
            let begins = word.first { $0 != UInt8(ascii: "-") }
            made += begins.map(isMeant) == true ? [quote] + word + [quote] : word
            word = []
        }
        for byte in json {
            if isText {
                made.append(byte)
                if !isEscaped, byte == quote { isText = false }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte == quote || byte <= 0x20 || "[]{}:,".utf8.contains(byte) {
                end()
                made.append(byte)
                isText = byte == quote
            } else {
                word.append(byte)
            }
        }
        end()
        return made
    }
}
