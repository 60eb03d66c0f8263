import Foundation
import TestSupport
import Testing

@testable import PhiModel
@testable import PhiText

/// Encoding with a bound gives what encoding without one gives, or nil exactly where that is longer; and a text far
/// beyond it costs next to nothing.
@Suite struct TokenizerBoundTests {
    private static let chains = [
        ("a", "a"), ("aa", "aa"), ("aaaa", "aaaa"), ("a", "b"), ("▁", "▁"), ("▁▁", "▁▁"), ("▁", "a"),
        ("b", "c"),
    ]
    private static let byteChains = [
        ("a", "a"), ("aa", "aa"), ("aaaa", "aaaa"), ("a", "b"), ("Ġ", "Ġ"), ("ĠĠ", "ĠĠ"), ("Ġ", "a"),
        ("b", "c"),
    ]
    private static let added = #"""
        [{"id":900,"content":"<|a long special token|>","special":true,"rstrip":true,"lstrip":true},
        {"id":901,"content":"aab","special":false,"normalized":true}]
        """#

    /// Everything by which a text can become shorter than one thinks: bytes that vanish, spaces that a token takes along, pieces that are removed, normal forms.
    private static let tokenizers: [String: String] = {
        func split(_ behavior: String) -> String {
            #"{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\s+"},"behavior":"\#(behavior)","#
                + #""invert":false},{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true}]}"#
        }
        let characters = "abc é"
        let all = Set(UInt8.min...UInt8.max)
        return [
            "bytes": byteLevelJSON(merges: byteChains),
            "bytes with added tokens": byteLevelJSON(merges: byteChains, addedTokens: added),
            "bytes that vanish": byteLevelJSON(
                merges: byteChains.filter { !($0.0 + $0.1).contains { "bĠ".contains($0) } },
                missingBytes: [0x20, 0x62, 0xC3, 0xA9]),
            "almost no bytes": byteLevelJSON(
                merges: [("a", "a"), ("aa", "aa")], missingBytes: all.subtracting([0x61])),
            "pieces removed": byteLevelJSON(merges: byteChains, preTokenizer: split("Removed")),
            "pieces isolated": byteLevelJSON(merges: byteChains, preTokenizer: split("Isolated")),
            "composed": byteLevelJSON(merges: byteChains, normalizer: #"{"type":"NFC"}"#),
            "shortened": byteLevelJSON(
                merges: byteChains,
                normalizer: #"{"type":"Replace","pattern":{"String":"aaaaaaaa"},"content":"b"}"#),
            "emptied": byteLevelJSON(
                merges: byteChains, normalizer: #"{"type":"Replace","pattern":{"String":"a"},"content":""}"#),
            "metaspace": sentencePieceJSON(
                characters: characters, merges: chains,
                preTokenizer: #"{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":true}"#
            ),
            "fallback": sentencePieceJSON(characters: characters, merges: chains),
            "fallback with added tokens": sentencePieceJSON(
                characters: characters, merges: chains, addedTokens: added),
        ]
    }()

    private static let units = [
        "a", "aaaaaaaa", "b", "bc", " ", "        ", "é", "e\u{301}\u{301}", "日本", "😀", "\u{212A}",
        "𝐚\u{302}", "\n",
        "<|a long special token|>", "aab", "  <|a long special token|>   ", "\u{3000}", "ab a", "1", "x",
    ]

    @Test(arguments: tokenizers.keys.sorted()) func boundedIsTheSame(name: String) throws {
        let tokenizer = try makeTokenizer(try #require(Self.tokenizers[name]))
        var random = FixedRandom(7)
        for _ in 0..<300 {
            let runs = 1 + Int(random.next() % 6)
            let text = (0..<runs).map { _ in
                String(
                    repeating: Self.units[Int(random.next() % UInt64(Self.units.count))],
                    count: 1 + Int(random.next() % 40))
            }.joined()
            for addSpecialTokens in [false, true] {
                let all = tokenizer.encode(text, addSpecialTokens: addSpecialTokens)
                let limits = [0, 1, all.count / 2, all.count - 1, all.count, all.count + 1, 3 * all.count]
                for limit in limits where limit >= 0 {
                    let bounded = tokenizer.encode(text, addSpecialTokens: addSpecialTokens, atMost: limit)
                    #expect(
                        bounded == (all.count <= limit ? all : nil),
                        "\(name): \(limit) of \(text.debugDescription)")
                }
            }
        }
    }

    @Test func aTextFarTooLongIsRefusedAtOnce() throws {
        for (name, json) in Self.tokenizers
        where name.contains("added") || name == "bytes" {
            let tokenizer = try makeTokenizer(json)
            for unit in ["a", "b", "日", "ab bc a "] {
                let text = String(repeating: unit, count: (16 << 20) / unit.utf8.count)
                var ids: [Int32]? = []
                let taken = processorSeconds {
                    ids = tokenizer.encode(text, addSpecialTokens: true, atMost: 1000)
                }
                #expect(ids == nil)
                // In release some hundredths of a second; tokenized it would be many times as much.
                #expect(taken < 10 * patience, "\(name), \(unit)")
            }
        }
    }
}
