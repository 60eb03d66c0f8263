import Foundation
import JSON
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs
@testable import Serving

/// What comes over sockets.
@Suite struct ModelServerTests {
    private static let body = "{\"model\":\"m\",\"prompt\":\"word word\",\"max_tokens\":20,\"seed\":5"

    /// Runs a server as long as `use` goes on.
    private func serve(
        _ model: ScriptedModel = ScriptedModel(),
        _ options: ServerOptions = ServerOptions(names: ["m"], folder: ""),
        use: @escaping @Sendable (TestClient) throws -> Void
    ) throws {
        let folder = try TestFolder()
        _ = try folder.write("{}", to: "config.json")
        _ = try folder.write("", to: "model.safetensors")
        let base = try BatchJob(.serve(model: folder.path, name: "m", options: []))
        var options = options
        (options.port, options.folder) = (0, folder.path + "/serve")
        let stopFlag = StopFlag()
        let server: ModelServer
        do {
            server = try ModelServer(
                base, options, stopFlag: stopFlag,
                models: ModelLoader(identity: { model.identity }) { model.loaded })
        } catch let fault as UserError where fault.place == "libmicrohttpd" {
            return print("==> skipped the server: \(fault)")
        }
        let client = TestClient(port: server.port)
        let used = OneOutcome()
        Thread.detachNewThread {
            used.result = Result { try use(client) }
            stopFlag.set()
        }
        try server.run()
        try used.result?.get()
        #expect(model.liveSequences == 0 && model.faults.isEmpty)
    }

    private final class OneOutcome: @unchecked Sendable {
        var result: Result<Void, any Error>?
    }

    /// The metrics once no request is open: an answer is counted after its client has it.
    private func metrics(_ client: TestClient, _ header: String = "Accept: */*") throws -> String {
        let end = Date.now + longestWait
        while true {
            let text = try client.ask("GET /metrics", header).text
            if text.contains("phibatch_requests 0\n") || .now >= end { return text }
        }
    }

    @Test func answersAreThoseOfAJob() throws {
        let folder = try TestFolder()
        let line = "{\"custom_id\":\"request\",\"url\":\"/v1/completions\",\"body\":\(Self.body)}}\n"
        let (_, expected) = try ScriptedRun.run(
            .test(input: [try folder.write(line, to: "in.jsonl")]) {
                $0.inputFormat = InputFormat.openAI
            })
        let text = try JSONValue(parsing: Array((expected[0] + "}").utf8), limits: .line)["text"]
        try serve { client in
            let whole = try client.post("/v1/completions", Self.body + "}")
            #expect(whole.status == 200 && whole.json?["choices"]?[0]?["text"] == text)
            let stream = try client.post("/v1/completions", Self.body + ",\"stream\":true,\"n\":2}")
            let events = stream.text.split(separator: "\n\n").map { $0.dropFirst("data: ".count) }
            #expect(stream.status == 200 && events.last == "[DONE]" && events.count > 4)
            let texts = events.compactMap { event -> String? in
                let choice = (try? JSONValue(parsing: Array(event.utf8), limits: .line))?["choices"]?[0]
                guard choice?["index"] == 0, case .string(let text)? = choice?["text"] else { return nil }
                return text
            }
            #expect(texts.count > 1 && JSONValue.string(texts.joined()) == text)
            let metrics = try metrics(client)
            #expect(metrics.contains("{path=\"/v1/completions\",status=\"200\"} 2\n"))
            #expect(metrics.contains("phibatch_requests 0\n"))
        }
    }

