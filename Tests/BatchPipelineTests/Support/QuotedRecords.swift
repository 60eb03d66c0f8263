import Foundations

@testable import BatchPipeline

/// A second input format: fields with commas between them under a line of names; a field in quotes may hold commas and
/// line feeds. So a record may be several lines, and says something only by its file's first one.
struct QuotedRecords: InputFormat {
    let name = "quoted"

    func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor {
        Cursor(bytes: bytes, limit: limit)
    }

    private struct Cursor: InputCursor {
        let bytes: InputBytes
        let limit: Int
        var names: [String]?

        mutating func next() throws -> InputRecord? {
            if names == nil {
                guard let first = try record() else { return nil }
                names = Self.fields(first.bytes)
            }
            while let record = try record() {
                if record.excessLength != nil || !record.bytes.isEmpty { return record }
            }
            return nil
        }

        /// As many lines as it takes until no quote is open.
        private func record() throws -> InputRecord? {
            guard var line = try bytes.nextLine(limit: limit) else { return nil }
            var record = InputRecord(bytes: line.bytes, number: bytes.lineCount)
            var length = line.length
            var quotes = line.bytes.count { $0 == UInt8(ascii: "\"") }
            while quotes % 2 == 1, let more = try bytes.nextLine(limit: limit) {
                line = more
                length += 1 + more.length
                quotes += more.bytes.count { $0 == UInt8(ascii: "\"") }
                record.bytes += [0x0a] + more.bytes
            }
            record.isUnterminated = !line.isComplete
            if length > limit { (record.bytes, record.excessLength) = ([], length) }
            return record
        }

        func fields(of record: InputRecord) throws(LineError) -> JSONValue {
            let fields = Self.fields(record.bytes)
            guard let names, fields.count == names.count else {
                throw LineError(.badField, "The record has \(fields.count) fields.")
            }
            return .object(JSONObject(zip(names, fields).map { ($0, .string($1)) }))
        }

        private static func fields(_ bytes: [UInt8]) -> [String] {
            var fields: [[UInt8]] = [[]]
            var isQuoted = false
            for byte in bytes {
                if byte == UInt8(ascii: "\"") {
                    isQuoted.toggle()
                } else if byte == UInt8(ascii: ","), !isQuoted {
                    fields.append([])
                } else {
                    fields[fields.count - 1].append(byte)
                }
            }
            return isQuoted ? [] : fields.map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
