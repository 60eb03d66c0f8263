import Foundation
import TestSupport
import Testing

@testable import PhiModel
@testable import PhiText

/// Files and texts made to break or stall a tokenizer.
struct TokenizerHostileTests {
    /// - Returns: the error that loading gives.
    private func error(_ json: String) -> UserError? {
        do {
            _ = try makeTokenizer(json)
            return nil
        } catch {
            return error as? UserError
        }
    }

    private static let valid = byteLevelJSON(merges: [("a", "b"), ("ab", "c")])

    @Test func everyTruncationIsAnError() throws {
        let bytes = Array(Self.valid.utf8)
        for end in stride(from: 0, to: bytes.count, by: 13) {
            let loaded = try withTokenizerFile(Data(bytes[..<end])) { file -> UserError? in
                do {
                    _ = try Tokenizer(path: file.path)
                    return nil
                } catch {
                    return error as? UserError
                }
            }
            #expect(loaded?.kind == .malformed, "cut at \(end)")
        }
    }

    /// Any single byte changed: an error or a tokenizer, never a crash.
    @Test func changedBytesDoNoHarm() throws {
        var generator = FixedRandom(9)
        let original = Array(Self.valid.utf8)
        for _ in 0..<400 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let interesting = Array("\"\\{}[],:019-.eEntf ".utf8) + [0x00, 0x80, 0xFF]
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] =
                    interesting.randomElement(using: &generator) ?? 0
            }
            try withTokenizerFile(Data(bytes)) { file in
                do {
                    let tokenizer = try Tokenizer(path: file.path)
                    _ = tokenizer.encode("abc <é> \u{0}", addSpecialTokens: true)
                } catch {
                    #expect(error is UserError)
                }
            }
        }
    }

    @Test(arguments: [
        ("", "[", "]", "expected"), ("\"version\":\"1.0\"", "\"version\":\"2\"", "", "version"),
    ])
    func wholeFile(_ old: String, _ new: String, _ tail: String, _ word: String) {
        let json = old.isEmpty ? new + tail : Self.valid.replacing(old, with: new)
        #expect(error(json)?.message.contains(word) == true)
    }

    @Test(arguments: [
        // What is replaced in a good file, by what, the kind of error and a word that must be in it.
        (#""type":"BPE""#, #""type":"Unigram""#, UserError.Kind.unsupported, "model.type"),
        (#""type":"BPE""#, #""type":"BPE","dropout":0.1"#, .unsupported, "model.dropout"),
        (#""type":"BPE""#, #""type":"BPE","frobnicate":1"#, .unsupported, "frobnicate"),
        (#""a":97"#, #""aa":97"#, .malformed, "merge"),
        (#""type":"BPE""#, #""type":"BPE","end_of_word_suffix":"</w>""#, .unsupported, "end_of_word"),
        (#""normalizer":null"#, #""normalizer":{"type":"Precompiled"}"#, .unsupported, "normalizer"),
        (#""normalizer":null"#, #""normalizer":{"type":"NFKC"}"#, .unsupported, "normalizer"),
        (#""normalizer":null"#, #""normalizer":{}"#, .malformed, "normalizer.type"),
        (#""normalizer":null"#, #""normalizer":7"#, .malformed, "normalizer"),
        (#""truncation":null"#, #""truncation":{"max_length":5}"#, .unsupported, "truncation"),
        (#""padding":null"#, #""extra":1"#, .unsupported, "extra"),
        (#""padding":null"#, #""version":"1.0""#, .malformed, "twice"),
        (#""post_processor":null"#, #""post_processor":{"type":"BertProcessing"}"#, .unsupported, "post_"),
        (#""decoder":{"type":"ByteLevel""#, #""decoder":{"type":"CTC""#, .unsupported, "decoder"),
        (
            #""pre_tokenizer":{"type":"ByteLevel""#, #""pre_tokenizer":{"type":"Whitespace""#, .unsupported,
            "pre_tokenizer"
        ),
        (#""a b""#, #""a zz""#, .malformed, "merge"), (#""a b""#, #""ab""#, .malformed, "merge"),
        (#""a b""#, #""a b c""#, .malformed, "merge"), (#""a b""#, #"["a"]"#, .malformed, "merge"),
        (#""a b""#, #"["a","b","c"]"#, .malformed, "merge"), (#""a b""#, "17", .malformed, "string"),
        (#""ab":256"#, #""ab":255"#, .malformed, "255"), (#""ab":256"#, #""ab":-1"#, .malformed, "id"),
        (#""ab":256"#, #""ab":99999999"#, .malformed, "99999999"),
        (#""ab":256"#, #""ab":1e3"#, .malformed, "whole number"),
        (#""ab":256"#, #""ab":99999999999999999999"#, .malformed, "whole number"),
        (#""ab":256"#, #""ab":256,"ab":700"#, .malformed, "twice"),
        (#""ab":256"#, #""\ud800":256"#, .malformed, "surrogate"),
        (#""added_tokens":[]"#, #""added_tokens":[{"id":5,"content":"a"}]"#, .malformed, "added_tokens[0]"),
        (#""added_tokens":[]"#, #""added_tokens":[{"id":2000000000,"content":"x1"}]"#, .malformed, "id"),
        (#""added_tokens":[]"#, #""added_tokens":[{"id":300,"content":""}]"#, .malformed, "empty"),
        (#""added_tokens":[]"#, #""added_tokens":{}"#, .malformed, "added_tokens"),
        (
            #""added_tokens":[]"#, #""added_tokens":[{"id":300,"content":"x1","single_word":true}]"#,
            .unsupported, "single_word"
        ),
        (#""use_regex":true},"#, #""use_regex":3},"#, .malformed, "use_regex"),
    ])
    func eachFaultIsNamed(_ change: (String, String, UserError.Kind, String)) {
        #expect(Self.valid.contains(change.0))
        let found = error(Self.valid.replacing(change.0, with: change.1, maxReplacements: 1))
        #expect(found?.kind == change.2, "\(change.1): \(found?.description ?? "no error")")
        #expect(found?.description.contains(change.3) == true, "\(found?.description ?? "no error")")
        #expect(found?.place?.hasSuffix("tokenizer.json") == true)
    }

    @Test func missingFile() {
        #expect { try Tokenizer(path: "/nonexistent-folder/tokenizer.json") } throws: {
            ($0 as? UserError)?.kind == .missing
        }
    }

    @Test func deepNesting() {
        for deep in [String(repeating: "[", count: 1_000_000), String(repeating: "{\"a\":", count: 100_000)] {
            let found = error(#"{"normalizer":"# + deep)
            #expect(found?.kind == .malformed && found?.message.contains("deep") == true)
        }
    }

    @Test func unsupportedPatternNamesItsKey() {
        let split = #"{"type":"Split","pattern":{"Regex":"(?<=a)b"},"behavior":"Isolated","invert":false}"#
        let found = error(byteLevelJSON(preTokenizer: split))
        #expect(found?.kind == .unsupported)
        #expect(found?.message.contains("pre_tokenizer.pattern.Regex") == true)
    }

    // MARK: Time

    private static let evil = [
        "a", " ", "A", "\n", "\n ", "あ", "😀", "\u{301}", "ab", "1", "'", "<", "<|end", "\u{0}", "a ",
    ].map { String(repeating: $0, count: 1_000_000 / $0.utf8.count) }

    /// Chains like aa, aaaa, ... and aaa, aaaaa: every step of a long piece has something to merge.
    private static let chains: [(String, String)] = {
        var merges: [(String, String)] = []
        var token = "a"
        for _ in 0..<10 {
            merges.append((token, token))
            token += token
        }
        return merges + [("aa", "a"), ("a", "b"), ("ab", "ab"), ("Ġ", "Ġ"), ("▁", "▁")]
    }()

    @Test func longPiecesAreNotQuadratic() throws {
        let whole = #"{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}"#
        let merges = Self.chains.filter { $0.0 != "▁" }
        let end = #"[{"id":300,"content":"<|end|>","lstrip":true,"rstrip":true,"special":true},"#
        let spaces = #"{"id":301,"content":" ","rstrip":true,"normalized":false}]"#
        let tokenizers = [
            try makeTokenizer(byteLevelJSON(merges: merges)),
            try makeTokenizer(byteLevelJSON(merges: merges, preTokenizer: whole, addedTokens: end + spaces)),
            try makeTokenizer(
                sentencePieceJSON(characters: "ab", merges: Self.chains.filter { $0.0 != "Ġ" })),
        ]
        for tokenizer in tokenizers {
            for text in Self.evil {
                let taken = processorSeconds {
                    let ids = tokenizer.encode(text, addSpecialTokens: true)
                    #expect(!ids.isEmpty)
                }
                // Under half a second each.
                #expect(taken < 20 * patience, "\(text.prefix(4).debugDescription)")
            }
        }
    }

    /// NFC sorts combining marks; a megabyte of them must not take forever.
    @Test func manyMarks() throws {
        let tokenizer = try makeTokenizer(byteLevelJSON(normalizer: "{\"type\":\"NFC\"}"))
        let taken = processorSeconds {
            for unit in ["\u{301}", "\u{301}\u{323}", "a\u{323}\u{301}"] {
                let text = "e" + String(repeating: unit, count: 200_000)
                #expect(!tokenizer.encode(text, addSpecialTokens: false).isEmpty)
            }
        }
        #expect(taken < 20 * patience)
    }

    /// A small file must not make a large table.
    @Test func idsFarApart() {
        let tokens = (1...2000).map { "\"x\($0)\":\($0 * 60000)" }.joined(separator: ",")
        let found = error(Self.valid.replacing(#""ab":256"#, with: #""ab":256,"# + tokens))
        #expect(found?.message.contains("far beyond") == true)
    }

    @Test func matchersOfManyOverlappingTokens() throws {
        // Each place of the text begins almost each of the tokens, to its last character.
        let list = (1...200).map { n in
            "{\"id\":\(300 + n),\"content\":\"\(String(repeating: "a", count: 5 * n))b\"}"
        }
        let tokenizer = try makeTokenizer(
            byteLevelJSON(addedTokens: "[\(list.joined(separator: ","))]"))
        let taken = processorSeconds {
            _ = tokenizer.encode(String(repeating: "a", count: 1_000_000), addSpecialTokens: false)
        }
        #expect(taken < 20 * patience)
    }

    @Test func threadsShareATokenizer() async throws {
        let tokenizer = try makeTokenizer(byteLevelJSON(merges: Self.chains.filter { $0.0 != "▁" }))
        let texts = (0..<50).map { "ab aaa \($0) " + String(repeating: "ab a ", count: $0) }
        let expected = texts.map { tokenizer.encode($0, addSpecialTokens: false) }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<20).allSatisfy { _ in
                        texts.map { tokenizer.encode($0, addSpecialTokens: false) } == expected
                    }
                }
            }
            for await same in group { #expect(same) }
        }
    }
}
