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
        let folder = try TemporaryFolder()
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
                model: { (ModelLoader { LoadedModel(engine: model, text: model) }, model.identity) })
        } catch let fault as HTTPFault where fault.kind == .unavailable {
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
        let folder = try TemporaryFolder()
        let line = "{\"custom_id\":\"request\",\"url\":\"/v1/completions\",\"body\":\(Self.body)}}\n"
        let (_, expected) = try ScriptedRun.run(
            .test(input: [try folder.write(line, to: "in.jsonl")]) {
                $0.inputFormat = FormatChoice(OpenAILines())
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
        (options.keys, options.waiting, options.limits.patience) = (["secret"], 1, 1)
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
