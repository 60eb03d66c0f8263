import JSON
import OperatingSystem

/// Header in a log: what the results after it depend on. The packed part of a log has one, which also says what became of
/// the input; each run that goes on after that writes its own.
///
///     {"sum":"…","phibatch_log":2,"format":"…"[,"layout":"…"],"fingerprint":[["name","value"],…][,"kept":[{"run":"…","fingerprint":[…]},…]][,"lines":[…]][,"sources":[…]][,"shard":"I/N"]
///     [,"input":{"lines":N,"content":"<crc64>"}][,"failures":{"lines":N,"allowed":"…"}][,"restarted":true][,"rows_from":["…"]][,"holder":{…}]}
package struct LogHeader: Equatable {
    static let version = 2
    static let marker: StaticString = "\"phibatch_log\":"
    private static let longest = 16 << 20

    /// The output's format, by its name, and how it is laid out.
    package var format = ResultFormat.jsonl.name
    package var layout = ""
    package var fingerprint: RunFingerprint
    /// Runs under other settings whose results count too.
    package var kept: [AcceptedRun] = []
    /// Schemes by which lines are known.
    package var lines: [LineScheme] = []
    /// Versions of distant inputs.
    var pins: [DistantInput] = []
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
            if !kept.isEmpty { writer.objects("kept", kept) { $1.write(to: &$0) } }
            writer.objects("lines", lines) { $1.write(to: &$0) }
            if !pins.isEmpty { writer.objects("sources", pins) { $1.write(to: &$0) } }
            if let shard { writer.string("shard", shard) }
            if let input { writer.object("input", input.write) }
            if let failures { writer.object("failures", failures.write) }
            if isRestarted { writer.bool("restarted", true) }
            if !rowsFrom.isEmpty { writer.array("rows_from", rowsFrom) { $0.string($1) } }
            holder?.write(to: &writer)
        }
    }

    /// Returns what is known of a run whose results count.
    package func run(_ digest: String) -> RunFingerprint? {
        if fingerprint.digest.utf8.elementsEqual(digest.utf8) { return fingerprint }
        return kept.first { $0.digest.utf8.elementsEqual(digest.utf8) }?.fingerprint
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
        func list<Element>(_ name: String, _ element: (JSONValue) -> Element?) -> [Element] {
            guard case .array(let elements)? = json[name] else { return [] }
            return elements.compactMap(element)
        }
        self.init(
            format: format, layout: json.string("layout") ?? "", fingerprint: fingerprint,
            kept: list("kept", AcceptedRun.init), lines: list("lines", LineScheme.init),
            pins: list("sources", DistantInput.init(pin:)), shard: json.string("shard"),
            input: json["input"].flatMap(InputSeen.init),
            failures: json["failures"].flatMap(AllowedFailures.init),
            isRestarted: json["restarted"] == .bool(true),
            rowsFrom: json["rows_from"]?.texts ?? [], holder: json["holder"].flatMap(OutputLock.Holder.init))
    }
}

/// The version of a distant input, so that a run that goes on reads the same.
extension DistantInput {
    /// Without its files, and without what would let others in.
    var pin: DistantInput {
        DistantInput(address: Addresses.shown(address), version: version, files: [])
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.string("address", address)
        writer.string("version", version)
    }

    fileprivate init?(pin json: JSONValue) {
        guard let address = json.string("address"), let version = json.string("version") else { return nil }
        self.init(address: address, version: version, files: [])
    }
}

/// Run under other settings whose results count beside those of the run at hand (`--if-changed keep`).
package struct AcceptedRun: Equatable {
    package var digest: String
    /// Nil if nobody knows any more.
    package var fingerprint: RunFingerprint?
}

extension AcceptedRun {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.string("run", digest)
        fingerprint?.write(to: &writer)
    }

    fileprivate init?(_ json: JSONValue) {
        guard let digest = json.string("run"), digest.utf8.count <= RunFingerprint.maximumDigestLength else {
            return nil
        }
        self.init(digest: digest, fingerprint: json["fingerprint"].flatMap(RunFingerprint.init))
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
        let length = UInt64(line.isTooLong ? line.length : line.bytes.count).littleEndian
        content = withUnsafeBytes(of: length) { Checksum.crc64($0, after: content) }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.int("lines", lines)
        writer.hex("content", content)
    }

    fileprivate init?(_ json: JSONValue) {
        guard let lines = json.int("lines"), let content = json.hex("content") else { return nil }
        self.init(lines: lines, content: content)
    }
}

/// The lines of a complete job that failed, and how many may.
package struct AllowedFailures: Sendable, Equatable {
    package var lines: Int
    package var limit: FailureLimit

    package init(lines: Int, limit: FailureLimit) { (self.lines, self.limit) = (lines, limit) }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.int("lines", lines)
        writer.string("allowed", "\(limit)")
    }

    fileprivate init?(_ json: JSONValue) {
        guard let lines = json.int("lines"), let limit = json.string("allowed").flatMap(FailureLimit.init)
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
