import BatchEngine
import JSON
import OperatingSystem

/// Everything that all results of a run depend on, as an ordered list of named values.
///
/// Names are `group.name` (`model.config`, `job.temperature`). Files of a run have either the whole list (a log's
/// header) or its `digest` (each result). The digest has eight hexadecimal digits for each group, in order of first
/// appearance.
package struct RunFingerprint: Sendable, Equatable {
    package let parts: [(name: String, value: String)]
    /// For example `5f3a91c2-77d0be11-09ac3d5e`.
    package let digest: String

    /// Version of the parts' computation: over every byte of the model's files.
    static let version = ("phibatch.fingerprint", "2")

    /// Name of the part with a job's steps.
    static let steps = "job.steps"

    static let maximumDigestLength = 200
    private static let maximumGroups = 20

    package init(_ parts: [(String, String)]) {
        self.parts = parts.map { (name: $0.0, value: $0.1) }
        var groups: [String] = []
        var hashes: [SHA] = []
        for (name, value) in parts {
            let group = String(name.prefix(until: "."))
            if !groups.contains(group), groups.count < Self.maximumGroups {
                groups.append(group)
                hashes.append(SHA.sha256())
            }
            let place = groups.firstIndex(of: group) ?? groups.count - 1
            // Lengths make the encoding unambiguous.
            hashes[place].update("\(name.utf8.count) \(value.utf8.count) \(name)\(value)".utf8)
        }
        digest = hashes.map { FileHash.hexadecimal($0.finalize().prefix(4)) }.joined(separator: "-")
    }

    package static func == (a: Self, b: Self) -> Bool {
        a.parts.elementsEqual(b.parts) {
            $0.name.utf8.elementsEqual($1.name.utf8) && $0.value.utf8.elementsEqual($1.value.utf8)
        }
    }

    package var hasSteps: Bool { parts.contains { $0.name == Self.steps } }

    /// Whether rows are dropped as duplicates.
    var comparesRows: Bool {
        parts.contains {
            $0.name == Self.steps
                && JobStep.told($0.value)?.contains { $0.value[Distinctness.mark] != nil } == true
        }
    }

    /// Returns one line for each part that differs from an earlier run's.
    package func changes(from old: RunFingerprint) -> [String] {
        var lines: [String] = []
        let before = Dictionary(
            old.parts.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        let now = Set(parts.map(\.name))
        for (name, value) in parts {
            let earlier = before[name]
            if earlier.map({ $0.utf8.elementsEqual(value.utf8) }) == true { continue }
            let told = name == Self.steps ? earlier.flatMap { JobStep.changes(from: $0, to: value) } : nil
            lines += told ?? ["\(name): \(earlier ?? "(not set)") -> \(value)"]
        }
        for (name, value) in old.parts where !now.contains(name) {
            lines.append("\(name): \(value) -> (not set)")
        }
        return lines
    }

    /// Difference to a run of which only the digest is left.
    package static let unknown = "settings that nobody knows any more"
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

    /// Identifies a run's model, adapter, tokenizer, engine and arithmetic; without the job's settings.
    package var model: [UInt8] {
        var digest = Digest("model")
        for (name, value) in parts where !name.utf8.starts(with: "job.".utf8) {
            digest.append(name)
            digest.append(value)
        }
        return digest.hash
    }
}
