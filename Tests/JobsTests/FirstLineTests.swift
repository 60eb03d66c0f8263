import PhiModel
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Guesses that would go wrong with every line.
@Suite struct FirstLineTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A job whose input has this line only.
    private func job(_ line: String, _ change: (inout JobSettings) -> Void = { _ in }) throws -> JobSettings {
        .test(input: [try folder.write(line + "\n", to: "in.jsonl")], change)
    }

    private func warnings(_ line: String, _ change: (inout JobSettings) -> Void = { _ in }) throws -> [String]
    {
        try job(line, change).warnings()
    }

    private func error(_ line: String) throws -> UserError? {
        do { try job(line).checkBeginnings() } catch let error as UserError {
            #expect(error.kind == .badJob && error.place == folder.path("in.jsonl") + ":1")
            return error
        }
        return nil
    }

    @Test func fieldsWithoutAPromptAreOneError() throws {
        let error = try #require(try error(#"{"id": 7, "year": 1969, "question": "Who?", "max_tokens": 4}"#))
        #expect(error.message.contains("has year, question."), "\(error)")
        #expect(error.message.contains("--prompt '{{ question }}'"), "\(error)")
    }

    /// What is wrong with one of OpenAI's, the run tells, line by line.
    @Test func aRequestIsLeftToTheRun() throws {
        for line in [
            #"{"custom_id": "a", "url": "/v1/chat/completions", "body": {"messages": []}}"#,
            #"{"custom_id": "a", "method": "GET", "url": "/v1/models"}"#,
        ] { #expect(try error(line) == nil) }
        let whole =
            #"{"custom_id": "a", "body": {"model": "gpt", "user": "u", "n": 1, "messages": [{"role": "user"}]}}"#
        #expect(try warnings(whole).isEmpty)
    }

    @Test(arguments: [
        #"{"error": {"code": "x", "message": "y"}}"#, #"{"prompt": "a"}"#, #"{"messages": []}"#,
        #"{"id": "x"}"#, #"{"id": "x", "seed": 4}"#, #"{"a": }"#,
        "7",
    ])
    func oneBadLineIsLeftToTheRun(line: String) throws { #expect(try error(line) == nil) }

    @Test func aTemplateOverOtherFieldsIsMeant() throws {
        let job = try job(#"{"question": "Who?"}"#) { $0.prompt = "{{ question }}" }
        try job.checkBeginnings()
        #expect(try job.warnings().isEmpty)
    }

    /// A field with a setting's name is data of a line that doesn't ask, and told so once.
    @Test func settingsInDataAreNamed() throws {
        let line =
            #"{"id":"a","q":"Hi","max_tokens":3,"n":2,"temprature":1,"temperature":-5,"choices":["A"]}"#
        let asks = { (job: inout JobSettings) in job.prompt = "{{ q }}" }
        let told = try warnings(line, asks)
        #expect(told.count == 1)
        #expect(told[0].contains("max_tokens, temperature, choices: data of the line"), "\(told)")
        #expect(told[0].contains("line_settings: [max_tokens]"))
        #expect(
            try warnings(line) {
                asks(&$0)
                $0.keep = .all
            }.isEmpty)
    }

    @Test func aJobMayAskByItself() throws {
        try job(#"{"word": "red"}"#) {
            $0.messages = [ChatMessage(role: "user", content: "Say {{ word }}.")]
        }.checkBeginnings()
    }

    @Test func whatKeepLeavesOutIsWarnedOf() throws {
        let warnings = try warnings(#"{"prompt": "a", "text": "b"}"#) { $0.keep = .all }
        #expect(warnings.count == 1 && warnings[0].contains("keep: {NEW: text}"), "\(warnings)")
    }

    @Test func aTemplateWithoutAFieldIsWarnedOf() throws {
        let warnings = try warnings(#"{"name": "Ada"}"#) { $0.prompt = "Greet { name }." }
        #expect(warnings.count == 1 && warnings[0].contains("{{ name }}"), "\(warnings)")
    }

    @Test func samplesAtTemperatureZeroAreWarnedOf() throws {
        let line = #"{"prompt": "a"}"#
        #expect(try warnings(line) { $0.samples = 3 }.first?.contains("samples is 3") == true)
        #expect(
            try warnings(line) {
                $0.samples = 3
                $0.temperature = 0.7
            }.isEmpty)
        #expect(try warnings(#"{"prompt": "a", "temperature": 0.5}"#) { $0.samples = 3 }.isEmpty)
    }

    @Test func fieldsThatLookLikeSettingsAreWarnedOf() throws {
        let line =
            #"{"prompt": "a", "n": 3, "temprature": 0.5, "schema": "t", "name": "b", "step": 1}"#
        let found = try warnings(line)
        #expect(
            found.count == 1 && found[0].contains(":1: n, temprature, schema: like a setting's"), "\(found)")
        #expect(try warnings(#"{"prompt": "a", "schema": ["t"]}"#).count == 1)
        #expect(try warnings(#"{"prompt": "a", "schema": true}"#).isEmpty)
        #expect(try warnings(line) { $0.prompt = "{{ n }} {{ temprature }} {{ schema }}" }.isEmpty)
    }
}
