import JSON
import PhiModel
import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct PromptRecordTests {
    private func prompt(_ line: String, _ change: (inout JobSettings) -> Void = { _ in }) throws -> Prompt {
        let job = JobSettings.test(input: [], change)
        return try PromptBuilder(job).prompt(for: PromptRecord.parse(Array(line.utf8)))
    }

    @Test func settingsOfALineAreRead() throws {
        let record = try PromptRecord.parse(
            Array(
                #"{"id":"a","prompt":"p","max_tokens":5,"seed":-3,"stop":"x","temperature":1,"top_p":0.5,"top_k":3,"min_p":0.1}"#
                    .utf8))
        #expect(
            record.settings.maxTokens == 5 && record.settings.seed == -3
                && record.settings.stop == ["x"])
        #expect(
            record.settings.temperature == 1 && record.settings.topP == 0.5 && record.settings.topK == 3
                && record.settings.minP == 0.1)
        #expect(record.settings.presencePenalty == nil && record.settings.logitBias == nil)
        let rules = try PromptRecord.parse(
            Array(
                #"{"prompt":"p","presence_penalty":-2,"frequency_penalty":0.5,"repetition_penalty":1.5,"logit_bias":{"15":-100,"7":2.5}}"#
                    .utf8))
        #expect(
            rules.settings.presencePenalty == -2 && rules.settings.frequencyPenalty == 0.5
                && rules.settings.repetitionPenalty == 1.5)
        #expect(rules.settings.logitBias == [15: -100, 7: 2.5])
        let other = try PromptRecord.parse(
            Array(#"{"id":7,"prompt":"p","max_tokens":null,"stop":["a","b"]}"#.utf8))
        #expect(other.settings.maxTokens == nil && other.settings.stop == ["a", "b"])
    }

    @Test(arguments: [
        ("nonsense", LineError.Code.invalidJSON), ("[1]", .invalidJSON), ("\"text\"", .invalidJSON),
        (#"{"id":1.5,"prompt":"p"}"#, .badField), (#"{"id":[],"prompt":"p"}"#, .badField),
        (#"{"prompt":"p","max_tokens":0}"#, .badField), (#"{"prompt":"p","max_tokens":"5"}"#, .badField),
        (#"{"prompt":"p","max_tokens":5.5}"#, .badField), (#"{"prompt":"p","seed":"x"}"#, .badField),
        (#"{"prompt":"p","stop":5}"#, .badField), (#"{"prompt":"p","stop":[5]}"#, .badField),
        (#"{"prompt":"p","stop":""}"#, .badField), (#"{"prompt":"p","temperature":-1}"#, .badField),
        (#"{"prompt":"p","temperature":true}"#, .badField), (#"{"prompt":"p","top_p":0}"#, .badField),
        (#"{"prompt":["a"]}"#, .badField), (#"{"prompt":[-1]}"#, .badField),
        (#"{"prompt":[4294967296]}"#, .badField),
        (#"{"messages":"hi"}"#, .badField), (#"{"messages":[]}"#, .missingPrompt),
        (#"{"messages":["hi"]}"#, .badField),
        (#"{"messages":[{"role":"user"}]}"#, .badField),
        (#"{"messages":[{"role":1,"content":"x"}]}"#, .badField),
        (#"{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}"#, .badField),
        (#"{"text":"hi"}"#, .missingPrompt), (#"{"prompt":null}"#, .missingPrompt),
        (#"{"prompt":5}"#, .badField), (#"{"prompt":[]}"#, .missingPrompt),
    ])
    func wrongLinesAreNamed(line: String, expected: LineError.Code) {
        let error = #expect(throws: LineError.self) { try prompt(line) }
        #expect(error?.code == expected)
    }

    @Test func whatIsNoTextIsNamed() throws {
        let content =
            #"[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"x"}}]"#
        let line =
            #"{"messages":[{"role":"system","content":"Be short."},{"role":"user","content":\#(content)}]}"#
        let error = try #require(throws: LineError.self) {
            _ = try PromptRecord.parse(Array(line.utf8))
        }
        #expect(error.message.contains("`messages[1]` has a part of type `image_url`: only text is read"))
    }

    @Test(arguments: [
        (#""presence_penalty":3"#, "but is 3"), (#""frequency_penalty":"1""#, #"but is "1""#),
        (#""logit_bias":[1]"#, "but is a list"), (#""logit_bias":{"05":1}"#, "key \"05\""),
    ])
    func wrongRulesAreNamed(field: String, word: String) {
        #expect { try PromptRecord.parse(Array("{\"prompt\":\"p\",\(field)}".utf8)) } throws: { error in
            let error = error as? LineError
            let name = field.split(separator: "\"")[0]
            return error?.code == .badField && error?.message.hasPrefix("`\(name)` must ") == true
                && error?.message.contains(word) == true
        }
    }

    @Test func invalidUTF8IsNamed() {
        #expect(throws: LineError(.invalidUTF8, "The line is not valid UTF-8.")) {
            try PromptRecord.parse(Array("{\"prompt\":\"".utf8) + [0xFF] + Array("\"}".utf8))
        }
    }

    @Test func promptsTakeEveryForm() throws {
        #expect(try prompt(#"{"prompt":"hi"}"#) == .messages([ChatMessage(role: "user", content: "hi")]))
        #expect(try prompt(#"{"prompt":"hi"}"#) { $0.chat = false } == .text("hi"))
        #expect(try prompt(#"{"prompt":[5,6]}"#) { $0.system = "s" } == .tokens([5, 6]))
        #expect(
            try prompt(#"{"q":"2+2","hint":{"unit":"m"}}"#) { $0.prompt = "Q: {{ q }} in {{hint.unit}}?" }
                == .messages([ChatMessage(role: "user", content: "Q: 2+2 in m?")]))
        #expect(
            try prompt(
                #"{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}"#
            )
                == .messages([ChatMessage(role: "user", content: "ab")]))
    }

    @Test func whatElseAMessageHasGoesToTheTemplate() throws {
        let line =
            #"{"messages":[{"role":"system","content":"s","tools":"[]"},{"role":"user","content":"u"}]}"#
        let tools = [JSONMember(name: "tools", value: "[]")]
        let user = ChatMessage(role: "user", content: "u")
        #expect(
            try prompt(line) == .messages([ChatMessage(role: "system", content: "s", members: tools), user]))
        #expect(
            try prompt(line) { $0.system = "job" }
                == .messages([ChatMessage(role: "system", content: "job", members: tools), user]))
    }

    @Test func theJobsSystemMessageComesFirstAndWins() throws {
        let system = ChatMessage(role: "system", content: "Be brief, Ann.")
        let user = ChatMessage(role: "user", content: "hi")
        func brief(_ job: inout JobSettings) { job.system = "Be brief, {{ name }}." }
        #expect(try prompt(#"{"prompt":"hi","name":"Ann"}"#, brief) == .messages([system, user]))
        #expect(
            try prompt(
                #"{"name":"Ann","messages":[{"role":"system","content":"Ramble."},{"role":"user","content":"hi"}]}"#,
                brief)
                == .messages([system, user]))
        #expect(
            try prompt(
                #"{"messages":[{"role":"system","content":"Ramble."},{"role":"user","content":"hi"}]}"#)
                == .messages([ChatMessage(role: "system", content: "Ramble."), user]))
    }

    /// Lines of such a job are data; a body of OpenAI's is a request all the same.
    @Test func requestsWithMessagesTakeNoPromptOfTheJob() throws {
        let line = #"{"messages":[{"role":"user","content":"hi"}]}"#
        #expect(throws: LineError.self) { try prompt(line) { $0.prompt = "Translate: {{ prompt }}" } }
        #expect(try prompt(line) { $0.prompt = "Say {{ messages[0].content }}" } == .user("Say hi"))
        let both = #"{"prompt":"p","messages":[{"role":"user","content":"hi"}]}"#
        #expect(throws: LineError.self) { try prompt(both) }
    }

    @Test func aMissingFieldIsNeverLeftOutInSilence() {
        for line in [#"{"prompt":"p"}"#, #"{"prompt":"p","name":null}"#] {
            let error = #expect(throws: LineError.self) {
                try prompt(line) { $0.prompt = "{{ name }}: {{ prompt }}" }
            }
            #expect(error?.code == .templateError && error?.message.contains("name") == true)
        }
        #expect(throws: UserError.self) { try prompt("{}") { $0.prompt = "{{ oops" } }
    }

    /// A value takes far more memory than its two bytes in the line.
    @Test func millionsOfValuesAreRefused() {
        let line = #"{"prompt":["# + String(repeating: "0,", count: JSONLimits.line.values) + "0]}"
        #expect { try PromptRecord.parse(Array(line.utf8)) } throws: {
            ($0 as? LineError)?.message.contains("values") == true
        }
    }

    // MARK: Settings that make prompts

    @Test func jobMessagesStandBeforeTheLinesOwn() throws {
        let shots: (inout JobSettings) -> Void = {
            $0.system = "Be brief."
            $0.messages = [
                ChatMessage(role: "user", content: "1+1 in {{ unit }}?"),
                ChatMessage(role: "assistant", content: "2 {{ unit }}"),
            ]
        }
        let expected = [
            ChatMessage(role: "system", content: "Be brief."),
            ChatMessage(role: "user", content: "1+1 in m?"),
            ChatMessage(role: "assistant", content: "2 m"),
        ]
        let user = ChatMessage(role: "user", content: "hi")
        #expect(try prompt(#"{"prompt":"hi","unit":"m"}"#, shots) == .messages(expected + [user]))
        let own = #"{"messages":[{"role":"system","content":"x"},{"role":"user","content":"hi"}],"unit":"m"}"#
        #expect(try prompt(own, shots) == .messages(expected + [user]))
        // The job asks by itself.
        let whole: (inout JobSettings) -> Void = {
            $0.messages = [ChatMessage(role: "user", content: "Say {{ word }}")]
        }
        #expect(
            try prompt(#"{"word":"yes"}"#, whole)
                == .messages([ChatMessage(role: "user", content: "Say yes")]))
        #expect(throws: LineError.self) {
            try prompt(#"{"messages":[{"role":"user","content":"a"}],"word":1}"#, whole)
        }
    }

    @Test func aPrefixIsPutToThePrompt() throws {
        let user = ChatMessage(role: "user", content: "hi")
        let prefix: (inout JobSettings) -> Void = { $0.prefix = "{\"{{ key }}\":" }
        #expect(
            try prompt(#"{"prompt":"hi","key":"a"}"#, prefix) == .continued([user], prefix: #"{"a":"#))
        #expect(
            try prompt(#"{"prompt":"hi","key":"a"}"#) {
                prefix(&$0)
                $0.chat = false
            } == .text(#"hi{"a":"#))
        #expect(throws: LineError.self) { try prompt(#"{"prompt":[1,2],"key":"a"}"#, prefix) }
    }

    // MARK: Results of an earlier step

    @Test func aResultsOwnMembersAskForNothing() throws {
        let line =
            #"{"id":"a","sample":1,"text":"T","finish_reason":"stop","usage":{"prompt_tokens":1,"completion_tokens":2},"seed":99}"#
        let record = try PromptRecord.parse(Array(line.utf8))
        #expect(try JobLine.id(of: record.fields) == "a#1" && record.settings.seed == nil)
        #expect(try prompt(line) { $0.prompt = "Judge: {{ text }}" } == .user("Judge: T"))
    }

    @Test func anotherFieldMayBeTheID() throws {
        #expect(try JobLine.id(of: ["id": 1, "sku": "x-7"], "sku") == "x-7")
        for wrong: JSONValue in [["id": 1], ["sku": []]] {
            #expect(throws: LineError.self) { try JobLine.id(of: wrong, "sku") }
        }
    }

    @Test func errorsOfAnEarlierStepAreSeen() {
        let line: JSONValue = ["error": ["code": "bad_field", "message": "m"]]
        #expect(line.earlierError?.message == "bad_field: m")
        for line: JSONValue in [["error": nil], ["error": "x"]] { #expect(line.earlierError == nil) }
    }

    @Test func keptFieldsArePicked() throws {
        let line: JSONValue = ["id": 1, "topic": "a", "n": [1, 2.5], "text": "old", "nothing": nil]
        func kept(_ fields: KeptFields) -> [String] {
            fields.values(of: line, for: .generate).map { "\($0.name)=\(JSONWriter.text(of: $0.value))" }
        }
        #expect(kept(.none).isEmpty)
        #expect(kept(.all) == ["topic=\"a\"", "n=[1,2.5]", "nothing=null"])
        #expect(
            kept(.fields([.init("n"), .init("missing"), .init("text", as: "draft")])) == [
                "n=[1,2.5]", "draft=\"old\"",
            ])
        func job(_ keep: String) throws -> KeptFields {
            try JobSettings.sample("keep: \(keep)").keep
        }
        #expect(try job("all") == .all)
        #expect(try job("[a, b]") == .fields([.init("a"), .init("b")]))
        #expect(try job("{draft: text}") == .fields([.init("text", as: "draft")]))
        for wrong in ["text", "[a, a]", "[usage]", "[1]"] {
            #expect(throws: UserError.self) { try job(wrong) }
        }
    }
}
