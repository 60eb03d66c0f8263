import BatchEngine

@testable import TokenConstraints

/// A vocabulary of all bytes and some longer tokens, among them such as end a string and go on after it.
enum SmallVocabulary {
    static let words = [
        "name", "age", "\":", "\",\"", "{\"", "\"}", "\":\"", "}}", "]}", "\":{\"", "ab", "abc", "abcd", " ",
        "  ",
        "\"\"", "12", "123", "\\\"", "\\u00", "é", "日本", "\":[", "],\"", "x\":1,\"", "\":1}", "true", "null",
        "a\"",
        "a\",", "aa\":", "\n", "\n  ", "\n    ", ": ", "\": ", ",\n", "red", "\"red\"", "green",
    ]
    static let end: Int32 = 0

    static func tokens(dropsFirstSpace: Bool = false) -> TokenTrie {
        var texts: [[UInt8]?] = [nil]
        texts += (UInt8.min...UInt8.max).map { [$0] }
        texts += words.map { Array($0.utf8) }
        // A second token with the same text, and one that is control.
        texts += [Array("ab".utf8), nil]
        let all = texts
        return TokenTrie(
            texts: texts, endOfSequence: [end], dropsFirstSpace: dropsFirstSpace,
            encode: { greedy($0, all) })
    }

    /// The longest token at each place.
    private static func greedy(_ text: String, _ texts: [[UInt8]?]) -> [Int32] {
        var bytes = Array(text.utf8)[...]
        var tokens: [Int32] = []
        while !bytes.isEmpty {
            var best: (token: Int, length: Int) = (0, 0)
            for (token, text) in texts.enumerated() {
                guard let text, text.count > best.length, bytes.starts(with: text) else { continue }
                best = (token, text.count)
            }
            tokens.append(Int32(best.token))
            bytes = bytes.dropFirst(best.length)
        }
        return tokens
    }
}

/// A generator that gives the same numbers on every machine (Knuth's MMIX, its upper half).
struct PlainRandom: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: Int) { state = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15 }

    mutating func next() -> UInt64 {
        var result: UInt64 = 0
        for _ in 0..<2 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            result = result << 32 | state >> 32
        }
        return result
    }
}
