import BatchEngine
import JSON
import PhiModel
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Which fields of a line are data, and which say how it is answered.
@Suite struct LineReadingTests {
    private func record(
        _ text: String, in name: String = "in.jsonl", _ change: (inout JobSettings) -> Void = { _ in }
    ) throws -> PromptRecord {
        try #require(try JobLine.all(text + "\n", in: name, change).first).record.get()
    }

    private func prompt(_ line: String, _ change: (inout JobSettings) -> Void = { _ in }) throws -> Prompt {
        try PromptBuilder(.test(input: [], change)).prompt(for: record(line, change))
    }

    private func code(_ line: String, _ change: (inout JobSettings) -> Void = { _ in }) -> LineError.Code? {
        (#expect(throws: LineError.self) { try prompt(line, change) })?.code
    }

    @Test(arguments: [
        #"{"prompt":"p","stop":"e"}"#, #"{"prompt":"p","temperature":-5}"#, #"{"prompt":"p","regex":""}"#,
        #"{"prompt":"p","schema":{"type":"object"}}"#, #"{"prompt":"p","seed":"today"}"#,
    ])
    func fieldsAreDataWhereTheJobHasAPrompt(line: String) throws {
        for change in [
            { (job: inout JobSettings) in job.prompt = "{{ prompt }}" },
            { job in job.messages = [ChatMessage(role: "user", content: "{{ prompt }}")] },
            { job in job.steps = [.named("a") { $0.settings.prompt = "{{ prompt }}" }] },
        ] {
            let record = try record(line, change)
            #expect(record.settings == RequestSettings() && record.form == nil)
            #expect(record.settingNames.read.isEmpty && record.settingNames.data.count == 1)
        }
        #expect(try prompt(line) { $0.prompt = "{{ prompt }}!" } == .user("p!"))
    }

    @Test func messagesAndSystemAreDataWhereTheJobHasAPrompt() throws {
        let line = #"{"prompt":"p","system":"s","messages":[{"role":"user","content":"m"}]}"#
        #expect(
            try prompt(line) { $0.prompt = "{{ prompt }} {{ system }} {{ messages[0].content }}" }
                == .user("p s m"))
        #expect(
            try prompt(line) { $0.messages = [ChatMessage(role: "user", content: "{{ system }}")] }
                == .user("s"))
    }

    @Test func namedSettingsCountAllTheSame() throws {
        let line = #"{"prompt":"p","stop":"e","seed":3.0,"max_tokens":1e1}"#
        let some = try record(line) {
            ($0.prompt, $0.lineSettings) = ("{{ prompt }}", ["seed", "max_tokens"])
        }
        #expect(some.settings.seed == 3 && some.settings.maxTokens == 10 && some.settings.stop == nil)
        #expect(some.settingNames.read == ["seed", "max_tokens"] && some.settingNames.data == ["stop"])
        let all = try record(line) { ($0.prompt, $0.lineSettings) = ("{{ prompt }}", LineReading.names) }
        #expect(all.settings.stop == ["e"])
        #expect(try record(line).settings.stop == ["e"])
        #expect(try record(line) { $0.lineSettings = [] }.settings == RequestSettings())
    }

    @Test func aRequestHasASystemMessage() throws {
        let line = #"{"prompt":"p","system":"s"}"#
        let (system, user) = (
            ChatMessage(role: "system", content: "s"), ChatMessage(role: "user", content: "p")
        )
        #expect(try prompt(line) == .messages([system, user]))
        #expect(
            try prompt(line) { $0.system = "j" }
                == .messages([ChatMessage(role: "system", content: "j"), user]))
        #expect(code(line) { $0.chat = false } == .badField)
        #expect(code(#"{"prompt":[1],"system":"s"}"#) == .badField)
        #expect(code(#"{"system":1,"prompt":"p"}"#) == .badField)
        #expect(
            code(
                #"{"system":"s","messages":[{"role":"system","content":"t"},{"role":"user","content":"p"}]}"#)
                == .badField)
    }

    @Test func rolesAreFour() throws {
        #expect(
            try prompt(#"{"messages":[{"role":"developer","content":"d"},{"role":"user","content":"u"}]}"#)
                == .messages([
                    ChatMessage(role: "system", content: "d"), ChatMessage(role: "user", content: "u"),
                ]))
        for role in ["User", "human", "usr", "", "system "] {
            #expect(code(#"{"messages":[{"role":"\#(role)","content":"x"}]}"#) == .badField, "\(role)")
            #expect(throws: UserError.self) {
                var job = JobSettings()
                try job.apply(WrittenSetting.all(["messages": ["\(role)=x"]]))
            }
        }
    }

    @Test(arguments: ["", " ", "\\n\\t ", "\\u00a0\\u3000"])
    func promptsOfWhiteSpaceFail(text: String) throws {
        let line = #"{"prompt":"\#(text)","messages":null}"#
        #expect(code(line) == .emptyPrompt)
        #expect(code(line) { $0.chat = false } == .emptyPrompt)
        #expect(code(line) { $0.prompt = " {{ prompt }} " } == .emptyPrompt)
        #expect(code(#"{"messages":[{"role":"user","content":"\#(text)"}]}"#) == .emptyPrompt)
        #expect(throws: Never.self) { try prompt(line) { $0.allowsEmpty = true } }
    }

    @Test(arguments: ["2.0", "2", "20e-1", "0.2E1", "2.000"])
    func wholeNumbersMayHaveAPoint(number: String) throws {
        let record = try record(#"{"id":\#(number),"prompt":"p","max_tokens":\#(number),"top_k":\#(number)}"#)
        #expect(record.settings.maxTokens == 2 && record.settings.topK == 2)
        #expect(throws: LineError.self) { try self.record(#"{"prompt":"p","max_tokens":2.5}"#) }
        var job = JobSettings()
        try job.apply(WrittenSetting.all(["max_tokens": [number]]))
        #expect(job.maxTokens == 2)
    }

    @Test func emptyCellsSetNothing() throws {
        let names = LineReading.names.filter { $0 != "prompt" }
        let head = "prompt," + names.joined(separator: ",")
        let record = try record(
            head + "\nHi" + String(repeating: ",", count: names.count), in: "in.csv")
        #expect(record.settings == RequestSettings() && record.form == nil)
    }

    @Test func cellsAreReadAsTheirSettings() throws {
        let record = try record(
            "prompt,max_tokens,seed,stop,ignore_eos,logit_bias,temperature\nHi,2.0,NaN,\"[\"\"a\"\",\"\"b\"\"]\",True,\"{\"\"198\"\":5}\",0.5",
            in: "in.csv")
        #expect(record.settings.maxTokens == 2 && record.settings.seed == nil)
        #expect(record.settings.stop == ["a", "b"] && record.settings.ignoreEndOfSequence == true)
        #expect(record.settings.logitBias == [198: 5] && record.settings.temperature == 0.5)
        #expect(try self.record("prompt,json_mode\nHi,true", in: "in.csv").form != nil)
        #expect(try self.record("prompt,json_mode\nHi,FALSE", in: "in.csv").form?.isConstraint != true)
    }

    @Test(arguments: [
        ("prompt;b\nHi, you;1", ";"), ("prompt|b\nHi, you|1", "|"), ("prompt\tb\nHi, you\t1", "tab"),
        ("\n \nprompt,b\n\"Hi, you\",1", ","),
    ])
    func separatorsAreFoundOrSaid(text: String, word: String) throws {
        #expect(try record(text, in: "in.csv").fields["prompt"] == "Hi, you")
        let said = try record(text, in: "in.csv") { job in
            job.inputFormat.separator = DelimitedInput.separators.first { $0.word == word }?.byte
        }
        #expect(said.fields["b"] == "1")
    }

    @Test func quotesMayBeText() throws {
        let text = "id\tprompt\n1\t\"Hi there\n2\tfoo"
        #expect(throws: LineError.self) { try self.record(text, in: "in.tsv") }
        let record = try record(text, in: "in.tsv") { $0.inputFormat.hasQuotes = false }
        #expect(record.fields["prompt"] == "\"Hi there")
    }
}
