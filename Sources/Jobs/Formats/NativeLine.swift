import JSON

/// What a line of a native output says, and where in it.
///
/// Its members may have been edited: they stand as they are, so they need not be a result's, as long as the line is
/// JSON and begins and ends as ours do.
package struct NativeLine {
    var recorded: RecordedResult
    /// From the comma after the head to the end of `run`.
    var rest: Range<Int>
    /// What stands between the braces of `timing`; empty if there is none.
    var timing: Range<Int>
    var sum: UInt64
}

extension NativeLine {
    /// - Parameter line: without its line feed.
    init?(_ line: UnsafeRawBufferPointer) {
        guard line.starts(with: Self.start.bytes), line.last == UInt8(ascii: "}") else { return nil }
        var scan = Scan()
        guard (try? JSONScanner.scan(line, limits: .ownLine, { try scan.read(&$0) })) != nil,
            let made = scan.line(of: line)
        else { return nil }
        self = made
    }

    /// The line's result, if its members make one.
    package static func result(in line: UnsafeRawBufferPointer) -> GenerationResult? {
        ResultCoding.result(in: line, but: ["id", "index", "sample", "line_hash", "run", "sum"])
    }

    static func withoutLineFeed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        bytes.last == 0x0a ? UnsafeRawBufferPointer(rebasing: bytes.dropLast()) : bytes
    }

    /// How each line begins.
    static let start: StaticString = "{\"id\":"

    /// Goes through a line's members in their order: head, a result's, tail.
    private struct Scan {
        private enum Place { case start, index, head, first, members, tail, sum, end }
        private var place = Place.start
        private var key = WorkKey(id: "", contentHash: 0)
        private var index = 0
        private var run: String?
        private var isFailed = false
        private var completionTokens = 0
        private var headEnd = 0
        private var runEnd = 0
        private var timing: Range<Int>?
        private var sum: UInt64?

        mutating func read(_ scanner: inout JSONScanner) throws {
            try scanner.object { scanner, name in
                switch place {
                case .start where name.spells("id"):
                    key.id = try scanner.string()
                    place = .index
                case .index where name.spells("index"):
                    index = try scanner.count()
                    place = .head
                    headEnd = scanner.position
                case .head where name.spells("sample"):
                    key.sample = try scanner.count()
                    place = .first
                    headEnd = scanner.position
                case .head, .first, .members: try member(name, &scanner)
                case .tail where name.spells("run"):
                    run = try scanner.string()
                    place = .sum
                    runEnd = scanner.position
                case .sum where name.spells("sum"):
                    sum = try scanner.hex()
                    place = .end
                default: throw scanner.fault("no place for this member")
                }
            }
        }

        private mutating func member(
            _ name: UnsafeBufferPointer<UInt8>, _ scanner: inout JSONScanner
        ) throws {
            let isFirst = place != .members
            place = .members
            if name.spells("line_hash") {
                key.contentHash = try scanner.hex()
                place = .tail
            } else if name.spells("usage") {
                try takeUsage(&scanner)
            } else if name.spells("timing") {
                guard try scanner.peek() == .object else { return try scanner.skip() }
                let start = scanner.position
                try scanner.skip()
                timing = start + 1..<scanner.position - 1
            } else {
                if isFirst, name.spells("error") { isFailed = true }
                try scanner.skip()
            }
        }

        /// An edited line may say anything here.
        private mutating func takeUsage(_ scanner: inout JSONScanner) throws {
            guard try scanner.peek() == .object else { return try scanner.skip() }
            try scanner.object { scanner, name in
                guard name.spells("completion_tokens"), try scanner.peek() == .number else {
                    return try scanner.skip()
                }
                completionTokens = Int(min(max(0, try scanner.number()), Double(Int32.max)))
            }
        }

        /// Nil unless head and tail are, byte for byte, as we write them.
        func line(of bytes: UnsafeRawBufferPointer) -> NativeLine? {
            guard place == .end, let run, let sum,
                run.utf8.count <= RunFingerprint.maximumDigestLength
            else { return nil }
            var tail = Array(",\"sum\":\"".utf8)
            JSONBytes.appendHex(sum, to: &tail)
            tail += "\"}".utf8
            guard bytes[runEnd...].elementsEqual(tail), bytes[headEnd] == UInt8(ascii: ",") else {
                return nil
            }
            return NativeLine(
                recorded: RecordedResult(
                    key: key, index: index, run: run, isFailed: isFailed, completionTokens: completionTokens),
                rest: headEnd..<runEnd, timing: timing ?? headEnd..<headEnd, sum: sum)
        }
    }
}

extension File {
    /// Whether its first line is a result of a native output.
    func beginsWithResult() throws -> Bool {
        var isResult = false
        try LineScanner(file: self).forEachLine { line in
            isResult = line.isWhole && NativeLine(line.bytes) != nil
            return false
        }
        return isResult
    }
}

extension StaticString {
    fileprivate var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}
