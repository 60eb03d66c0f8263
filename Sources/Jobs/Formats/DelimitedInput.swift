import Errors
import JSON
import OperatingSystem

/// CSV by RFC 4180, and TSV with the same quotes: the first record names the columns, which are a line's fields. A
/// quoted field may contain separators, line feeds, and doubled quotes.
///
/// Fields are strings. `LineReading` converts those that are settings of a line.
struct DelimitedInput {
    /// Separators of fields, with their words in a job.
    static let separators: [(word: String, byte: UInt8)] = [
        (",", UInt8(ascii: ",")), (";", UInt8(ascii: ";")), ("tab", 0x09), ("|", UInt8(ascii: "|")),
    ]

    private let source: ByteSource
    private let limit: Int
    private let hasQuotes: Bool
    private var separator: UInt8
    /// Whether the first record shows the separator: a comma if there is any, else the most frequent one.
    private let isDetected: Bool
    /// The first record and its names; nil before it is read.
    private var head: (bytes: [UInt8], names: [String])?

    /// - Parameter separator: nil detects it.
    init(_ source: ByteSource, limit: Int, separator: UInt8?, hasQuotes: Bool) {
        (self.source, self.limit, self.hasQuotes) = (source, limit, hasQuotes)
        (self.separator, isDetected) = (separator ?? UInt8(ascii: ","), separator == nil)
    }

    mutating func next() throws -> InputRecord? {
        while var record = try record() {
            if record.isBlank { continue }
            guard let head else {
                if isDetected { separator = Self.separator(in: record.bytes) }
                head = (record.bytes, try names(in: record))
                continue
            }
            if record.isTooLong { return record }
            record.parse = { [self] bytes throws(LineError) in
                try content(bytes.dropFirst(head.bytes.count + 1), head.names)
            }
            // The names are part of each record's content: renaming columns changes the records.
            record.bytes = head.bytes + [0x0a] + record.bytes
            return record
        }
        return nil
    }

    private static func separator(in head: [UInt8]) -> UInt8 {
        // Each second piece is between quotes.
        let pieces = head.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        let plain = stride(from: 0, to: pieces.count, by: 2).flatMap { pieces[$0] }
        let comma = UInt8(ascii: ",")
        if plain.contains(comma) { return comma }
        func count(_ byte: UInt8) -> Int { plain.count { $0 == byte } }
        return separators.map(\.byte).max { count($0) < count($1) } ?? comma
    }

    /// - Throws: `UserError` if the first record can't name the columns, which makes the file useless.
    private func names(in first: InputRecord) throws(UserError) -> [String] {
        func wrong(_ what: Message) -> UserError {
            UserError(.badJob, at: "\(source.name):\(first.number)", what)
        }
        let names: [String]
        do throws(LineError) {
            if first.isTooLong { _ = try first.content() }
            names = try cells(of: first.bytes[...])
        } catch {
            throw wrong("the first record, which names the columns, is wrong: \(error.message)")
        }
        var places = JSONObject()
        for (place, name) in names.enumerated() where !places.insert(.int(place + 1), for: name) {
            throw wrong(
                "the columns \(places[name]?.integer ?? 0) and \(place + 1) have one name, \"\(name.prefix(64))\"; each column must have its own."
            )
        }
        return names
    }

    /// Reads lines until no quote is open.
    private func record() throws -> InputRecord? {
        guard var record = try source.nextLine(limit: limit) else { return nil }
        var scan = CellScan(separator, hasQuotes: hasQuotes, keepsCells: false)
        scan.read(record.bytes)
        while scan.isOpen, let more = try source.nextLine(limit: limit) {
            scan.read(more.bytes)
            record.append(line: more)
        }
        record.removeReturn()
        if scan.isOpen { record.whatIsBroken = "a quoted field has no end." }
        return record
    }

    private func content(_ record: ArraySlice<UInt8>, _ names: [String]) throws(LineError) -> LineContent {
        let cells = try cells(of: record)
        guard cells.count == names.count else {
            throw LineError(
                .badField,
                "The record has \(counted(cells.count, "field")), but the first record of the file names \(names.count)."
            )
        }
        let fields = JSONObject(zip(names, cells).map { ($0, .string($1)) })
        return LineContent(fields: .object(fields), isOfCells: true)
    }

    private func cells(of record: ArraySlice<UInt8>) throws(LineError) -> [String] {
        guard UTF8Bytes.areValid(Array(record)) else {
            throw LineError(.invalidUTF8, "The record is not valid UTF-8.")
        }
        let scan = CellScan(of: record, separator, hasQuotes: hasQuotes)
        guard !scan.hasReturn else {
            throw LineError(
                .badField,
                "The record has a carriage return (CR) outside of quotes: a field that holds one must be quoted, and lines must end in LF or CR LF."
            )
        }
        guard let cells = scan.cells else {
            throw LineError(
                .badField,
                "A quoted field of the record has no end, or text after it. If quotes are text in this file, say `quotes: none`."
            )
        }
        return cells
    }
}

/// Splits a record into cells. A quote opens a cell only at its beginning.
struct CellScan {
    private enum QuoteState { case start, plain, quoted, afterQuote }
    private let separator: UInt8
    private let hasQuotes: Bool
    private let keepsCells: Bool
    /// Cells that have ended; nil if a quoted one has no end, or text after its end.
    private(set) var cells: [String]? = []
    private var cell: [UInt8] = []
    private var place = QuoteState.start
    /// Whether there is a carriage return outside quotes.
    private(set) var hasReturn = false

    /// - Parameters:
    ///   - hasQuotes: whether a quote opens a cell; else it is text.
    ///   - keepsCells: whether `cells` is wanted.
    init(_ separator: UInt8, hasQuotes: Bool, keepsCells: Bool) {
        (self.separator, self.hasQuotes, self.keepsCells) = (separator, hasQuotes, keepsCells)
    }

    /// Scans a whole record.
    init(of record: some Sequence<UInt8>, _ separator: UInt8, hasQuotes: Bool = true) {
        self.init(separator, hasQuotes: hasQuotes, keepsCells: true)
        read(record)
        if isOpen { cells = nil }
        endCell()
    }

    var isOpen: Bool { place == .quoted }

    mutating func read(_ bytes: some Sequence<UInt8>) {
        let quote = UInt8(ascii: "\"")
        for byte in bytes {
            if byte == 0x0D, place != .quoted { hasReturn = true }
            switch place {
            case .quoted where byte == quote:
                place = .afterQuote
                continue
            case .quoted: break
            case .start where byte == quote && hasQuotes:
                place = .quoted
                continue
            case .afterQuote where byte == quote: place = .quoted
            case _ where byte == separator:
                place = .start
                endCell()
                continue
            default:
                if place == .afterQuote { cells = nil }
                place = .plain
            }
            if keepsCells { cell.append(byte) }
        }
    }

    private mutating func endCell() {
        guard keepsCells else { return }
        cells?.append(String(decoding: cell, as: UTF8.self))
        cell.removeAll(keepingCapacity: true)
    }
}
