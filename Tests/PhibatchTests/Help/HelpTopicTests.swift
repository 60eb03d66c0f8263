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
        "model_failed", "rows_accepted", "rows_dropped", "not_accepted", "talk_2", "talk_reply", "no_item",
        "talk_reply_2", "reasoning_tokens", "reasoning_cut", "reasoning_length", "reasoning_content",
        "tool_calls", "base_url", "api_key", "gen_ai", "save_to_disk", "credential_process",
        "authorized_user", "service_account", "external_account", "role_arn", "source_profile",
        "credential_source", "stream_options", "include_usage",
    ]

    /// Each word of settings' form is one, in texts and in examples; so is each option.
    @Test(arguments: HelpTopic.all.map(\.name)) func namesAreKnown(name: String) throws {
        let topic = try #require(HelpTopic.named(name))
        let codes = LineError.Code.allCases.map(\.rawValue)
        for word in topic.source.matches(of: /[a-z]+(_[a-z0-9]+)+/) {
            let word = String(word.0)
            #expect(
                JobKey.named(word) != nil || Self.others.contains(word) || codes.contains(word), "\(word)")
        }
        let dump = try JSONSerialization.jsonObject(with: Data(Phibatch._dumpHelp().utf8))
        let options = Self.options(in: dump)
        for option in topic.source.matches(of: /(?:^|[ `(])(--[a-z-]+)/) {
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

    /// Nothing is wider than a terminal, but what must not be broken.
    @Test(arguments: HelpTopic.all.map(\.name)) func pagesFit(name: String) throws {
        let text = try #require(try HelpPage(["help", name])).text(columns: 80)
        let topic = text.split(separator: "TOPIC: \(name)").last ?? ""
        for line in topic.split(separator: "\n") { #expect(line.count <= 110, "\(line)") }
        for line in topic.split(separator: "\n") where !line.hasPrefix("  ") {
            #expect(line.count <= 80, "\(line)")
        }
        #expect(!topic.contains("`") && !topic.contains("::"))
    }

    @Test func everySettingIsInTheJobTopic() {
        let page = HelpTopic.job.shown(columns: 80)
        for key in JobKey.all {
            #expect(page.contains("\n  \(key.name) ") || page.contains("\n  \(key.name)\n"))
        }
    }

    @Test func listsHaveTopicsBelowCommands() throws {
        for arguments in [[], ["help"], ["--help"]] {
            let text = try #require(try HelpPage(arguments)).text(columns: 80)
            let parts = text.split(separator: "TOPICS:")
            #expect(parts.count == 2 && parts[0].contains("\n  run ") && parts[1].contains("\n  sampling "))
        }
    }

    @Test func commandsKeepTheirHelp() throws {
        #expect(try HelpPage(["help", "run"]) == nil && HelpPage(["run", "--help"]) == nil)
        let both = try #require(try HelpPage(["help", "verify"])).text(columns: 80)
        #expect(both.contains("USAGE: phibatch verify") && both.contains("TOPIC: verify"))
    }

    @Test func unknownTopicsAreNamed() throws {
        let program = try Program.run(["help", "samplng"])
        #expect(program.status == 64 && program.output.isEmpty)
        #expect(program.errors == "phibatch: there is no help on 'samplng'. Did you mean sampling?\n")
        #expect(HelpPage.unknown("xyzzy").description.contains("Topics are job, input"))
    }
}
