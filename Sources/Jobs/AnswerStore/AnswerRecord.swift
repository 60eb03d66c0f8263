import BatchEngine
import JSON

/// An answer in a store: the key of its request, and the outcome. It is a checksummed line:
///
///     {"sum":…,"key":"<64 digits>",["finish":…,]"tokens":[…][,"notes":[…]][,"logprobs":[…]][,"provenance":{…}]}
struct AnswerRecord: Equatable {
    /// `RequestKey.text`
    var key: String
    var outcome: SavedDecoding
    /// The engine's facts about it.
    var provenance: [String: String]

    init(key: RequestKey, _ outcome: SavedDecoding, _ provenance: [String: String]) {
        self.key = key.text
        self.outcome = outcome
        self.provenance = provenance
    }

    /// Without a line feed.
    var line: [UInt8] {
        ChecksummedLine.make { writer in
            writer.string("key", key)
            outcome.write(to: &writer)
            if let facts = GenerationResult.provenance(provenance) { writer.value("provenance", facts) }
        }
    }

    /// Nil if the line is no record, or damaged.
    init?(_ line: UnsafeRawBufferPointer) {
        guard ChecksummedLine.isValid(line), let json = try? JSONValue(parsing: line, limits: .ownLine),
            let key = json.string("key"), let saved = SavedDecoding(json)
        else { return nil }
        (self.key, outcome, provenance) = (key, saved, [:])
        guard case .object(let facts)? = json["provenance"] else { return }
        for case (let name, .string(let value)) in facts.map({ ($0.name, $0.value) }) {
            provenance[name] = value
        }
    }
}
