import Foundation
import Testing

@testable import PhiModel
@testable import PhiText

/// All vectors that Hugging Face's tokenizers made for the real tokenizers.
struct TokenizerGoldenTests {
    @Test(arguments: ModelFixtures.models)
    func encodesAndDecodesExactly(_ model: String) throws {
        let tokenizer = try ModelFixtures.tokenizer(model)
        let lines = try ModelFixtures.golden(model)
        #expect(lines.count > 600)
        var wrong: [String] = []
        for line in lines {
            if tokenizer.encode(line.text, addSpecialTokens: false) != line.ids {
                wrong.append("encode \(line.category): \(line.text.debugDescription)")
            }
            if tokenizer.encode(line.text, addSpecialTokens: true) != line.idsWithSpecial {
                wrong.append("encode with special \(line.category): \(line.text.debugDescription)")
            }
            let decoded = tokenizer.decode(line.idsWithSpecial, skipSpecialTokens: false)
            if !sameBytes(decoded, line.decoded) {
                wrong.append("decode \(line.category): \(line.text.debugDescription)")
            }
            let skipped = tokenizer.decode(line.idsWithSpecial, skipSpecialTokens: true)
            if !sameBytes(skipped, line.decodedSkipping) {
                wrong.append("decode, skip \(line.category): \(line.text.debugDescription)")
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) wrong, first: \(wrong.prefix(5))")
    }

    @Test(arguments: ModelFixtures.models)
    func streamsWhatItDecodes(_ model: String) throws {
        let tokenizer = try ModelFixtures.tokenizer(model)
        for (number, line) in try ModelFixtures.golden(model).enumerated() {
            let ids = line.idsWithSpecial
            // Every line whole; every seventh cut off at each place.
            let ends = number % 7 == 0 && ids.count < 200 ? Array(0...ids.count) : [ids.count]
            for end in ends {
                var stream = tokenizer.makeTextStream()
                var text = ""
                for id in ids[..<end] { text += stream.append(id) }
                text += stream.finish()
                let whole = tokenizer.decode(Array(ids[..<end]), skipSpecialTokens: true)
                #expect(sameBytes(text, whole), "\(line.category), first \(end) ids")
            }
        }
    }

    @Test(arguments: zip(ModelFixtures.models, [32011, 200029, 100352, 49152]))
    func knowsItsVocabulary(_ model: String, _ size: Int) throws {
        let tokenizer = try ModelFixtures.tokenizer(model)
        #expect(tokenizer.vocabularySize == size)
        for id in Int32(0)..<Int32(size) {
            guard let content = tokenizer.content(of: id) else { continue }
            #expect(tokenizer.id(of: String(decoding: content, as: UTF8.self)) == id)
        }
    }

    @Test func namesBytesOfTokens() throws {
        let phi3 = try ModelFixtures.tokenizer("phi-3.5-mini")
        #expect(phi3.bytes(of: 3 + 0x0A) == [0x0A])
        #expect(phi3.bytes(of: 3 + 0xE4) == [0xE4])
        #expect(phi3.text(of: 3 + 0xE4) == "\u{FFFD}")
        let the = try #require(phi3.id(of: "▁the"))
        #expect(phi3.text(of: the) == " the")
        #expect(phi3.isSpecial(32007) && !phi3.isSpecial(the) && !phi3.isSpecial(2))
        #expect(phi3.text(of: 32007) == "<|end|>")
        #expect(phi3.bytes(of: 99999).isEmpty && phi3.bytes(of: -1).isEmpty)
    }

    @Test(.enabled(if: ModelFixtures.hasAll, "PHIBATCH_SHARED is not set: only Phi-3.5's vectors are run"))
    func namesBytesOfByteLevelTokens() throws {
        let phi4 = try ModelFixtures.tokenizer("phi-4-mini")
        let word = try #require(phi4.id(of: "Ġthe"))
        #expect(phi4.text(of: word) == " the")
    }

    /// Phi-4-mini doesn't mark this one as special.
    @Test(.enabled(if: ModelFixtures.hasAll, "PHIBATCH_SHARED is not set: only Phi-3.5's vectors are run"))
    func aControlTokenInTheMiddleIsTextUnlessItIsMeant() throws {
        let phi4 = try ModelFixtures.tokenizer("phi-4-mini")
        let call = try #require(phi4.id(of: "<|tool_call|>"))
        #expect(phi4.encode(continuing: "<|tool_call|>", isControl: true) == [call])
        let text = phi4.encode(continuing: "<|tool_call|>")
        #expect(text.count > 1 && !text.contains(call))
    }
}
