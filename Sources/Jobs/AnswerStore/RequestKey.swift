import BatchEngine
import JSON
import OperatingSystem

/// What a request asks of which model, as SHA-256 over all that its outcome depends on: requests with the same key have
/// the same outcome, whatever lines and jobs they belong to.
struct RequestKey: Hashable, Sendable {
    /// Raised with every change of what the key is made of.
    private static let version = 1
    private static let wordCount = 4

    private let words: SIMD4<UInt64>
    /// Whether a random stream plays a role, which is in the key.
    let draws: Bool

    /// Nil where nobody knows what the outcome depends on.
    /// - Parameter model: what tells the model, its arithmetic and all else that isn't in requests from others.
    init?(_ request: Request, model: [UInt8]) {
        guard let asked = request.asked, let kind = request.kind.content else { return nil }
        var content = RequestContent("phibatch answer \(Self.version)")
        content.append(model)
        content.append(Int(request.rope.rawValue))
        content.append(request.prompt)
        content.append(asked)
        content.append(kind.bytes)
        let hash = SHA.sha256(of: content.bytes)
        var words = SIMD4<UInt64>()
        for (number, byte) in hash.enumerated() {
            words[number >> 3] = words[number >> 3] << 8 | UInt64(byte)
        }
        self.words = words
        draws = kind.draws
    }

    static func == (a: Self, b: Self) -> Bool { a.words == b.words }
    func hash(into hasher: inout Hasher) { hasher.combine(words[0]) }

    /// Its first bytes, which hardly any two keys have in common.
    var prefix: UInt64 { words[0] }

    /// All of it, in 64 hexadecimal digits.
    var text: String {
        var digits: [UInt8] = []
        for number in 0..<Self.wordCount { JSONBytes.appendHex(words[number], to: &digits) }
        return String(decoding: digits, as: UTF8.self)
    }
}

extension RunFingerprint {
    /// What tells a run's model, adapter, tokenizer, engine and arithmetic from others; the job's settings are not in it.
    package var model: [UInt8] {
        var content = RequestContent("model")
        for (name, value) in parts where !name.utf8.starts(with: "job.".utf8) {
            content.append(Array(name.utf8))
            content.append(Array(value.utf8))
        }
        return SHA.sha256(of: content.bytes)
    }
}
