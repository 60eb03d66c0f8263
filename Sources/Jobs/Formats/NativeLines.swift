import JSON

/// phibatch's own input: one JSON object a line, in UTF-8.
///
/// Lines end in LF or CR LF; the last one may have no end. Blank lines are skipped, but counted.
package struct NativeLines: InputFormat {
    package let name = "jsonl"
    package var isJSONLines: Bool { true }

    package init() {}

    package func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor {
        LineCursor(bytes: bytes, limit: limit) { record throws(LineError) in
            LineContent(fields: try PromptRecord.parseObject(record.bytes))
        }
    }
}

/// Cursor over a file whose records are its lines that are not blank.
struct LineCursor: InputCursor {
    let bytes: InputBytes
    let limit: Int
    /// Whether any text is complete, as a last line without an end is.
    var isText = false
    let parse: (InputRecord) throws(LineError) -> LineContent

    mutating func next() throws -> InputRecord? {
        while let line = try bytes.nextLine(limit: limit) {
            var record = InputRecord(
                bytes: line.bytes, excessLength: line.length > limit ? line.length : nil,
                number: bytes.lineCount, isUnterminated: !line.isComplete && !isText)
            if record.bytes.last == 0x0D { record.bytes.removeLast() }
            if record.excessLength != nil || !record.bytes.isBlank { return record }
        }
        return nil
    }

    func content(of record: InputRecord) throws(LineError) -> LineContent { try parse(record) }
}

extension [UInt8] {
    /// Whether there are only spaces, tabs and carriage returns.
    var isBlank: Bool { allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }
}
