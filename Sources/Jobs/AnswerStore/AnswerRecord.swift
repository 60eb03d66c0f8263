import BatchEngine
import JSON

/// An answer in a store: the key of its request, and the outcome. It is a checksummed line:
///
///     {"sum":…,"key":"<64 digits>","finish":…,"tokens":[…],"notes":[…],"logprobs":"<8 digits each>","provenance":{…}}
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
            if !outcome.tokens.isEmpty {
                writer.array("tokens") { writer in for token in outcome.tokens { writer.int(token) } }
            }
            if !outcome.notes.isEmpty {
                writer.array("notes") { writer in for note in outcome.notes { writer.string(note) } }
            }
            if !outcome.logprobs.isEmpty { writer.string("logprobs", Self.text(of: outcome.logprobs)) }
            if !provenance.isEmpty {
                writer.object("provenance") { writer in
                    for (name, value) in provenance.sorted(by: { $0.key < $1.key }) {
                        writer.string(name, value)
                    }
                }
            }
        }
    }

    /// Nil if the line is no record, or damaged.
    init?(_ line: UnsafeRawBufferPointer) {
        guard ChecksummedLine.isValid(line) else { return nil }
        var (key, outcome, provenance) = (String?.none, DecodingOutcome(), [String: String]())
        let isRead = ChecksummedLine.read(line) { scanner, name in
            if name.spells("key") {
                key = try scanner.string()
            } else if name.spells("finish") {
                outcome.finishReason = FinishReason(rawValue: try scanner.string())
                if outcome.finishReason == nil { throw scanner.fault("no known finish reason") }
            } else if name.spells("tokens") {
                try scanner.array { scanner in
                    guard let token = Int32(exactly: try scanner.integer()) else {
                        throw scanner.fault("expected a token id")
                    }
                    outcome.tokens.append(token)
                }
            } else if name.spells("notes") {
                try scanner.array { scanner in
                    let note = try scanner.string()
                    guard LogprobEntry(encoded: note) != nil else { throw scanner.fault("expected a note") }
                    outcome.notes.append(note)
                }
            } else if name.spells("logprobs") {
                guard let numbers = Self.numbers(in: try scanner.string()) else {
                    throw scanner.fault("expected numbers")
                }
                outcome.logprobs = numbers
            } else if name.spells("provenance") {
                try scanner.object { scanner, name in
                    let name = String(decoding: name, as: UTF8.self)
                    provenance[name] = try scanner.string()
                }
            } else {
                return false
            }
            return true
        }
        guard isRead, let key else { return nil }
        (self.key, self.outcome, self.provenance) = (key, outcome, provenance)
    }

    /// Encodes each number's bits, so that reading is exact.
    private static func text(of numbers: [Float]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(16 * numbers.count)
        for number in numbers {
            var word: [UInt8] = []
            JSONBytes.appendHex(UInt64(number.bitPattern), to: &word)
            digits += word.suffix(8)
        }
        return String(decoding: digits, as: UTF8.self)
    }

    private static func numbers(in text: String) -> [Float]? {
        let digits = Array(text.utf8)
        guard digits.count % 8 == 0 else { return nil }
        var numbers: [Float] = []
        for start in stride(from: 0, to: digits.count, by: 8) {
            let word = String(decoding: digits[start..<start + 8], as: UTF8.self)
            guard let bits = UInt32(word, radix: 16) else { return nil }
            numbers.append(Float(bitPattern: bits))
        }
        return numbers.contains(where: \.isNaN) ? nil : numbers
    }
}
