import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct ReportPromptsTests {
    private func text(_ prompt: ReportPrompts.Prompt) -> String {
        switch prompt {
        case .text(let text, _): text
        case .changed: "(changed)"
        case .absent: "(none)"
        case .gone: "(gone)"
        }
    }

    /// Prompts belong to results by id and content, wherever their lines stand.
    @Test func promptsAreFoundByIDAndContent() throws {
        let folder = try TestFolder()
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
            hashes.append(JobLine(line, try LineKeys(job)).contentHash)
        }
        let ids = ["a", "b", "c", "d", "e"].map(ReportPrompts.hash)
        let prompts = try ReportPrompts(of: job, for: Set(ids).subtracting([ids[1]]))
        func found(_ id: Int, _ content: UInt64) -> String {
            text(prompts.prompt(.init(id: ids[id], content: content)))
        }
        #expect(found(0, hashes[0]) == "[system]\nBe brief.\n\n[user]\nWhy? Say so.")
        #expect(found(0, hashes[2]).hasSuffix("Again? Say so."))
        #expect(found(0, 5) == "(changed)")
        // A result may have been made again.
        #expect(found(0, hashes[0] &+ 2).hasSuffix("Why? Say so."))
        #expect(found(1, hashes[1]) == "(gone)")
        #expect(found(2, hashes[3]) == "(none)")
        #expect(found(4, 0) == "(gone)")
        let cut = found(3, hashes[4])
        #expect(cut.utf8.count <= ReportPrompts.textLimit && cut.hasSuffix("é"))
    }

    /// Beyond the limit of bytes prompts are left out, and known to be.
    @Test func promptsBeyondTheLimitAreKnown() throws {
        let folder = try TestFolder()
        let input = try folder.write(
            "{\"prompt\":\"12345\"}\n{\"prompt\":\"678\"}\n{\"prompt\":\"90\"}\n", to: "in.jsonl")
        let job = JobSettings.test(input: [input])
        var (reader, names) = (InputReader(paths: [input]), [ReportPrompts.Name]())
        while let line = try reader.next() {
            let identity = JobLine(line, try LineKeys(job))
            names.append(.init(id: ReportPrompts.hash(identity.id), content: identity.contentHash))
        }
        let prompts = try ReportPrompts(of: job, for: Set(names.map(\.id)), limit: 7)
        #expect(names.map(prompts.isLeftOut) == [false, true, false])
        #expect(prompts.prompt(names[2]) == .text("90", length: 2))
    }
}
