import BatchEngine
import Faults
import JSON
import OperatingSystem

/// CSV as RFC 4180 has it, and TSV with the same quotes: the first record names the columns, which are a line's fields.
/// A quoted field may hold separators, line feeds, and quotes that are doubled.
///
/// Fields are strings; those that are settings of a line, such as `max_tokens`, are numbers, or not set if empty.
package struct DelimitedRecords: InputFormat {
    package let name: String
    package var nameEnds: [String] { [name] }
    let separator: UInt8

    package static let csv = DelimitedRecords(name: "csv", separator: UInt8(ascii: ","))
    package static let tsv = DelimitedRecords(name: "tsv", separator: 0x09)

    /// Where a record ends is only known from all of it.
    package var countingLimit: Int { InputReader.defaultLimit }

    package func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor {
        Cursor(bytes: bytes, limit: limit, separator: separator)
    }

    private struct Cursor: InputCursor {
        let bytes: InputBytes
        let limit: Int
        let separator: UInt8
        /// The first record, as it stands, and its names; nil before it is read.
        private var head: (bytes: [UInt8], names: [String])?

        init(bytes: InputBytes, limit: Int, separator: UInt8) {
            self.bytes = bytes
            self.limit = limit
            self.separator = separator
        }

        mutating func next() throws -> InputRecord? {
            if head == nil {
                guard let first = try record() else { return nil }
                head = (first.bytes, try names(in: first))
            }
            while var record = try record() {
                if record.excessLength != nil { return record }
                guard record.bytes.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else {
                    continue
                }
                // Its names are part of what a record says: renamed columns make other records.
                record.bytes = (head?.bytes ?? []) + [0x0a] + record.bytes
                return record
            }
            return nil
        }

        /// - Throws: `JobError` if the first record can't name the columns: no other record would mean anything.
        private func names(in first: InputRecord) throws(JobError) -> [String] {
            func wrong(_ what: Message) -> JobError {
                JobError(.badJob, at: "\(bytes.name):\(first.number)", what)
            }
            if let length = first.excessLength {
                throw wrong(
                    "the first record, which names the columns, has \(length) bytes; at most \(limit) are read."
                )
            }
            if first.isBroken {
                throw wrong("the first record, which names the columns, has a quoted field without an end.")
            }
            guard UTF8Check.isValid(first.bytes) else {
                throw wrong("the first record, which names the columns, is not valid UTF-8.")
            }
            guard !hasLoneReturn(first.bytes[...]) else {
                throw wrong(
                    "the first record, which names the columns, has a carriage return (CR) within; lines must end in LF or CR LF, and a field that holds a CR must be quoted."
                )
            }
            guard let names = cells(first.bytes[...]) else {
                throw wrong("the first record, which names the columns, has text after a quoted field.")
            }
            var seen: Set<[UInt8]> = []
            for (place, name) in names.enumerated() where !seen.insert(Array(name.utf8)).inserted {
                let earlier = (names.firstIndex { Paths.areEqual($0, name) } ?? 0) + 1
                throw wrong(
                    "the columns \(earlier) and \(place + 1) have one name, \"\(name.prefix(64))\"; each column must have its own."
                )
            }
            return names
        }

        /// As many lines as it takes until no quote is open.
        private func record() throws -> InputRecord? {
            guard var line = try bytes.nextLine(limit: limit) else { return nil }
            var record = InputRecord(bytes: line.bytes, number: bytes.lineCount)
            var length = line.length
            var scan = QuoteScan(separator: separator)
            scan.read(line.bytes)
            while scan.isOpen, let more = try bytes.nextLine(limit: limit) {
                line = more
                length += 1 + more.length
                scan.read(more.bytes)
                if length <= limit { record.bytes += [0x0a] + more.bytes } else { record.bytes = [] }
            }
            record.isUnterminated = !line.isComplete
            record.isBroken = scan.isOpen
            if record.bytes.last == 0x0D { record.bytes.removeLast() }
            if length > limit { (record.bytes, record.excessLength) = ([], length) }
            return record
        }

        func fields(of record: InputRecord) throws(LineError) -> JSONValue {
            guard UTF8Check.isValid(record.bytes) else {
                throw LineError(.invalidUTF8, "The record is not valid UTF-8.")
            }
            let own = record.bytes.dropFirst((head?.bytes.count ?? 0) + 1)
            guard !hasLoneReturn(own) else {
                throw LineError(
                    .badField,
                    "The record has a carriage return (CR) outside of quotes: a field that holds one must be quoted, and lines must end in LF or CR LF."
                )
            }
            guard let head, let cells = cells(own) else {
                throw LineError(.badField, "A quoted field of the record has no end, or text after it.")
            }
            guard cells.count == head.names.count else {
                throw LineError(
                    .badField,
                    "The record has \(counted(cells.count, "field")), but the first record of the file names \(head.names.count)."
                )
            }
            return .object(
                JSONObject(zip(head.names, cells).map { ($0, Self.value($1, of: $0)) }))
        }

        private static let numbers = Set(
            RequestSetting.all(in: .line).filter(\.isNumber).map(\.name))

        private static func value(_ text: String, of name: String) -> JSONValue {
            guard numbers.contains(name) else { return .string(text) }
            if text.isEmpty { return .null }
            // As JSON first, so that it keeps its text.
            if let json = try? JSONValue(parsing: Array(text.utf8), limits: .line), json.number != nil {
                return json
            }
            if let number = Int(text) { return .int(number) }
            guard let number = Double(text), number.isFinite else { return .string(text) }
            return .double(number)
        }

        /// Whether there is a carriage return that neither stands in quotes nor ends the record.
        private func hasLoneReturn(_ record: ArraySlice<UInt8>) -> Bool {
            guard record.contains(0x0D) else { return false }
            var scan = QuoteScan(separator: separator)
            scan.read(record)
            return scan.hasReturn
        }

        private func cells(_ record: ArraySlice<UInt8>) -> [String]? {
            DelimitedRecords.cells(of: record, separator)
        }
    }

    /// Nil if a quoted field has no end, or something but a separator after it.
    static func cells(of record: ArraySlice<UInt8>, _ separator: UInt8) -> [String]? {
        let quote = UInt8(ascii: "\"")
        var cells: [String] = []
        var index = record.startIndex
        while true {
            var cell: [UInt8] = []
            if index < record.endIndex, record[index] == quote {
                index += 1
                while true {
                    guard index < record.endIndex else { return nil }
                    if record[index] == quote {
                        guard index + 1 < record.endIndex, record[index + 1] == quote else { break }
                        index += 1
                    }
                    cell.append(record[index])
                    index += 1
                }
                index += 1
                guard index == record.endIndex || record[index] == separator else { return nil }
            } else {
                while index < record.endIndex, record[index] != separator {
                    cell.append(record[index])
                    index += 1
                }
            }
            cells.append(String(decoding: cell, as: UTF8.self))
            if index == record.endIndex { return cells }
            index += 1
        }
    }
}

/// Goes through the bytes of a record to see what stands in quotes, by the same rule as its cells are cut: a quote opens
/// a field only at the field's beginning.
private struct QuoteScan {
    private enum Place { case start, plain, quoted, afterQuote }
    let separator: UInt8
    private var place = Place.start
    /// A carriage return outside of quotes.
    private(set) var hasReturn = false

    init(separator: UInt8) { self.separator = separator }

    var isOpen: Bool { place == .quoted }

    mutating func read(_ bytes: some Sequence<UInt8>) {
        let quote = UInt8(ascii: "\"")
        for byte in bytes {
            if byte == 0x0D, place != .quoted { hasReturn = true }
            switch place {
            case .quoted: if byte == quote { place = .afterQuote }
            case .start where byte == quote, .afterQuote where byte == quote: place = .quoted
            default: place = byte == separator ? .start : .plain
            }
        }
    }
}
