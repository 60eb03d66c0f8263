import JSON

/// Header in a log: what the results after it depend on. The packed part of a log has one, which also says what became of
/// the input; each run that goes on after that writes its own.
///
///     {"sum":"…","phibatch_log":1,"format":"…"[,"layout":"…"],"fingerprint":[["name","value"],…][,"kept":[{"run":"…","fingerprint":[…]},…]][,"lines":[…]][,"sources":[…]][,"shard":"I/N"]
///     [,"input":{"lines":N,"content":"<crc64>"}][,"failures":{"lines":N,"allowed":"…"}][,"restarted":true][,"rows_from":["…"]][,"holder":{…}]}
package struct LogHeader: Equatable {
    static let version = 1
    static let marker: StaticString = "\"phibatch_log\":"
    private static let longest = 16 << 20

    /// The output's format, by its name, and how it is laid out.
    package var format = ResultFormats.standard.name
    package var layout = ""
    package var fingerprint: RunFingerprint
    /// Runs under other settings whose results count too.
    package var kept: [AcceptedRun] = []
    /// Schemes by which lines are known.
    package var lines: [LineScheme] = []
    /// Versions of distant inputs.
    var pins: [PinnedInput] = []
    /// The shard whose lines it has, as `I/N`; nil for all lines.
    var shard: String?
    /// The whole input, and what became of this output's lines; nil where the run has not seen all of it.
    var input: InputSeen?
    var failures: AllowedFailures?
    /// The run began again beside an output of which this log knows nothing.
    package var isRestarted = false
    /// Names of logs beside the output from whose results rows take what is the same.
    var rowsFrom: [String] = []
    /// Writer of the log; nil in the packed part.
    var holder: OutputLock.Holder?

    var line: [UInt8] {
        ChecksummedLine.make { writer in
            writer.int("phibatch_log", Self.version)
            writer.string("format", format)
            if !layout.isEmpty { writer.string("layout", layout) }
            fingerprint.write(to: &writer)
            AcceptedRun.write(kept, to: &writer)
            LineScheme.write(lines, to: &writer)
            PinnedInput.write(pins, to: &writer)
            if let shard { writer.string("shard", shard) }
            input?.write(to: &writer)
            failures?.write(to: &writer)
            if isRestarted { writer.bool("restarted", true) }
            if !rowsFrom.isEmpty {
                writer.array("rows_from") { writer in for name in rowsFrom { writer.string(name) } }
            }
            holder?.write(to: &writer)
        }
    }

    /// Returns what is known of a run whose results count.
    package func run(_ digest: String) -> RunFingerprint? {
        kept.fingerprint(of: digest, beside: fingerprint)
    }

    /// Digests of all runs whose results count.
    package var accepted: Set<String> { Set([fingerprint.digest] + kept.map(\.digest)) }
}

extension LogHeader {
    /// - Parameter line: one whose sum is known to be right.
    /// - Returns: nil if it is no header, or one of another version.
    init?(_ line: UnsafeRawBufferPointer) {
        guard line.count < Self.longest, let json = try? JSONValue(parsing: line, limits: .file),
            json.int("phibatch_log") == Self.version, let format = json.string("format"),
            let fingerprint = json["fingerprint"].flatMap(RunFingerprint.init)
        else { return nil }
        self.init(
            format: format, layout: json.string("layout") ?? "", fingerprint: fingerprint,
            kept: AcceptedRun.list(in: json), lines: LineScheme.list(in: json),
            pins: PinnedInput.list(in: json), shard: json.string("shard"), input: InputSeen(in: json),
            failures: AllowedFailures(in: json), isRestarted: json["restarted"] == .bool(true),
            rowsFrom: json["rows_from"]?.texts ?? [], holder: json["holder"].flatMap(OutputLock.Holder.init))
    }
}

/// Sum of the whole input that a run saw, whichever lines were its own. It shows that the shards of a job are of one input.
package struct InputSeen: Sendable, Equatable {
    /// Lines that count: neither blank nor passed over.
    package var lines = 0
    /// A sum of the bytes of all of them, in order.
    package private(set) var content: UInt64 = 0

    package init(lines: Int = 0, content: UInt64 = 0) { (self.lines, self.content) = (lines, content) }

    /// - Parameter line: as the input has it, before anything is made of it.
    mutating func add(_ line: InputRecord) {
        content = line.bytes.withUnsafeBytes { Checksum.crc64($0, after: content) }
        // Of a line that is too long to be read only the length is known; and each line's end counts, too.
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

/// Number of lines that may fail in a job that still counts as complete.
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
