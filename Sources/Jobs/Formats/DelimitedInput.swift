import Errors
import JSON
import OperatingSystem

/// CSV by RFC 4180, and TSV with the same quotes: the first record names the columns, which are a line's fields. A
/// quoted field may contain separators, line feeds, and doubled quotes.
///
/// Fields are strings. `LineReading` converts those that are settings of a line.
struct DelimitedInput: InputCursor {
    /// Separators of fields, with their words in a job.
    static let separators: [(word: String, byte: UInt8)] = [
        (",", UInt8(ascii: ",")), (";", UInt8(ascii: ";")), ("tab", 0x09), ("|", UInt8(ascii: "|")),
    ]

    private let bytes: InputBytes
    private let limit: Int
    private let hasQuotes: Bool
    /// Nil until the first record shows it: a comma if there is any, else the most frequent separator.
    private var known: UInt8?
    private var separator: UInt8 { known ?? UInt8(ascii: ",") }
    /// The first record and its names; nil before it is read.
    private var head: (bytes: [UInt8], names: [String])?

    init(_ bytes: InputBytes, limit: Int, _ cells: CellFormat) {
        (self.bytes, self.limit) = (bytes, limit)
        (known, hasQuotes) = (cells.separator, cells.quotes == .double)
    }

    mutating func next() throws -> InputRecord? {
        while var record = try record() {
            if record.excessLength == nil, record.bytes.isBlank { continue }
            if head == nil {
                known = known ?? Self.separator(in: record.bytes)
                head = (record.bytes, try names(in: record))
                continue
            }
            if record.excessLength != nil { return record }
            // The names are part of each record's content: renaming columns changes the records.
            record.bytes = (head?.bytes ?? []) + [0x0a] + record.bytes
            return record
        }
        return nil
    }

    private static func separator(in head: [UInt8]) -> UInt8 {
        var (counts, isQuoted) = ([UInt8: Int](), false)
        for byte in head {
            if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if !isQuoted {
                counts[byte, default: 0] += 1
            }
        }
        let comma = UInt8(ascii: ",")
        let others = separators.map(\.byte).filter { counts[$0, default: 0] > 0 }
        if counts[comma] != nil { return comma }
        return others.max { counts[$0, default: 0] < counts[$1, default: 0] } ?? comma
    }

    /// - Throws: `UserError` if the first record can't name the columns, which makes the file useless.
    private func names(in first: InputRecord) throws(UserError) -> [String] {
        func wrong(_ what: Message) -> UserError {
            UserError(.badJob, at: "\(bytes.name):\(first.number)", what)
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

    /// Reads lines until no quote is open.
    private func record() throws -> InputRecord? {
        guard var line = try bytes.nextLine(limit: limit) else { return nil }
        var record = InputRecord(bytes: line.bytes, number: bytes.lineCount)
        var length = line.length
        var scan = QuoteScan(separator: hasQuotes ? separator : nil)
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

    func content(of record: InputRecord) throws(LineError) -> LineContent {
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
            throw LineError(
                .badField,
                "A quoted field of the record has no end, or text after it. If quotes are text in this file, say `quotes: none`."
            )
        }
        guard cells.count == head.names.count else {
            throw LineError(
                .badField,
                "The record has \(counted(cells.count, "field")), but the first record of the file names \(head.names.count)."
            )
        }
        let fields = JSONObject(zip(head.names, cells).map { ($0, .string($1)) })
        return LineContent(fields: .object(fields), isOfCells: true)
    }

    /// Whether a carriage return is neither in quotes nor at the end of the record.
    private func hasLoneReturn(_ record: ArraySlice<UInt8>) -> Bool {
        guard record.contains(0x0D) else { return false }
        var scan = QuoteScan(separator: hasQuotes ? separator : nil)
        scan.read(record)
        return scan.hasReturn
    }

    private func cells(_ record: ArraySlice<UInt8>) -> [String]? {
        guard hasQuotes else {
            return record.split(separator: separator, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
        }
        return Self.cells(of: record, separator)
    }

    /// Nil if a quoted field has no end, or text after its end.
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

/// Finds which bytes of a record are in quotes, like the splitting into cells: a quote opens a field only at its
/// beginning.
private struct QuoteScan {
    private enum QuoteState { case start, plain, quoted, afterQuote }
    /// Nil if quotes are text.
    let separator: UInt8?
    private var place = QuoteState.start
    /// Whether there is a carriage return outside quotes.
    private(set) var hasReturn = false

    init(separator: UInt8?) { self.separator = separator }

    var isOpen: Bool { place == .quoted }

    mutating func read(_ bytes: some Sequence<UInt8>) {
        let quote = UInt8(ascii: "\"")
        for byte in bytes {
            if byte == 0x0D, place != .quoted { hasReturn = true }
            switch place {
            case .quoted: if byte == quote { place = .afterQuote }
            case .start where byte == quote && separator != nil, .afterQuote where byte == quote:
                place = .quoted
            default: place = byte == separator ? .start : .plain
            }
        }
    }
}
