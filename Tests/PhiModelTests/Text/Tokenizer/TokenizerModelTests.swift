import Foundation
import JSON
import TestSupport
import Testing

@testable import PhiModel
@testable import PhiText

/// Small tokenizers made here, with results worked out by hand.
struct TokenizerModelTests {
    @Test(arguments: [false, true])
    func byteLevel(_ pairs: Bool) throws {
        // h e l l o -> he, ll, hell; "Ġh" comes first of all.
        let tokenizer = try makeTokenizer(
            byteLevelJSON(
                merges: [("Ġ", "h"), ("h", "e"), ("l", "l"), ("he", "ll")], pairs: pairs))
        #expect(tokenizer.encode("hello", addSpecialTokens: true) == [259, 111])
        #expect(tokenizer.encode(" hello", addSpecialTokens: false) == [256, 101, 258, 111])
        #expect(tokenizer.encode("é", addSpecialTokens: false) == [0xC3, 0xA9])
        #expect(tokenizer.decode([259, 111, 0xC3], skipSpecialTokens: true) == "hello\u{FFFD}")
        #expect(tokenizer.vocabularySize == 260)
        #expect(tokenizer.id(of: "hell") == 259 && tokenizer.id(of: "xyz") == nil)
        #expect(tokenizer.encode("", addSpecialTokens: true) == [])
    }

    @Test func missingBytesAreDroppedAndNeighboursMeet() throws {
        let tokenizer = try makeTokenizer(
            byteLevelJSON(merges: [("a", "b")], missingBytes: [UInt8(ascii: "x")]))
        #expect(tokenizer.encode("axb", addSpecialTokens: false) == [256])
        #expect(tokenizer.encode("x", addSpecialTokens: false) == [])
    }

    @Test func ignoreMergesTakesWholePieces() throws {
        let merges = [("b", "c"), ("a", "bc"), ("a", "b"), ("ab", "cd")]
        let plain = try? makeTokenizer(byteLevelJSON(merges: merges))
        // "cd" is no token: the last merge can't be read.
        #expect(plain == nil)
        let known = [("b", "c"), ("c", "d"), ("a", "b"), ("ab", "cd")]
        let merging = try makeTokenizer(byteLevelJSON(merges: known))
        #expect(merging.encode("abcd", addSpecialTokens: false) == [97, 256, 100])
        let ignoring = try makeTokenizer(byteLevelJSON(merges: known, extra: #","ignore_merges":true"#))
        #expect(ignoring.encode("abcd", addSpecialTokens: false) == [259])
        #expect(ignoring.encode("abc", addSpecialTokens: false) == [97, 256])
    }

    /// Without tokens for all bytes, characters would become an unknown token.
    @Test func aVocabularyWithoutBytesIsRefused() {
        for (old, new) in [("\"byte_fallback\":true", "\"byte_fallback\":false"), ("<0xFF>", "<0xff>")] {
            let error = #expect(throws: UserError.self) {
                try makeTokenizer(sentencePieceJSON(characters: "ab").replacing(old, with: new))
            }
            #expect(error?.kind == .unsupported && error?.message.contains("each byte") == true)
        }
    }

    @Test func sentencePiece() throws {
        let tokenizer = try makeTokenizer(
            sentencePieceJSON(characters: "helo", merges: [("l", "l"), ("▁", "h"), ("▁h", "e")]))
        let ids = tokenizer.encode("hello", addSpecialTokens: false)
        #expect(ids == [264, 262, 261])
        #expect(tokenizer.decode(ids, skipSpecialTokens: true) == "hello")
        #expect(tokenizer.decode([257] + ids, skipSpecialTokens: true) == " hello")
        // U+00E9 by bytes; U+0001 too.
        let bytes = tokenizer.encode("oé", addSpecialTokens: false)
        #expect(bytes == [257, 261, 1 + 0xC3, 1 + 0xA9])
        #expect(tokenizer.decode(bytes, skipSpecialTokens: true) == "oé")
        // One wrong byte spoils its run.
        #expect(
            tokenizer.decode([1 + 0xC3, 1 + 0xA9, 1 + 0xFF, 258], skipSpecialTokens: true)
                == "\u{FFFD}\u{FFFD}\u{FFFD}h")
    }

