import JSON

/// phibatch's own input: one JSON object a line, in UTF-8.
///
/// Lines end in LF or CR LF; the last one may have no end. Blank lines are skipped, but counted.
package struct NativeLines: InputFormat {
    package let name = "jsonl"
    package var isJSONLines: Bool { true }

    package init() {}

    package func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor {
        Cursor(bytes: bytes, limit: limit)
    }

    private struct Cursor: InputCursor {
        let bytes: InputBytes
        let limit: Int

        mutating func next() throws -> InputRecord? {
            while let line = try bytes.nextLine(limit: limit) {
                var record = InputRecord(
                    bytes: line.bytes, excessLength: line.length > limit ? line.length : nil,
                    number: bytes.lineCount, isUnterminated: !line.isComplete)
                if record.bytes.last == 0x0D { record.bytes.removeLast() }
                if record.excessLength != nil || record.bytes.contains(where: { !isBlank($0) }) {
                    return record
                }
            }
            return nil
        }

        func content(of record: InputRecord) throws(LineError) -> LineContent {
            LineContent(fields: try PromptRecord.parseObject(record.bytes))
        }

        private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
    }
}
