import Foundation
import Testing

/// `phibatch tokenize`; that ids and texts are exact is tested with the golden files in PhiModelTests.
@Suite(
    .enabled(if: Program.path != nil, "the phibatch program is not beside the tests"),
    .enabled(if: Program.sharedFixtures != nil, "PHIBATCH_SHARED is not set"))
struct TokenizeCommandTests {
    private struct Line: Decodable {
        var ids: [Int32]
        var text: String?
    }

    private func tokenize(_ options: [String], _ input: String) throws -> Line {
        let result = try Program.run(
            ["tokenize", "--model", "\(Program.sharedFixtures ?? "")/phi-3.5-mini"] + options, input: input)
        #expect(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode(Line.self, from: Data(result.output.utf8))
    }

    @Test func eachOptionDoesWhatItSays() throws {
        let text = #"{"text":"Say so."}"# + "\n"
        let plain = try tokenize([], text)
        #expect(plain.text == "Say so." && plain.ids == [14891, 577, 29889])
        let ids = #"{"ids":\#(plain.ids + [32007])}"# + "\n"
        #expect(try tokenize(["--add-special-tokens"], text).ids.suffix(3) == plain.ids[...])
        #expect(try tokenize(["--decode"], ids).text == "Say so.<|end|>")
        #expect(try tokenize(["--decode", "--skip-special-tokens"], ids).text == "Say so.")
        let chat = #"{"messages":[{"role":"user","content":"Hi"}]}"# + "\n"
        let (with, without) = (try tokenize([], chat), try tokenize(["--no-generation-prompt"], chat))
        #expect(with.text == "<|user|>\nHi<|end|>\n<|assistant|>\n")
        #expect(without.text == "<|user|>\nHi<|end|>\n<|endoftext|>")
    }

    @Test func wrongLinesAreNamed() throws {
        let model = "\(Program.sharedFixtures ?? "")/smollm2"
        let result = try Program.run(
            ["tokenize", "--model", model], input: "{\"text\":\"a\"}\n{\"texts\":\"b\"}\n")
        #expect(
            result.status == 65 && result.errors.contains("stdin:2: The line needs `text`"),
            "\(result.errors)")
        let missing = try Program.run(["tokenize", "--model", "\(Program.sharedFixtures ?? "")/golden"])
        #expect(missing.status == 69 && missing.errors.contains("no tokenizer.json"), "\(missing.errors)")
    }
}
