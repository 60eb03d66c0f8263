import Errors
import JSON

/// A JSON array, in any layout, whose elements correspond to lines.
///
/// Elements are split by brackets and quotes, one at a time, so that memory depends only on the longest element. An
/// invalid element fails alone. If brackets or quotes don't match, the rest is not read, as in a truncated file.
///
/// An element without an id is identified by its number in the array, from 1, as several may begin on one line.
struct JSONArrayCursor: InputCursor {
    enum Position {
        case beforeArray, first, afterComma, afterElement, afterArray
        /// Nothing more is read.
        case over
    }

    let bytes: InputBytes
    let limit: Int
    var place = Position.beforeArray
    var scan = JSONElementScan()
    /// Number of bytes of a byte order mark skipped so far.
    var markLength = 0
    var count = 0
    /// A fault of the last record that its bytes don't show.
    var fault: LineError?

    mutating func next() throws -> InputRecord? {
        while place != .over {
            guard let byte = try nextByte() else { return try atEnd() }
            switch (place, byte) {
            case (.beforeArray, UInt8(ascii: "[")):
                try pass()
                place = .first
            case (.beforeArray, _):
                throw UserError(
                    .badJob, at: "\(bytes.name):\(scan.line)",
                    "is no JSON array: it begins with \(Self.shown(byte)) and not with [.")
            case (.first, UInt8(ascii: "]")), (.afterElement, UInt8(ascii: "]")):
                try pass()
                place = .afterArray
            case (.afterComma, UInt8(ascii: "]")):
                try pass()
                place = .afterArray
                return missing("There is no element after the last comma.")
            case (.first, UInt8(ascii: ",")), (.afterComma, UInt8(ascii: ",")):
                let record = missing("There is no element before the comma.")
                try pass()
                place = .afterComma
                return record
            case (.afterElement, UInt8(ascii: ",")):
                try pass()
                place = .afterComma
            case (.first, _), (.afterComma, _): return try element()
            case (.afterElement, _):
                return try element(LineError(.invalidJSON, "There is no comma before the element."))
            case (.afterArray, _): return broken("something follows the end of the array.")
            case (.over, _): break
            }
        }
        return nil
    }

    private mutating func atEnd() throws -> InputRecord? {
        switch place {
        case .afterArray, .over: return nil
        case .beforeArray: return broken("there is no JSON array, which begins with [ and ends with ].")
        case .first, .afterComma, .afterElement: return broken("the array has no end: there is no ].")
        }
    }

    // MARK: Records

    private mutating func makeRecord(_ fault: LineError? = nil) -> InputRecord {
        count += 1
        bytes.lineCount = count
        self.fault = fault
        return InputRecord(bytes: [], number: scan.line, place: count)
    }

    private mutating func missing(_ what: String) -> InputRecord {
        makeRecord(LineError(.invalidJSON, what))
    }

    private mutating func broken(_ what: Message) -> InputRecord {
        var record = makeRecord()
        breakOff(&record, what)
        return record
    }

    private mutating func breakOff(_ record: inout InputRecord, _ what: Message) {
        (record.isBroken, record.whatIsBroken) = (true, what)
        place = .over
    }

    private mutating func element(_ fault: LineError? = nil) throws -> InputRecord {
        var record = makeRecord(fault)
        scan.begin()
        var length = 0
        var state = JSONElementScan.Position.within
        while state == .within,
            try bytes.take({ piece in
                let (count, now) = scan.read(piece)
                state = now
                length += count
                if length <= limit {
                    // Growth by doubling would hold a long element twice.
                    if length > 1 << 20, record.bytes.capacity < length {
                        record.bytes.reserveCapacity(limit)
                    }
                    record.bytes += UnsafeRawBufferPointer(rebasing: piece[..<count])
                } else {
                    record.bytes = []
                }
                return count
            })
        {}
        if length > limit { record.excessLength = length }
        place = .afterElement
        switch state {
        case .ended: break
        case .within where scan.isBare: break
        case .within: breakOff(&record, "the array's element that begins here has no end.")
        case .wrong(let what):
            breakOff(
                &record,
                "the array's element that begins here is not valid JSON: \(what) in line \(scan.line). Nothing tells where the next one begins."
            )
        }
        return record
    }

    // MARK: Bytes

    /// Peeks at the next byte that isn't white space; nil at the end.
    private mutating func nextByte() throws -> UInt8? {
        var next: UInt8?
        while next == nil,
            try bytes.take({ piece in
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
    private func pass() throws { _ = try bytes.take { _ in 1 } }

    // MARK: The last record

    func content(of record: InputRecord) throws(LineError) -> LineContent {
        if let fault { throw fault }
        let value = try PromptRecord.parseObject(record.bytes, elementAt: record.number)
        return InputFormat.requestsOrNative.content(of: value)
    }

    private static func shown(_ byte: UInt8) -> String {
        (0x21...0x7E).contains(byte) ? String(Unicode.Scalar(byte)) : "byte \(byte)"
    }
}