    /// Issue 59, 12: what evaluation harnesses ask for.
    @Test func promptsAreScoredAndSeveralAreAnswered() throws {
        let model = ScriptedModel()
        model.endOdds = .max
        try serve(model) { client in
            func ask(_ body: String) throws -> JSONValue {
                let reply = try client.post("/v1/completions", "{\(body),\"temperature\":0,\"seed\":1}")
                #expect(reply.status == 200, "\(reply.text)")
                return reply.json ?? .null
            }
            func members(_ choice: JSONValue?, _ name: String) -> [JSONValue] {
                guard case .array(let values)? = choice?["logprobs"]?[name] else { return [] }
                return values
            }
            let ids: [Int32] = [97, 98, 256, 99]
            let echo = try ask("\"prompt\":[\(ids)],\"max_tokens\":1,\"echo\":true,\"logprobs\":1")
            let choice = echo["choices"]?[0]
            let values = members(choice, "token_logprobs")
            #expect(values.count == 5 && values[0] == .null && members(choice, "top_logprobs")[0] == .null)
            for place in 1..<ids.count {
                let wanted = model.logprob(of: ids[place], after: ids[..<place])
                #expect(values[place].number.map { Float($0) } == wanted)
            }
            let texts = members(choice, "tokens").compactMap {
                if case .string(let text) = $0 { text } else { nil }
            }
            #expect(choice?["text"] == .string(texts.joined()) && texts.dropLast().joined() == "ab ac")
            #expect(members(choice, "text_offset") == [0, 1, 2, 4, 5])
            #expect(echo["usage"]?["prompt_tokens"] == 4 && echo["usage"]?["completion_tokens"] == 1)
            // The same without an answer, and in a stream.
            let none = try ask("\"prompt\":\(ids),\"max_tokens\":0,\"echo\":true,\"logprobs\":1")
            #expect(members(none["choices"]?[0], "token_logprobs") == Array(values.dropLast()))
            #expect(none["choices"]?[0]?["text"] == "ab ac" && none["usage"]?["completion_tokens"] == 0)
            let stream = try client.post(
                "/v1/completions", "{\"prompt\":\"word\",\"max_tokens\":2,\"echo\":true,\"stream\":true}")
            #expect(stream.text.contains("\"text\":\"word") && stream.text.contains("[DONE]"))
            // Each prompt's choices follow one another.
            let several = try ask("\"prompt\":[\"one\",[116,119,111],\"one\"],\"n\":2,\"max_tokens\":3")
            guard case .array(let choices)? = several["choices"] else { return #expect(Bool(false)) }
            #expect(choices.map { $0["index"] } == (0..<6).map { .int($0) })
            let answers = choices.map { $0["text"] }
            for (place, prompt) in ["\"one\"", "\"two\"", "\"one\""].enumerated() {
                let alone = try ask("\"prompt\":\(prompt),\"max_tokens\":3")
                #expect(answers[2 * place] == alone["choices"]?[0]?["text"])
                #expect(answers[2 * place] == answers[2 * place + 1])
            }
            #expect(several["usage"]?["prompt_tokens"] == 9 && several["usage"]?["completion_tokens"] == 18)
        }
    }

    /// In files, whatever the workers and however often sequences give way: the same.
    @Test func echoesAreTheSameInBatches() throws {
        let folder = try TestFolder()
        let prompts = (0..<9).map { String(repeating: "word \($0) ", count: 30 * $0 + 1) }
        let lines = prompts.enumerated().map { number, prompt in
            """
            {"custom_id":"\(number)","url":"/v1/completions","body":{"prompt":["\(prompt)","x"],"max_tokens":\(40 * number),\
            "echo":true,"logprobs":2,"temperature":\(number % 2)}}
            """
        }
        let input = try folder.write(lines.joined(separator: "\n"), to: "in.jsonl")
        func run(_ model: ScriptedModel, workers: Int) throws -> [String] {
            try ScriptedRun.run(
                .test(input: [input]) { job in
                    (job.inputFormat, job.outputFormat) = (
                        InputFormat.openAI, ResultFormat.openAI()
                    )
                    job.engine.workers = workers
                    job.engine.prefillChunk = 7 * workers
                }, model
            ).lines
        }
        let expected = try run(ScriptedModel(), workers: 1)
        #expect(expected.count == 18 && expected.allSatisfy { $0.contains("\"logprobs\"") })
        let small = ScriptedModel()
        (small.room, small.looksAhead, small.endOdds) = (2200, false, 40)
        #expect(try run(small, workers: 5) == expected)
    }

    @Test func whatIsWrongIsRefused() throws {
        var options = ServerOptions(names: ["m"], folder: "")
        options.body = 2000
        try serve(ScriptedModel(), options) { client in
            for (head, body, status) in [
                ("GET /v1/models", "", 200), ("GET /health", "", 200), ("GET /nothing", "", 404),
                ("GET /v1/completions", "", 405), ("POST /v1/completions", "[]", 400),
                ("POST /v1/completions", "{\"a\"", 400),
                ("POST /v1/completions", Self.body + ",\"n\":0}", 400),
                ("POST /v1/completions", "{\"model\":\"x\",\"prompt\":\"a\"}", 404),
                ("POST /v1/completions", Self.body + ",\"no_such\":1}", 400),
                ("POST /v1/completions", String(repeating: "a", count: 3000), 413),
                ("POST /v1/files", "x", 400), ("GET /v1/files/..%2f..%2flock/content", "", 404),
                ("POST /v1/batches", "{\"input_file_id\":\"x\",\"endpoint\":\"/v1/completions\"}", 404),
            ] {
                let reply = try client.ask(head, body: body)
                #expect(reply.status == status, "\(head) \(body.prefix(90))")
                #expect(status == 200 || reply.json?["error"]?["message"] != nil)
            }
            #expect(try client.ask("GET /v1/models", "Host: evil.example").status == 403)
            #expect(try client.ask("GET /v1/models", "Origin: http://evil.example").status == 403)
        }
    }

    @Test func keysAndCrowds() throws {
        let model = ScriptedModel()
        model.endOdds = .max
        // Nothing goes on until it is known who was turned away.
        let gate = DispatchSemaphore(value: 0)
        model.beforeStep = { if $0 == 5 { _ = gate.wait(timeout: .now() + longestWait) } }
        let long = "{\"prompt\":\"a\",\"max_tokens\":4000,\"stream\":true}"
        var options = ServerOptions(names: ["m"], folder: "")
        (options.keys, options.waiting, options.patience) = (["secret"], 1, 1)
        try serve(model, options) { client in
            for key in ["", "Secret", "secre", "secret2"] {
                #expect(try client.ask("GET /v1/models", "Authorization: Bearer \(key)").status == 401)
            }
            #expect(try client.ask("GET /v1/models").status == 401)
            let key = "Authorization: Bearer secret"
            // Who waits and goes away leaves his place; until then others are turned away.
            let waiting = try client.connection("POST /v1/completions", key, body: long)
            #expect(waiting.readLine()?.contains("200") == true)
            #expect(try client.ask("POST /v1/completions", key, body: long).status == 429)
            waiting.close()
            let metrics = try metrics(client, key)
            #expect(metrics.contains("phibatch_cancelled_total 1\n"))
            gate.signal()
            // Half a request is waited for no longer than patience lasts.
            let half = try client.connection(raw: "POST /v1/completions HTTP/1.1\r\nHost: ")
            #expect(half.readLine() == nil)
        }
    }
}
