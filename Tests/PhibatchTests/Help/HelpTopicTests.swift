import BatchEngine
import BatchPipeline
import Foundation
import Testing

@testable import phibatch

@Suite struct HelpTopicTests {
    /// Words as the help has them that are no settings: members of results and lines, codes of errors.
    private static let others: Set = [
        "distinct", "duplicate_of",
        "finish_reason", "stop_sequence", "prompt_tokens", "completion_tokens", "line_hash", "custom_id",
        "error_message", "json_object", "json_schema", "context_length", "bad_message", "bad_settings",
        "model_failed", "rows_accepted", "rows_dropped", "not_accepted", "no_item",
        "question_2", "reasoning_tokens", "reasoning_cut", "reasoning_length", "reasoning_content",
        "tool_calls", "token_logprobs", "base_url", "api_key", "stream_options", "include_usage",
    ]

    /// Each word of settings' form is one, in texts and in examples; so is each option.
    @Test(arguments: HelpTopic.all.map(\.name)) func namesAreKnown(name: String) throws {
        let topic = try #require(HelpTopic.named(name))
        let codes = LineError.Code.allCases.map(\.rawValue) + ResultTime.all.map(\.name)
        for word in topic.text.matches(of: /[a-z]+(_[a-z0-9]+)+/) {
            let word = String(word.0)
            #expect(
                JobKey.named(word) != nil || Self.others.contains(word) || codes.contains(word), "\(word)")
        }
        let dump = try JSONSerialization.jsonObject(with: Data(Phibatch._dumpHelp().utf8))
        let options = Self.options(in: dump)
        for option in topic.text.matches(of: /(?:^|[ `(])(--[a-z-]+)/) {
            #expect(options.contains(String(option.1)), "\(option.1)")
        }
    }

    /// The long names in what the parser tells of itself.
    private static func options(in json: Any) -> Set<String> {
        if let list = json as? [Any] { return list.reduce(into: []) { $0.formUnion(options(in: $1)) } }
        guard let object = json as? [String: Any] else { return [] }
        let own = object["kind"] as? String == "long" ? object["name"] as? String : nil
        return options(in: Array(object.values)).union(own.map { ["--" + $0] } ?? [])
    }

    /// Nothing is wider than a terminal but examples and what must not be broken.
    @Test(arguments: HelpTopic.all.map(\.name)) func pagesFit(name: String) throws {
        let text = try #require(HelpTopic.named(name)).text
        #expect(text.hasPrefix("# \(name): ") && text.hasSuffix("\n") && !text.hasSuffix("\n\n"))
        for line in text.split(separator: "\n") {
            #expect(line.count <= (line.hasPrefix("    ") ? 110 : 80), "\(line)")
        }
    }

    /// Each file beside the command is in the list.
    @Test func allPagesAreTopics() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/phibatch/Help/Topics")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(files) == Set(HelpTopic.all.map { $0.name + ".md" }))
    }

    /// Texts that name what stands in tables name all of it.
    @Test func tablesAreInTheirPages() throws {
        func items(_ topic: String, after heading: String = "") throws -> [String] {
            let text = try #require(HelpTopic.named(topic)).text
            let rest = heading.isEmpty ? text[...] : text[try #require(text.range(of: heading)).upperBound...]
            let block = rest.components(separatedBy: "\n\n").first {
                $0.firstMatch(of: #/(?m)^(-|1\.) /#) != nil
            }
            return (block ?? "").matches(of: #/(?m)^(?:-|[0-9]+\.) (?:`([^`]+)`|([^:]+):)/#).map {
                String($0.1 ?? $0.2 ?? "")
            }
        }
        #expect(try items("results", after: "codes\nare:") == LineError.Code.allCases.map(\.rawValue))
        #expect(try items("answers") == AnswerKey.names)
        #expect(try Set(items("engines")) == Set(EngineKind.allCases.map { "engine: \($0.rawValue)" }))
        let steps = ["logit_bias", "presence_penalty", "frequency_penalty", "repetition_penalty"]
        #expect(
            try items("sampling", after: "## The steps")
                == steps + ["no_repeat_ngram_size", "temperature", "top_k", "top_p", "min_p", "seed"])
        let pages = try ["job", "steps", "input", "pipe"].map { try #require(HelpTopic.named($0)).text }
        for key in JobKey.all { #expect(pages[0].contains("\n- `\(key.name)`: "), "\(key.name)") }
        for name in AnswerKey.names {
            for page in pages { #expect(page.contains("`\(name)`"), "\(name)") }
        }
        for setting in RequestSetting.sampling where setting.places.contains(.line) {
            #expect(pages[2].contains("`\(setting.name)`"))
        }
    }

    @Test func listsHaveTopicsBelowCommands() throws {
        for arguments in [[], ["help"], ["--help"]] {
            let parts = try #require(try HelpTopic.page(arguments)).split(separator: "TOPICS:")
            #expect(parts.count == 2 && parts[0].contains("\n  run ") && parts[1].contains("\n  sampling "))
        }
    }

    @Test func commandsKeepTheirHelp() throws {
        #expect(try HelpTopic.page(["help", "run"]) == nil && HelpTopic.page(["run", "--help"]) == nil)
        let both = try #require(try HelpTopic.page(["help", "verify"]))
        #expect(both.contains("USAGE: phibatch verify") && both.contains("# verify: "))
    }

    @Test func unknownTopicsAreNamed() throws {
        let program = try Program.run(["help", "samplng"])
        #expect(program.status == 64 && program.output.isEmpty)
        #expect(program.errors == "phibatch: there is no help on 'samplng'. Did you mean sampling?\n")
        let setting = try #require(try HelpTopic.page(["help", "max-tokens"]))
        #expect(setting.hasPrefix("`max_tokens`: ") && setting.contains("--max-tokens <N>"))
    }
}
