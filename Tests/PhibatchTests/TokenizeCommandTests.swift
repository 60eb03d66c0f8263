import Foundation
import Testing

/// The shared golden files, through the program.
@Suite(
    .enabled(if: Program.path != nil, "the phibatch program is not beside the tests"),
    .enabled(if: Program.sharedFixtures != nil, "PHIBATCH_SHARED is not set"))
struct TokenizeCommandTests {
    private struct Golden: Decodable {
        var text: String?
        var idsNoSpecial: [Int32]?
        var idsWithSpecial: [Int32]?
        var decoded: String?
        var decodedSkipSpecial: String?
        var renderedGenerationPrompt: String?
        var idsGenerationPrompt: [Int32]?
        var renderedNoGenerationPrompt: String?
        var idsNoGenerationPrompt: [Int32]?
    }

    private struct Line: Codable {
        var ids: [Int32]
        var text: String?
    }

    private func golden(_ file: String) throws -> (text: String, lines: [Golden]) {
        let text = try String(
            contentsOf: URL(filePath: "\(Program.sharedFixtures ?? "")/golden/public/\(file).jsonl"),
            encoding: .utf8)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let lines = try text.split(separator: "\n").map {
            try decoder.decode(Golden.self, from: Data($0.utf8))
        }
        return (text, lines)
    }

    private func tokenize(_ model: String, _ options: [String], _ input: String) throws -> [Line] {
        let result = try Program.run(
            ["tokenize", "--model", "\(Program.sharedFixtures ?? "")/\(model)"] + options, input: input)
        #expect(result.status == 0, "\(result.errors)")
        return try result.output.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }

    private func equal(_ lines: [Line], _ ids: [[Int32]?], _ texts: [String?]) -> Bool {
        lines.map(\.ids) == ids && lines.count == texts.count
            && zip(lines, texts).allSatisfy { Array(($0.text ?? "").utf8) == Array(($1 ?? "").utf8) }
    }

    @Test(arguments: ["phi-3.5-mini", "phi-4-mini", "phi-4", "smollm2"])
    func goldenFilesAgree(model: String) throws {
        let (text, lines) = try golden("\(model).tokenizer")
        let texts = lines.map(\.text)
        #expect(equal(try tokenize(model, [], text), lines.map(\.idsNoSpecial), texts))
        #expect(
            equal(try tokenize(model, ["--add-special-tokens"], text), lines.map(\.idsWithSpecial), texts))
        let ids = try lines.map {
            String(decoding: try JSONEncoder().encode(Line(ids: $0.idsWithSpecial ?? [])), as: UTF8.self)
                + "\n"
        }.joined()
        let all = lines.map(\.idsWithSpecial)
        #expect(equal(try tokenize(model, ["--decode"], ids), all, lines.map(\.decoded)))
        #expect(
            equal(
                try tokenize(model, ["--decode", "--skip-special-tokens"], ids), all,
                lines.map(\.decodedSkipSpecial)))
        let (chats, rendered) = try golden("\(model).chat")
        #expect(
            equal(
                try tokenize(model, [], chats), rendered.map(\.idsGenerationPrompt),
                rendered.map(\.renderedGenerationPrompt)))
        #expect(
            equal(
                try tokenize(model, ["--no-generation-prompt"], chats),
                rendered.map(\.idsNoGenerationPrompt),
                rendered.map(\.renderedNoGenerationPrompt)))
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