    /// Cutting before merging must not change anything.
    @Test func cutsWhereNothingMerges() throws {
        var generator = FixedRandom(11)
        let letters = ["a", "b", "c", "▁"]
        for _ in 0..<60 {
            var merges: [(String, String)] = []
            var tokens = letters
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                let pair = (
                    tokens.randomElement(using: &generator) ?? "a",
                    tokens.randomElement(using: &generator) ?? "a"
                )
                merges.append(pair)
                if !tokens.contains(pair.0 + pair.1) { tokens.append(pair.0 + pair.1) }
            }
            let cutting = try makeTokenizer(sentencePieceJSON(characters: "abc", merges: merges))
            for length in [1, 5, 20, 60, 200] {
                let text = String(
                    (0..<length).map { _ in "abc ".randomElement(using: &generator) ?? " " })
                #expect(
                    cutting.encode(text, addSpecialTokens: false) == naive(text, merges, cutting),
                    "\(merges) \(text)")
            }
        }
    }

    /// Merging as it is defined: search the best pair, join it, again.
    private func naive(_ text: String, _ merges: [(String, String)], _ tokenizer: Tokenizer) -> [Int32] {
        var symbols = ("▁" + text.replacing(" ", with: "▁")).map { String($0) }
        while true {
            var best: (rank: Int, place: Int)?
            for i in symbols.indices.dropLast() {
                guard let rank = merges.lastIndex(where: { $0 == (symbols[i], symbols[i + 1]) }) else {
                    continue
                }
                if best.map({ rank < $0.rank }) ?? true { best = (rank, i) }
            }
            guard let best else { break }
            symbols[best.place] += symbols.remove(at: best.place + 1)
        }
        return symbols.compactMap { tokenizer.id(of: $0) }
    }

    // MARK: Added tokens

    private static func added(_ id: Int, _ content: String, _ flags: String) -> String {
        let names = ["lstrip", "rstrip", "normalized", "special"]
        let members = names.map { "\"\($0)\":\(flags.contains($0))" }.joined(separator: ",")
        return "{\"id\":\(id),\"content\":\(quoted(content)),\(members)}"
    }

    @Test func addedTokens() throws {
        let list = [
            Self.added(300, "<a>", "special"), Self.added(301, "<a>b", "special rstrip"),
            Self.added(302, "<l>", "special lstrip"), Self.added(303, "dog", ""),
            Self.added(304, "<n>", "normalized"),
        ].joined(separator: ",")
        let tokenizer = try makeTokenizer(byteLevelJSON(addedTokens: "[\(list)]"))
        func encode(_ text: String) -> [Int32] { tokenizer.encode(text, addSpecialTokens: false) }
        #expect(encode("<a><a>b \u{A0}\n<a>") == [300, 301, 300])
        #expect(encode("x \t<l> y") == [120, 302, 32, 121])
        #expect(encode("édog dogs") == [0xC3, 0xA9, 303, 32, 303, 115])
        #expect(encode("<n>") == [304])
        #expect(encode("<a>b  <l>") == [301, 302])
        #expect(
            tokenizer.encode("<a>dog", addSpecialTokens: false, specialTokensAsText: true)
                == [60, 97, 62, 303])
        #expect(tokenizer.decode([300, 120, 303], skipSpecialTokens: true) == "xdog")
        #expect(tokenizer.decode([300, 120, 303], skipSpecialTokens: false) == "<a>xdog")
        #expect(tokenizer.vocabularySize == 305)
    }

    /// The finder against trying each text at each place.
    @Test func findsTheLongestAtEachPlace() {
        var generator = FixedRandom(3)
        for _ in 0..<200 {
            let texts = (0..<Int.random(in: 1...6, using: &generator)).map { _ in
                (0..<Int.random(in: 1...5, using: &generator)).map { _ in
                    UInt8.random(in: 97...98, using: &generator)
                }
            }
            let text = (0..<40).map { _ in UInt8.random(in: 97...98, using: &generator) }
            let hits = text.withUnsafeBufferPointer { TokenFinder(texts).hitsBackwards(in: $0) }
            var found: [Int: [UInt8]] = [:]
            for hit in hits { found[hit.start] = texts[hit.index] }
            for i in text.indices {
                let longest = texts.filter { text[i...].starts(with: $0) }.max { $0.count < $1.count }
                #expect(found[i] == longest)
            }
        }
    }

    // MARK: Steps

    @Test func normalizers() throws {
        func encode(_ normalizer: String, _ text: String) throws -> String {
            let tokenizer = try makeTokenizer(byteLevelJSON(normalizer: normalizer))
            return tokenizer.decode(
                tokenizer.encode(text, addSpecialTokens: false), skipSpecialTokens: false)
        }
        #expect(sameBytes(try encode(#"{"type":"NFC"}"#, "e\u{301}"), "\u{E9}"))
        let two = #"{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"x"},"#
        let literal = #"{"type":"Replace","pattern":{"String":"aa"},"content":"é"}]}"#
        #expect(try encode(two + literal, "aaa") == "xéa")
        #expect(try encode(two + literal, "") == "")
    }

    /// On short texts Foundation is the measure, where it composes what is wholly decomposed (it leaves
    /// some syllables of Hangul apart otherwise).
    @Test func composedTexts() {
        var generator = FixedRandom(21)
        let letters =
            "aeé가ᄀ\u{1161}\u{11A8}각ﬁÅ\u{212B}\u{301}\u{323}\u{307}\u{344}\u{9C7}\u{9BE}\u{958}q\u{1E9B}ｶ\u{FF9E}漢\u{F71}\u{F73}"
        let scalars = Array(letters.unicodeScalars)
        for _ in 0..<3000 {
            var view = String.UnicodeScalarView()
            for _ in 0..<8 { view.append(scalars.randomElement(using: &generator) ?? "a") }
            let text = String(view)
            let canonical = text.decomposedStringWithCanonicalMapping
            let name = text.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
            #expect(
                sameBytes(NormalForm.composed(text), canonical.precomposedStringWithCanonicalMapping),
                "\(name)")
        }
    }

    @Test func splitBehaviours() throws {
        func pieces(_ behavior: String, _ text: String, invert: Bool = false) throws -> [String] {
            let reader = TokenizerConfigReader(
                value: [
                    "type": "Split", "pattern": ["String": "-"], "behavior": .string(behavior),
                    "invert": .bool(invert),
                ], key: "pre_tokenizer", path: "x")
            return try split(text, reader)
        }
        // The examples of the documentation of SplitDelimiterBehavior.
        let text = "the-final--countdown"
        #expect(try pieces("Removed", text) == ["the", "final", "countdown"])
        #expect(try pieces("Isolated", text) == ["the", "-", "final", "-", "-", "countdown"])
        #expect(try pieces("Removed", text, invert: true) == ["-", "-", "-"])
    }

    @Test func metaspaceAndDigits() throws {
        func pieces(_ json: String, _ text: String) throws -> [String] {
            let value = try JSONValue(parsing: Array(json.utf8), limits: .file)
            return try split(text, TokenizerConfigReader(value: value, key: "pre_tokenizer", path: "x"))
        }
        let metaspace = #"{"type":"Metaspace","replacement":"▁","prepend_scheme":"#
        #expect(try pieces(metaspace + #""always"}"#, "a b  c") == ["▁a", "▁b", "▁", "▁c"])
        #expect(try pieces(metaspace + #""never"}"#, "a b") == ["a", "▁b"])
        #expect(try pieces(metaspace + #""first","split":false}"#, "a b") == ["▁a▁b"])
        let digits = #"{"type":"Digits","individual_digits":"#
        #expect(try pieces(digits + "true}", "a12½b") == ["a", "1", "2", "½", "b"])
        let byteLevel = #"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}"#
        #expect(try pieces(byteLevel, "ab cd") == [" ab", " cd"])
    }

    private func split(_ text: String, _ reader: TokenizerConfigReader) throws -> [String] {
        let scratch = EncodeScratch()
        var text = text
        text.withUTF8 { scratch.text.set($0) }
        scratch.pieces.set(PieceList.Piece(start: 0, end: scratch.text.current.count))
        for step in try reader.preTokenizers().steps { step.apply(to: scratch, isTextStart: true) }
        return scratch.pieces.pieces.map {
            String(decoding: scratch.text.current.all[$0.start..<$0.end], as: UTF8.self)
        }
    }

    @Test func decoders() throws {
        func decode(_ decoder: String, _ ids: [Int32]) throws -> String {
            try makeTokenizer(sentencePieceJSON(characters: "ab", decoder: decoder))
                .decode(ids, skipSpecialTokens: false)
        }
        let (space, a, b): (Int32, Int32, Int32) = (257, 258, 259)
        let metaspace = #"{"type":"Metaspace","replacement":"▁","prepend_scheme":"#
        #expect(try decode(metaspace + #""always"}"#, [space, a, space, b]) == "a b")
        #expect(try decode(metaspace + #""never"}"#, [space, a]) == " a")
        let strip = #"{"type":"Strip","content":"a","start":2,"stop":1}"#
        let fuse = #"{"type":"Sequence","decoders":[{"type":"Fuse"},"#
        #expect(try decode(fuse + strip + "]}", [a, a, a, b, a, a]) == "aba")
        #expect(try decode(fuse + strip + "]}", [b, a, b, a]) == "bab")
    }

    @Test func postProcessor() throws {
        let template = """
            {"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"s","type_id":0}},
            {"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"e","type_id":0}}],"pair":[],
            "special_tokens":{"s":{"id":"s","ids":[1,2],"tokens":["x","y"]},
            "e":{"id":"e","ids":[3],"tokens":["z"]}}}
            """
        let tokenizer = try makeTokenizer(
            sentencePieceJSON(characters: "a", postProcessor: template))
        #expect(tokenizer.encode("a", addSpecialTokens: true) == [1, 2, 257, 258, 3])
        #expect(tokenizer.encode("a", addSpecialTokens: false) == [257, 258])
    }

    /// Every way a stream can be cut gives what whole decoding gives, and never half a character.
    @Test func streams() throws {
        var generator = FixedRandom(5)
        let byteLevel = try makeTokenizer(byteLevelJSON())
        let pieces = try makeTokenizer(
            sentencePieceJSON(characters: "ab", merges: [("▁", "a"), ("▁", "▁")]))
        for tokenizer in [byteLevel, pieces] {
            for _ in 0..<300 {
                let bytes: [UInt8] = Array("é漢😀 a".utf8) + [0xFF, 0xC3, 0xE6, 0xF0]
                let ids = (0..<12).map { _ -> Int32 in
                    if Bool.random(using: &generator) {
                        return Int32.random(in: 250..<Int32(tokenizer.vocabularySize), using: &generator)
                    }
                    return Int32(bytes.randomElement(using: &generator) ?? 0)
                        + (tokenizer.vocabularySize == 256 ? 0 : 1)
                }
                var stream = tokenizer.makeTextStream()
                var text = ""
                for id in ids { text += stream.append(id) }
                text += stream.finish()
                #expect(sameBytes(text, tokenizer.decode(ids, skipSpecialTokens: true)), "\(ids)")
            }
        }
        var stream = byteLevel.makeTextStream()
        #expect(Array("é".utf8).map { stream.append(Int32($0)) } == ["", "é"])
        #expect(stream.append(0xF0) == "" && stream.append(0x9F) == "")
        #expect(stream.finish() == "\u{FFFD}")
    }
}
