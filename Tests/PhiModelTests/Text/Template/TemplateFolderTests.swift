import Foundation
import Testing

@testable import PhiModel
@testable import PhiText

/// Which template and which special tokens a model folder has.
@Suite struct TemplateFolderTests {
    private func withFolder(_ files: [String: String], _ body: (URL) throws -> Void) throws {
        try withTemporaryFolder { folder in
            for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
            try body(folder)
        }
    }

    private func rendered(_ files: [String: String]) throws -> String? {
        var result: String?
        try withFolder(files) { folder in
            result = try ChatTemplate.load(path: folder.path)?.render(
                [ChatMessage(role: "user", content: "hi")], addGenerationPrompt: true)
        }
        return result
    }

    private func failure(_ files: [String: String]) throws -> UserError {
        var result: UserError?
        try withFolder(files) { folder in
            result = modelError { _ = try ChatTemplate.load(path: folder.path) }
        }
        return try #require(result)
    }

    @Test func templateFromConfig() throws {
        let config =
            #"{"chat_template": "{{ messages[0].content }}{{ add_generation_prompt }}{{ tools }}\n"}"#
        #expect(try rendered(["tokenizer_config.json": config]) == "hiTrueNone")
    }

    @Test func ownFileWins() throws {
        let files = [
            "tokenizer_config.json": #"{"chat_template": "config", "eos_token": "E"}"#,
            "chat_template.jinja": "file {{ eos_token }}\n",
        ]
        #expect(try rendered(files) == "file E")
        #expect(try rendered(["chat_template.jinja": "alone{{ eos_token }}"]) == "alone")
    }

    @Test func namedTemplates() throws {
        let several =
            #"{"chat_template": [{"name": "tool_use", "template": "T"}, {"name": "default", "template": "D"}]}"#
        #expect(try rendered(["tokenizer_config.json": several]) == "D")
        let others = try failure([
            "tokenizer_config.json": #"{"chat_template": [{"name": "rag", "template": "R"}]}"#
        ])
        #expect(others.kind == .unsupported)
        #expect(others.message == "chat_template has no template named 'default', only 'rag'")
        #expect(others.place?.hasSuffix("tokenizer_config.json") == true)
    }

    @Test func tokensAreTextOrObjects() throws {
        let config = """
            {"chat_template": "{{ bos_token }}|{{ eos_token }}|{{ pad_token }}|{{ unk_token }}|{{ \
            additional_special_tokens | join(',') }}", "bos_token": "B", "eos_token": {"content": "E", "lstrip": false},
            "pad_token": null, "additional_special_tokens": ["x", {"content": "y"}]}
            """
        #expect(try rendered(["tokenizer_config.json": config]) == "B|E|||x,y")
    }

    @Test func tokensFromMap() throws {
        let map = #"{"bos_token": {"content": "MB"}, "eos_token": "ME"}"#
        let template = #""chat_template": "{{ bos_token }}{{ eos_token }}", "eos_token": "CE""#
        // An old configuration is overruled by the map; a complete one only completed.
        #expect(
            try rendered(["tokenizer_config.json": "{\(template)}", "special_tokens_map.json": map]) == "MBME"
        )
        let complete = #"{\#(template), "added_tokens_decoder": {}}"#
        #expect(try rendered(["tokenizer_config.json": complete, "special_tokens_map.json": map]) == "MBCE")
    }

    @Test func noTemplate() throws {
        #expect(try rendered([:]) == nil)
        #expect(try rendered(["tokenizer_config.json": "{}"]) == nil)
        #expect(try rendered(["tokenizer_config.json": #"{"chat_template": null}"#]) == nil)
    }

    @Test(arguments: [
        ("tokenizer_config.json", "{", "not valid JSON"),
        ("tokenizer_config.json", "[]", "is a list, not an object"),
        ("tokenizer_config.json", #"{"chat_template": 5}"#, "chat_template: expected a string"),
        (
            "tokenizer_config.json", #"{"chat_template": [{"name": "default"}]}"#,
            "chat_template[0].template: "
        ),
        (
            "tokenizer_config.json", #"{"chat_template": "x", "eos_token": 7}"#,
            "eos_token: expected an object"
        ),
        (
            "tokenizer_config.json", #"{"chat_template": "x", "eos_token": {}}"#,
            "eos_token.content: expected a string"
        ),
        ("tokenizer_config.json", #"{"chat_template": "a\n{{ x | nosuch }}"}"#, "line 2: the filter"),
        ("chat_template.jinja", "a\r\nb\r\n{% if %}", "chat template, line 3: "),
        ("special_tokens_map.json", "nope", "not valid JSON"),
        ("tokenizer_config.json", String(repeating: "[", count: 100_000), "not valid JSON"),
    ])
    func brokenFiles(file: String, text: String, says: String) throws {
        let error = try failure([file: text])
        #expect(error.kind == .malformed || error.kind == .unsupported)
        #expect(error.place?.hasSuffix(file) == true)
        #expect(error.message.contains(says), "\(error.message)")
    }

    @Test func notUTF8() throws {
        try withFolder([:]) { folder in
            try Data([0x61, 0xFF]).write(to: folder.appending(path: "chat_template.jinja"))
            let error = try #require(modelError { _ = try ChatTemplate.load(path: folder.path) })
            #expect(error.kind == .malformed)
            #expect(error.message == "the file is not UTF-8")
        }
    }
}
