import Foundation
import Foundations

/// The journal's first line: what its results depend on.
struct JournalHeader {
    static let version = 1
    var fingerprint: RunFingerprint
    /// Whether results in an output that was there before count (an edited input), or the run began again
    /// beside it (`--restart`).
    var usesOutput: Bool

    private struct Content: Codable {
        var version: Int
        var usesOutput: Bool
        var fingerprint: [[String]]

        enum CodingKeys: String, CodingKey {
            case fingerprint
            case version = "phibatch_journal"
            case usesOutput = "uses_output"
        }
    }

    enum Reading {
        case valid(JournalHeader)
        /// Written by another version of phibatch.
        case otherVersion(Int)
        case damaged
    }

    static func read(_ line: UnsafeRawBufferPointer) -> Reading {
        guard line.count < 16 << 20, RecordLine.hasValidSum(line),
            let content = try? JSONDecoder().decode(Content.self, from: Data(line))
        else { return .damaged }
        guard content.version == version else { return .otherVersion(content.version) }
        guard content.fingerprint.allSatisfy({ $0.count == 2 }) else { return .damaged }
        return .valid(
            JournalHeader(
                fingerprint: RunFingerprint(content.fingerprint.map { ($0[0], $0[1]) }),
                usesOutput: content.usesOutput))
    }

    /// The sealed line with its line feed.
    func line() -> [UInt8] {
        var line: [UInt8] = []
        RecordLine.appendUnsealedStart(to: &line)
        line.append(contentsOf: ",\"phibatch_journal\":\(Self.version),\"uses_output\":\(usesOutput)".utf8)
        line.append(contentsOf: ",\"fingerprint\":[".utf8)
        for (index, part) in fingerprint.parts.enumerated() {
            line.append(contentsOf: (index > 0 ? ",[" : "[").utf8)
            JSONBytes.append(part.name, to: &line)
            line.append(UInt8(ascii: ","))
            JSONBytes.append(part.value, to: &line)
            line.append(UInt8(ascii: "]"))
        }
        line.append(contentsOf: "]}".utf8)
        RecordLine.seal(&line)
        line.append(0x0a)
        return line
    }
}
