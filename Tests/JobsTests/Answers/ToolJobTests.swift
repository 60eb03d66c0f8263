import BatchEngine
import Foundation
import JSON
import PhiText
import Testing

@testable import Jobs

/// Jobs whose answers call functions, with a scripted model.
@Suite struct ToolJobTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    static let tools: JSONValue = [
        [
            "type": "function",
            "function": [
                "name": "count", "description": "Counts.",
                "parameters": [
                    "type": "object", "$defs": ["place": ["type": "string", "enum": ["bc", "日"]]],
                    "properties": [
                        "to": ["type": "integer", "minimum": 0, "maximum": 30],
                        "at": ["type": "array", "items": ["$ref": "#/$defs/place"], "maxItems": 3],
                    ], "required": ["to", "at"], "additionalProperties": false,
                ],
            ],
        ],
        ["type": "function", "function": ["name": "rest"]],
    ]
    private func job(
        _ folder: TestFolder, _ change: (inout JobSettings) -> Void = { _ in }
    ) throws -> JobSettings {
        let input = try folder.write(
            (0..<40).map {
                "{\"id\":\"\($0)\",\"prompt\":\"\(String(repeating: "p", count: $0 % 9)) \($0)\"}\n"
            }
            .joined(), to: "in.jsonl")
        return .test(input: [input]) { job in
            job.forms[AnswerKey.tools.name] = ToolsRule(Self.tools).map { $0.form }
            (job.temperature, job.maxTokens, job.seed) = (1, 60, 3)
            change(&job)
        }
    }

    /// Each call names a function that there is, and its arguments are what that one takes.
    private func calls(_ line: String) throws -> [(name: String, arguments: JSONValue)] {
        let json = try JSONValue(parsing: Array(line.utf8), limits: .line)
        guard let list = json["tool_calls"] else {
            #expect(json.string("finish_reason") != "tool_calls")
            return []
        }
        #expect(json.string("finish_reason") == "tool_calls")
        return try #require(list.elements).map { call in
            #expect(call.string("id")?.hasPrefix("call_") == true)
            let name = try #require(call["function"]?.string("name"))
            let text = try #require(call["function"]?.string("arguments"))
            let arguments = try JSONValue(parsing: Array(text.utf8), limits: .line)
            #expect(["count", "rest"].contains(name))
            if name == "count" {
                #expect((0...30).contains(arguments.int("to") ?? -1))
                let places = arguments["at"]?.elements
                #expect(places?.allSatisfy { $0 == "bc" || $0 == "日" } == true, "\(line)")
            }
            return (name, arguments)
        }
    }

    private func run(_ job: JobSettings) throws -> [String] {
        try ScriptedRun.run(job).lines.map { $0.contains("\"error\"") ? $0 : $0 + "}" }
    }

    /// Kept fields change a line's digest, and no request.
    @Test func idsOfCallsAreOfTheRequest() throws {
        func ids(_ keep: KeptFields) throws -> [String] {
            let job = try job(folder) {
                ($0.request.toolChoice, $0.maxTokens, $0.keep) = ("required", 200, keep)
            }
            return try run(job).flatMap { $0.matches(of: /"id":"(call_[^"]*)"/).map { String($0.1) } }
        }
        let plain = try ids(.fields([]))
        #expect(try plain.count > 40 && Set(plain).count == plain.count && ids(.all) == plain)
    }

    @Test func callsThatMustBeAreThere() throws {
        let job = try job(folder) { ($0.request.toolChoice, $0.maxTokens) = ("required", 200) }
        let all = try run(job).map(calls)
        #expect(all.allSatisfy { !$0.isEmpty } && all.contains { $0.count > 1 })
        #expect(Set(all.flatMap { $0.map(\.name) }) == ["count", "rest"])
        let one = try run(
            self.job(folder) { ($0.request.toolChoice, $0.request.maxToolCalls) = ("count", 5) })
        #expect(try one.map(calls).allSatisfy { $0.map(\.name) == ["count"] })
        let single = try run(
            self.job(folder) { ($0.request.toolChoice, $0.request.maxToolCalls) = ("required", 1) })
        #expect(try single.map(calls).allSatisfy { $0.count == 1 })
    }

    /// The scripted model comes upon the mark by itself here and there.
    @Test func callsComeAsTheModelLikes() throws {
        let lines = try run(job(folder))
        let some = try lines.map(calls).filter { !$0.isEmpty }
        #expect(some.count > 3 && some.count < 40)
        let none = try run(job(folder) { $0.request.toolChoice = "none" })
        #expect(try none.map(calls).allSatisfy(\.isEmpty) && none.allSatisfy { !$0.contains(" the") })
    }

    private static let form: JSONValue = [
        "type": "object", "properties": ["the": ["type": "string", "maxLength": 9]], "required": ["the"],
        "additionalProperties": false,
    ]

    /// Whatever lines choose, with reasoning and without, in all ways of running: calls alone, or the form alone.
    @Test(arguments: [false, true]) func anotherFormStandsBesideThem(thinks: Bool) throws {
        let choices = ["auto", "none", "required", "rest", "auto"]
        let lines = (0..<60).map {
            "{\"id\":\"\($0)\",\"prompt\":\"p \($0)\",\"tool_choice\":\"\(choices[$0 % 5])\"}\n"
        }
        let input = try folder.write(lines.joined(), to: "lines.jsonl")
        let job = try job(folder) {
            ($0.input, $0.maxTokens) = ([input], thinks ? 90 : 60)
            $0.forms[AnswerKey.schema.name] = .schema(Self.form)
        }
        let reasonings = thinks ? ReasoningTests.reasonings() : nil
        let schema = try #require(job.forms[AnswerKey.schema.name]).checked()
        var expected: [String]?
        for workers in [1, 7, 32] {
            let model = ScriptedModel()
            model.reasonings = reasonings
            var job = job
            (job.engine.workers, job.engine.prefillChunk) = (workers, 512 / workers)
            job.engine.speculation = .tokens(workers % 7 + 1)
            let (outcome, lines) = try ScriptedRun.run(job, model)
            #expect(outcome.statistics.failed == 0 && lines == expected ?? lines)
            expected = lines
        }
        #expect(try ScriptedRun.stopped(job, seed: 4, steps: 30, reasonings: reasonings) == expected)
        var counts: [String: Int] = [:]
        for (number, line) in try #require(expected).enumerated() {
            let calls = try calls(line + "}")
            let text = try JSONValue(parsing: Array((line + "}").utf8), limits: .line).string("text") ?? "-"
            #expect(calls.isEmpty ? schema.problem(with: text) == nil : text.isEmpty, "\(line)")
            counts[choices[number % 5] + (calls.isEmpty ? "" : " calls"), default: 0] += 1
            if choices[number % 5] == "rest" { #expect(calls.map(\.name) == ["rest"]) }
        }
        #expect(counts["none"] == 12 && counts["required calls"] == 12 && counts["rest calls"] == 12)
        #expect(counts["auto", default: 0] > 3 && counts["auto calls", default: 0] > 3, "\(counts)")
    }

    /// A stop string ends what is said in words, and no call, which may well have it.
    @Test func stopsEndWordsAndNoCalls() throws {
        let stops = ["bc", "日", "he[", "th", "n"]
        let lines = try run(job(folder) { ($0.stop, $0.maxTokens) = (stops, 200) })
        var calling = 0
        for line in lines {
            let text = try JSONValue(parsing: Array(line.utf8), limits: .line).string("text") ?? "bc"
            #expect(stops.allSatisfy { !text.contains($0) }, "\(line)")
            calling += try calls(line).isEmpty ? 0 : 1
        }
        #expect(calling > 3, "\(calling)")
        #expect(lines.contains { $0.contains(#"bc\""#) }, "a stop string is in a call")
        let refused = try job(folder) {
            ($0.stop, $0.forms[AnswerKey.regex.name]) = (stops, .regex("a"))
        }
        #expect(refused.answerProblem?.hasPrefix("stop can't be combined with regex") == true)
    }

    @Test func aChoiceOfNoToolIsRefused() throws {
        let problem = try job(folder) { $0.request.toolChoice = "cuont" }.answerProblem
        #expect(problem?.hasPrefix("tool_choice must be none, auto, required, or one of the tools") == true)
        #expect(problem?.contains("Did you mean count?") == true, "\(problem ?? "")")
        for wrong: JSONValue in [
            [["type": "function", "function": ["name": 1]]], [["type": "function"]],
            [
                ["type": "function", "function": ["name": "a"]],
                ["type": "function", "function": ["name": "a"]],
            ],
        ] { #expect(ToolsRule(wrong) == nil) }
        // A field of lines may well be named so.
        #expect(!AnswerKey.tools.isAsked(["hammer"]) && !AnswerKey.tools.isAsked("saw"))
    }

    @Test func theModelIsToldOfThem() throws {
        let tools = try #require(ScriptedModel().tools)
        let told = try #require(ToolsRule(Self.tools)).told
        let asked = try Prompt.messages([ChatMessage(role: "user", content: "Go.")])
            .written(by: tools, asking: told)
        guard case .messages(let messages) = asked else { return #expect(Bool(false)) }
        #expect(messages.map(\.role) == ["system", "user"])
        #expect(messages[0].content.contains(#"{"name":"count","description":"Counts.","parameters":{"#))
        let call = JSONMember(
            name: "tool_calls",
            value: [
                ["id": "1", "type": "function", "function": ["name": "count", "arguments": "{\"to\":1}"]]
            ])
        let later = tools.written([
            ChatMessage(role: "assistant", content: "Well. ", members: [call]),
            ChatMessage(role: "tool", content: "30", members: [JSONMember(name: "tool_call_id", value: "1")]),
        ])
        #expect(
            later[0].content == #"Well. the[{"name":"count","arguments":{"to":1}}]end"#
                && later[0].members.isEmpty)
        #expect(later[1] == ChatMessage(role: "user", content: "<tool_response>\n30\n</tool_response>"))
    }
}
