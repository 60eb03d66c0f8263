import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct ReportPromptsTests {
    private func text(_ prompt: ReportPrompts.Prompt) -> String {
        switch prompt {
        case .text(let text, _): text
        case .changed: "(changed)"
        case .none: "(none)"
        }
    }

    /// Prompts belong to results by id and content, wherever their lines stand.
    @Test func promptsAreFoundByIDAndContent() throws {
        let folder = try TemporaryFolder()
        let long = String(repeating: "é", count: ReportPrompts.textLimit)
        let lines = [
            #"{"id":"a","question":"Why?"}"#, #"{"id":"b","question":"How?"}"#,
            #"{"id":"a","question":"Again?"}"#, #"{"id":"c"}"#, "{\"id\":\"d\",\"question\":\"\(long)\"}",
        ]
        let input = try folder.write(lines.joined(separator: "\n"), to: "in.jsonl")
        let job = JobSettings.test(input: [input]) {
            $0.prompt = "{{ question }} Say so."
            $0.system = "Be brief."
        }
        var hashes: [UInt64] = []
        var reader = InputReader(paths: [input])
        while let line = try reader.next() {
            hashes.append(LineIdentity(line, by: reader, try LineKeys(job)).contentHash)
        }
        let ids = ["a", "b", "c", "d", "e"].map(ReportPrompts.hash)
        let prompts = try ReportPrompts(of: job, for: Set(ids).subtracting([ids[1]]), folder: nil)
        func found(_ id: Int, _ content: UInt64?) throws -> String {
            text(try prompts.prompt(id: ids[id], content: content))
        }
        #expect(try found(0, hashes[0]) == "[system]\nBe brief.\n\n[user]\nWhy? Say so.")
        #expect(try found(0, hashes[2]).hasSuffix("Again? Say so."))
        #expect(try found(0, nil).hasSuffix("Why? Say so."))
        #expect(try found(0, 5) == "(changed)")
        // A result may have been made again.
        #expect(try found(0, hashes[0] &+ 2).hasSuffix("Why? Say so."))
        #expect(try found(1, hashes[1]) == "(none)")
        #expect(try found(2, hashes[3]) == "(none)")
        #expect(prompts.isWithoutLine(id: ids[4], content: nil))
        #expect(prompts.isWithoutLine(id: ids[0], content: 5))
        #expect(!prompts.isWithoutLine(id: ids[2], content: hashes[3]))
        let cut = try found(3, hashes[4])
        #expect(cut.utf8.count <= ReportPrompts.textLimit && cut.hasSuffix("é"))
    }
}
