import BatchEngine
import JSON

/// An answer in a store: the key of its request, and the outcome. It is a checksummed line:
///
///     {"sum":…,"key":"<64 digits>","finish":…,"tokens":[…],"notes":[…],"logprobs":[…],"provenance":{…}}
///
/// A log-probability stands as the bits of its number, so that reading is exact.
struct AnswerRecord: Equatable {
    /// `RequestKey.text`
    var key: String
    var outcome: DecodingOutcome
    /// The engine's facts about it.
    var provenance: [String: String]

    init(key: RequestKey, _ outcome: DecodingOutcome, _ provenance: [String: String]) {
        self.key = key.text
        self.outcome = outcome
        self.provenance = provenance
    }

    /// Without a line feed.
    var line: [UInt8] {
        ChecksummedLine.make { writer in
            writer.string("key", key)
            if let reason = outcome.finishReason { writer.string("finish", reason.rawValue) }
            writer.array("tokens") { writer in for token in outcome.tokens { writer.int(token) } }
            writer.array("notes") { writer in for note in outcome.notes { writer.string(note) } }
            writer.array("logprobs") { writer in
                for number in outcome.logprobs { writer.int(number.bitPattern) }
            }
            writer.object("provenance") { writer in
                for (name, value) in provenance.sorted(by: { $0.key < $1.key }) { writer.string(name, value) }
            }
        }
    }

    /// Nil if the line is no record, or damaged.
    init?(_ line: UnsafeRawBufferPointer) {
        guard ChecksummedLine.isValid(line), let json = try? JSONValue(parsing: line, limits: .ownLine),
            let key = json.string("key"), let tokens = json["tokens"]?.numbers(Int32.self),
            let notes = json["notes"]?.texts, notes.allSatisfy({ LogprobEntry(encoded: $0) != nil }),
            let logprobs = json["logprobs"]?.numbers(UInt32.self)?.map(Float.init(bitPattern:)),
            !logprobs.contains(where: \.isNaN), case .object(let facts)? = json["provenance"]
        else { return nil }
        let finish = json.string("finish").flatMap(FinishReason.init)
        guard finish != nil || json["finish"] == nil else { return nil }
        (self.key, provenance) = (key, [:])
        outcome = DecodingOutcome(tokens: tokens, notes: notes, finishReason: finish, logprobs: logprobs)
        for fact in facts {
            guard case .string(let text) = fact.value else { return nil }
            provenance[fact.name] = text
        }
    }
}
