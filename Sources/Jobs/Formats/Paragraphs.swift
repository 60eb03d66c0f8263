import JSON

/// Plain text in which a prompt may go over several lines: it ends where a line is blank.
struct Paragraphs: InputFormat {
    let name = "paragraphs"

    func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor {
        Cursor(bytes: bytes, limit: limit, lines: PlainLines().makeCursor(over: bytes, limit: limit))
    }

    private struct Cursor: InputCursor {
        let bytes: InputBytes
        let limit: Int
        let lines: any InputCursor

        mutating func next() throws -> InputRecord? {
            var (record, length): (InputRecord?, Int) = (nil, 0)
            while var line = try bytes.nextLine(limit: limit) {
                if line.bytes.last == 0x0D { line.bytes.removeLast() }
                if line.length <= limit, line.bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) {
                    if record != nil { break }
                    continue
                }
                length += line.length + (record == nil ? 0 : 1)
                if record == nil {
                    record = InputRecord(bytes: line.bytes, number: bytes.lineCount)
                } else if length <= limit {
                    record?.bytes += [0x0A] + line.bytes
                }
                if length > limit {
                    record?.bytes = []
                    record?.excessLength = length
                }
            }
            return record
        }

        func fields(of record: InputRecord) throws(LineError) -> JSONValue {
            try lines.fields(of: record)
        }
    }
}
