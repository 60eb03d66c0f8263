import JSON
import OperatingSystem

/// Key of a request to a model: SHA-256 of everything that the outcome depends on. Requests with the same key have the
/// same outcome, in any line or job.
package struct RequestKey: Hashable, Sendable {
    /// Raised with every change of the key's content.
    private static let version = 1
    private static let wordCount = 4

    private let words: SIMD4<UInt64>
    /// Whether the outcome depends on a random stream, which is part of the key.
    package let draws: Bool

    /// Nil if it is unknown what the outcome depends on.
    /// - Parameter model: identifies the model, its arithmetic and everything else outside requests.
    package init?(_ request: Request, model: [UInt8]) {
        guard let asked = request.asked, let kind = request.kind.content else { return nil }
        var content = RequestContent("phibatch answer \(Self.version)")
        content.append(model)
        content.append(RopeFactors.allCases.firstIndex(of: request.rope) ?? 0)
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

    package static func == (a: Self, b: Self) -> Bool { a.words == b.words }
    package func hash(into hasher: inout Hasher) { hasher.combine(words[0]) }

    /// Its first bytes, which are almost always unique.
    package var prefix: UInt64 { words[0] }

    /// The whole key in 64 hexadecimal digits.
    package var text: String {
        var digits: [UInt8] = []
        for number in 0..<Self.wordCount { JSONBytes.appendHex(words[number], to: &digits) }
        return String(decoding: digits, as: UTF8.self)
    }
}
