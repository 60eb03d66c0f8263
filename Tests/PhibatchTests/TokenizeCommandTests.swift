import Foundation
import Testing

/// The shared golden files, through the program.
@Suite(
    .enabled(if: Program.path != nil, "the phibatch program is not beside the tests"),
    .enabled(if: TokenizeCommandTests.shared != nil, "PHIBATCH_SHARED is not set"))
struct TokenizeCommandTests {
    static let shared = ProcessInfo.processInfo.environment["PHIBATCH_SHARED"].map { $0 + "/fixtures" }

    private struct Golden: Decodable {
        var text: String?
        var ids_no_special: [Int32]?
        var ids_with_special: [Int32]?
        var decoded: String?
        var decoded_skip_special: String?
        var rendered_generation_prompt: String?
        var ids_generation_prompt: [Int32]?
        var rendered_no_generation_prompt: String?
        var ids_no_generation_prompt: [Int32]?
    }

    private struct Line: Codable {
        var ids: [Int32]
        var text: String?
    }

    private func golden(_ file: String) throws -> (text: String, lines: [Golden]) {
        let text = try String(
            contentsOf: URL(filePath: "\(Self.shared ?? "")/golden/public/\(file).jsonl"), encoding: .utf8)
        let lines = try text.split(separator: "\n").map {
            try JSONDecoder().decode(Golden.self, from: Data($0.utf8))
        }
        return (text, lines)
    }

    private func tokenize(_ model: String, _ options: [String], _ input: String) throws -> [Line] {
        let result = try Program.run(
            ["tokenize", "--model", "\(Self.shared ?? "")/\(model)"] + options, input: input)
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
        #expect(equal(try tokenize(model, [], text), lines.map(\.ids_no_special), texts))
        #expect(
            equal(try tokenize(model, ["--add-special-tokens"], text), lines.map(\.ids_with_special), texts))
        let ids = try lines.map {
            String(decoding: try JSONEncoder().encode(Line(ids: $0.ids_with_special ?? [])), as: UTF8.self)
                + "\n"
        }.joined()
        let all = lines.map(\.ids_with_special)
        #expect(equal(try tokenize(model, ["--decode"], ids), all, lines.map(\.decoded)))
        #expect(
            equal(
                try tokenize(model, ["--decode", "--skip-special-tokens"], ids), all,
                lines.map(\.decoded_skip_special)))
        let (chats, rendered) = try golden("\(model).chat")
        #expect(
            equal(
                try tokenize(model, [], chats), rendered.map(\.ids_generation_prompt),
                rendered.map(\.rendered_generation_prompt)))
        #expect(
            equal(
                try tokenize(model, ["--no-generation-prompt"], chats),
                rendered.map(\.ids_no_generation_prompt),
                rendered.map(\.rendered_no_generation_prompt)))
    }

    @Test func wrongLinesAreNamed() throws {
        let model = "\(Self.shared ?? "")/smollm2"
        let result = try Program.run(
            ["tokenize", "--model", model], input: "{\"text\":\"a\"}\n{\"texts\":\"b\"}\n")
        #expect(
            result.status == 65 && result.errors.contains("stdin:2: The line needs `text`"),
            "\(result.errors)")
        let missing = try Program.run(["tokenize", "--model", "\(Self.shared ?? "")/golden"])
        #expect(missing.status == 69 && missing.errors.contains("no tokenizer.json"), "\(missing.errors)")
    }
}
