import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct ReportPromptsTests {
    /// Prompts belong to results by id and content, wherever their lines stand.
    @Test func promptsAreFoundByIDAndContent() throws {
        let folder = try TestFolder()
        let long = String(repeating: "é", count: 40_000)
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
        let ids = ["a", "b", "c", "d", "e"]
        let prompts = try ReportPrompts(of: job, for: Set(["a", "c", "d", "e"].map(ReportPrompts.hash)))
        func found(_ id: Int, _ content: UInt64) -> String? {
            prompts.prompt(of: ResultKey(id: ids[id], contentHash: content))?.text
        }
        #expect(found(0, hashes[0]) == "[system]\nBe brief.\n\n[user]\nWhy? Say so.")
        #expect(found(0, hashes[2])?.hasSuffix("Again? Say so.") == true)
        // A result may have been made again.
        #expect(found(0, hashes[0] &+ 2)?.hasSuffix("Why? Say so.") == true)
        // Of another line, one that isn't asked for, one without a prompt, none.
        for (id, content) in [(0, 5), (1, hashes[1]), (2, hashes[3]), (4, 0)] {
            #expect(found(id, content) == nil)
        }
        let cut = try #require(found(3, hashes[4]))
        #expect(cut.utf8.count <= 32 << 10 && cut.hasSuffix("é"))
    }
}
