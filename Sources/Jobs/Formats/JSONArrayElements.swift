import Errors
import JSON

/// Elements of a JSON array, in any layout, which correspond to lines.
///
/// Elements are split by brackets and quotes, one at a time, so that memory depends only on the longest element. An
/// invalid element fails alone. If brackets or quotes don't match, the rest is not read, as in a truncated file.
///
/// An element without an id is identified by its number in the array, from 1, as several may begin on one line.
struct JSONArrayElements {
    private enum Position {
        case beforeArray, first, afterComma, afterElement, afterArray
        /// Nothing more is read.
        case over
    }

    private let source: ByteSource
    private let limit: Int
    private var place = Position.beforeArray
    private var scan = JSONSplitter()
    /// Number of bytes of a byte order mark skipped so far.
    private var markLength = 0

    init(source: ByteSource, limit: Int) { (self.source, self.limit) = (source, limit) }

    mutating func next() throws -> InputRecord? {
        while place != .over {
            guard let byte = try nextByte() else { return atEnd() }
            switch (place, byte) {
            case (.beforeArray, UInt8(ascii: "[")): try pass(to: .first)
            case (.beforeArray, _):
                let shown = (0x21...0x7E).contains(byte) ? String(Unicode.Scalar(byte)) : "byte \(byte)"
                throw UserError(
                    .badJob, at: "\(source.name):\(scan.line)",
                    "is no JSON array: it begins with \(shown) and not with [.")
            case (.first, UInt8(ascii: "]")), (.afterElement, UInt8(ascii: "]")): try pass(to: .afterArray)
            case (.afterComma, UInt8(ascii: "]")):
                try pass(to: .afterArray)
                return record("There is no element after the last comma.")
            case (.first, UInt8(ascii: ",")), (.afterComma, UInt8(ascii: ",")):
                try pass(to: .afterComma)
                return record("There is no element before the comma.")
            case (.afterElement, UInt8(ascii: ",")): try pass(to: .afterComma)
            case (.first, _), (.afterComma, _): return try element(record())
            case (.afterElement, _): return try element(record("There is no comma before the element."))
            case (.afterArray, _): return broken(record(), "something follows the end of the array.")
            case (.over, _): break
            }
        }
        return nil
    }

    private mutating func atEnd() -> InputRecord? {
        switch place {
        case .afterArray, .over: nil
        case .beforeArray:
            broken(record(), "there is no JSON array, which begins with [ and ends with ].")
        case .first, .afterComma, .afterElement: broken(record(), "the array has no end: there is no ].")
        }
    }

    // MARK: Records

    /// - Parameter fault: one that the record's bytes don't show.
    private func record(_ fault: String? = nil) -> InputRecord {
        source.lineCount += 1
        let line = scan.line
        var record = InputRecord(number: line, limit: limit) { bytes throws(LineError) in
            if let fault { throw LineError(.invalidJSON, fault) }
            return InputFormat.auto.content(of: try PromptRecord.parseObject(bytes, elementAt: line))
        }
        record.place = source.lineCount
        return record
    }

    private mutating func broken(_ record: InputRecord, _ what: Message) -> InputRecord {
        var record = record
        record.whatIsBroken = what
        place = .over
        return record
    }

    private mutating func element(_ begun: InputRecord) throws -> InputRecord {
        var record = begun
        scan.begin()
        while !scan.hasEnded,
            try source.take({ piece in
                let count = scan.read(piece)
                record.append(UnsafeRawBufferPointer(rebasing: piece[..<count]))
                return count
            })
        {}
        place = .afterElement
        if let fault = scan.fault {
            return broken(
                record,
                "the array's element that begins here is not valid JSON: \(fault) in line \(scan.line). Nothing tells where the next one begins."
            )
        }
        if scan.hasEnded || scan.isBare { return record }
        return broken(record, "the array's element that begins here has no end.")
    }

    // MARK: Bytes

    /// Peeks at the next byte that isn't white space; nil at the end.
    private mutating func nextByte() throws -> UInt8? {
        var next: UInt8?
        while next == nil,
            try source.take({ piece in
                let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
                if place == .beforeArray, markLength < mark.count, piece[0] == mark[markLength] {
                    markLength += 1
                    return 1
                }
                let count = scan.passSpace(piece)
                if count < piece.count { next = piece[count] }
                return count
            })
        {}
        return next
    }

    /// Takes a byte between elements.
    private mutating func pass(to place: Position) throws {
        _ = try source.take { _ in 1 }
        self.place = place
    }
}
