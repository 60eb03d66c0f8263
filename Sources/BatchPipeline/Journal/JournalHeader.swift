import Foundations

/// The journal's first line: what its results depend on.
struct JournalHeader {
    static let version = 1
    var fingerprint: RunFingerprint
    /// Whether results in an output that was there before count (an edited input), or the run began again
    /// beside it (`--restart`).
    var usesOutput: Bool

    enum Reading {
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
            case .array(let elements)? = content["fingerprint"]
        else { return .damaged }
        guard version == Self.version else { return .otherVersion(version) }
        var parts: [(String, String)] = []
        for element in elements {
            guard case .array(let pair) = element, pair.count == 2, case .string(let name) = pair[0],
                case .string(let value) = pair[1]
            else { return .damaged }
            parts.append((name, value))
        }
        return .valid(JournalHeader(fingerprint: RunFingerprint(parts), usesOutput: usesOutput))
    }

    /// The sealed line with its line feed.
    func line() -> [UInt8] {
        SealedLine.make { writer in
            writer.int("phibatch_journal", Self.version)
            writer.bool("uses_output", usesOutput)
            writer.array("fingerprint") { writer in
                for part in fingerprint.parts {
                    writer.array { writer in
                        writer.string(part.name)
                        writer.string(part.value)
                    }
                }
            }
        } + [0x0a]
    }
}
