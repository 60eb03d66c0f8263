import JSON

/// The journal's first line: what its results depend on.
package struct JournalHeader {
    static let version = 1
    package var fingerprint: RunFingerprint
    /// Whether results in an output that was there before count (an edited input), or the run began again
    /// beside it (`--restart`).
    package var usesOutput: Bool
    /// Runs under other settings, whose results count too.
    var kept: [AcceptedRun] = []
    /// By which schemes lines are known in the journal.
    package var lines: [LineScheme] = []
    /// What of the input lies elsewhere, as it is read.
    var pins: [PinnedInput] = []

    /// The names of files beside the output, or of it, from whose results rows take what is the same.
    var earlierRows: [String] = []

    /// The digests of all runs whose results count. (Digests are ASCII, or nobody's.)
    package var accepted: Set<String> { Set([fingerprint.digest] + kept.map(\.digest)) }

    /// What is known of a run whose results count.
    package func run(_ digest: String) -> RunFingerprint? {
        kept.fingerprint(of: digest, beside: fingerprint)
    }

    package enum Reading {
        case valid(JournalHeader)
        /// Written by another version of phibatch.
        case otherVersion(Int)
        case damaged
    }

    private static let longest = 16 << 20

    static func read(_ line: UnsafeRawBufferPointer) -> Reading {
        guard line.count < longest, ChecksummedLine.isValid(line),
            let content = try? JSONValue(parsing: line, limits: .file),
            let version = content.int("phibatch_journal"),
            case .bool(let usesOutput)? = content["uses_output"],
            let fingerprint = content["fingerprint"].flatMap(RunFingerprint.init)
        else { return .damaged }
        guard version == Self.version else { return .otherVersion(version) }
        return .valid(
            JournalHeader(
                fingerprint: fingerprint, usesOutput: usesOutput, kept: AcceptedRun.list(in: content),
                lines: LineScheme.list(in: content), pins: PinnedInput.list(in: content),
                earlierRows: content["earlier_rows"]?.texts ?? []))
    }

    /// The sealed line with its line feed.
    func line() -> [UInt8] {
        ChecksummedLine.make { writer in
            writer.int("phibatch_journal", Self.version)
            writer.bool("uses_output", usesOutput)
            fingerprint.write(to: &writer)
            AcceptedRun.write(kept, to: &writer)
            LineScheme.write(lines, to: &writer)
            PinnedInput.write(pins, to: &writer)
            if !earlierRows.isEmpty {
                writer.array("earlier_rows") { writer in for name in earlierRows { writer.string(name) } }
            }
        } + [0x0a]
    }
}

/// A run under other settings, whose results count beside those of the run at hand (`--if-changed keep`).
package struct AcceptedRun: Equatable {
    package var digest: String
    /// Nil if nobody knows any more.
    package var fingerprint: RunFingerprint?

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.string("run", digest)
            if let fingerprint { fingerprint.write(to: &writer) }
        }
    }
}

extension AcceptedRun {
    init?(_ json: JSONValue) {
        guard let digest = json.string("run"), digest.utf8.count <= RunFingerprint.maximumDigestLength else {
            return nil
        }
        self.init(digest: digest, fingerprint: json["fingerprint"].flatMap(RunFingerprint.init))
    }

    /// A member `kept` of a list of them; nothing if there are none.
    static func write(_ runs: [AcceptedRun], to writer: inout JSONWriter) {
        guard !runs.isEmpty else { return }
        writer.array("kept") { writer in for run in runs { run.write(to: &writer) } }
    }

    static func list(in json: JSONValue) -> [AcceptedRun] {
        guard case .array(let values)? = json["kept"] else { return [] }
        return values.compactMap(AcceptedRun.init)
    }
}

extension [AcceptedRun] {
    /// The fingerprint of one of these, or of the run beside them.
    func fingerprint(of digest: String, beside own: RunFingerprint) -> RunFingerprint? {
        if own.digest.utf8.elementsEqual(digest.utf8) { return own }
        return first { $0.digest.utf8.elementsEqual(digest.utf8) }?.fingerprint
    }
}

extension RunFingerprint {
    /// A member `fingerprint`: the parts as pairs.
    func write(to writer: inout JSONWriter) {
        writer.array("fingerprint") { writer in
            for part in parts {
                writer.array { writer in
                    writer.string(part.name)
                    writer.string(part.value)
                }
            }
        }
    }

    /// - Parameter json: the value of such a member.
    init?(_ json: JSONValue) {
        guard case .array(let elements) = json else { return nil }
        var parts: [(String, String)] = []
        for element in elements {
            guard case .array(let pair) = element, pair.count == 2, case .string(let name) = pair[0],
                case .string(let value) = pair[1]
            else { return nil }
            parts.append((name, value))
        }
        self.init(parts)
    }
}
