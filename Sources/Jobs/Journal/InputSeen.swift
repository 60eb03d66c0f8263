import JSON

/// What a run saw of its whole input, whichever lines of it were its own: by this the shards of a job show that they
/// are of one input.
package struct InputSeen: Sendable, Equatable {
    /// Lines that count: neither blank nor passed over.
    package var lines = 0
    /// A sum of the bytes of all of them, in order.
    package private(set) var content: UInt64 = 0

    package init(lines: Int = 0, content: UInt64 = 0) { (self.lines, self.content) = (lines, content) }

    /// - Parameter line: as the input has it, before anything is made of it.
    mutating func add(_ line: InputRecord) {
        content = line.bytes.withUnsafeBytes { Checksum.crc64($0, after: content) }
        // Where a line is too long to be read, only its length is known; and where each ends counts, too.
        let length = UInt64(line.excessLength ?? line.bytes.count).littleEndian
        content = withUnsafeBytes(of: length) { Checksum.crc64($0, after: content) }
    }

    func write(to writer: inout JSONWriter) {
        writer.object("input") { writer in
            writer.int("lines", lines)
            writer.hex("content", content)
        }
    }

    /// - Parameter json: what has such a member.
    init?(in json: JSONValue) {
        guard let input = json["input"], let lines = input.int("lines"),
            let content = input.string("content").flatMap({ UInt64($0, radix: 16) })
        else { return nil }
        self.init(lines: lines, content: content)
    }
}

/// The lines of a complete job that failed, and how many may.
package struct AllowedFailures: Sendable, Equatable {
    package var lines: Int
    package var limit: FailureLimit

    package init(lines: Int, limit: FailureLimit) { (self.lines, self.limit) = (lines, limit) }

    func write(to writer: inout JSONWriter) {
        writer.object("failures") { writer in
            writer.int("lines", lines)
            writer.string("allowed", "\(limit)")
        }
    }

    /// - Parameter json: what has such a member.
    init?(in json: JSONValue) {
        guard let failures = json["failures"], let lines = failures.int("lines"),
            let limit = failures.string("allowed").flatMap(FailureLimit.init)
        else { return nil }
        self.init(lines: lines, limit: limit)
    }
}

/// How many lines may fail in a job that still counts as complete.
public enum FailureLimit: Sendable, Equatable {
    case count(Int)
    case percent(Double)

    package func allowed(of total: Int) -> Int {
        switch self {
        case .count(let count): return count
        case .percent(let percent): return Int((Double(total) * percent / 100).rounded(.down))
        }
    }
}
