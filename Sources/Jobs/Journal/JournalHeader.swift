import JSON

/// The journal's first line: what its results depend on.
package struct JournalHeader {
    static let version = 1
    package var fingerprint: RunFingerprint
    /// Whether results in an output that was there before count (an edited input), or the run began again
    /// beside it (`--restart`).
    package var usesOutput: Bool
    /// Runs under other settings, whose results count too.
    var kept: [KeptRun] = []
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
        guard line.count < longest, SealedLine.isValid(line),
            let content = try? JSONValue(parsing: line, limits: .file),
            let version = content.int("phibatch_journal"),
            case .bool(let usesOutput)? = content["uses_output"],
            let fingerprint = content["fingerprint"].flatMap(RunFingerprint.init)
        else { return .damaged }
        guard version == Self.version else { return .otherVersion(version) }
        return .valid(
            JournalHeader(
                fingerprint: fingerprint, usesOutput: usesOutput, kept: KeptRun.list(in: content),
                lines: LineScheme.list(in: content), pins: PinnedInput.list(in: content),
                earlierRows: content["earlier_rows"]?.texts ?? []))
    }

    /// The sealed line with its line feed.
    func line() -> [UInt8] {
        SealedLine.make { writer in
            writer.int("phibatch_journal", Self.version)
            writer.bool("uses_output", usesOutput)
            fingerprint.write(to: &writer)
            KeptRun.write(kept, to: &writer)
            LineScheme.write(lines, to: &writer)
            PinnedInput.write(pins, to: &writer)
            if !earlierRows.isEmpty {
                writer.array("earlier_rows") { writer in for name in earlierRows { writer.string(name) } }
            }
        } + [0x0a]
    }
}
