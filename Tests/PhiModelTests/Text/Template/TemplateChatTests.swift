import Foundation
import JSON
import Testing

@testable import PhiModel
@testable import PhiText

/// The models' own templates against transformers' renderings.
struct TemplateGoldenTests {
    static let models =
        [("phi-3.5-mini", "phi-3.5-mini")]
        + (ModelFixtures.hasAll
            ? [
                ("phi-4-mini", "phi-4-mini"), ("phi-4-mini/hf", "phi-4-mini"), ("phi-4", "phi-4"),
                ("smollm2", "smollm2"),
            ] : [])

    @Test(arguments: models) func goldenConversations(folder: String, golden: String) throws {
        let fixtures = try ModelFixtures.folder()
        let template = try #require(try ChatTemplate.load(path: fixtures.appending(path: folder).path))
        let lines = try Data(contentsOf: fixtures.appending(path: "golden/public/\(golden).chat.jsonl"))
            .split(separator: 0x0A)
        #expect(lines.count == 89)
        for line in lines {
            let entry = try JSONValue.parse(Data(line))
            let name = try #require(entry["name"]?.text)
            let messages = try #require(entry["messages"]).items
            for (prompt, key) in [
                (false, "rendered_no_generation_prompt"), (true, "rendered_generation_prompt"),
            ] {
                let wanted = try #require(entry[key]?.text)
                let found = try template.render(messages: messages, addGenerationPrompt: prompt)
                expectSame(found, wanted, "\(folder) \(name) \(key)")
            }
        }
    }
}
