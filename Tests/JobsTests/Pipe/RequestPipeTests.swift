import BatchEngine
import Foundation
import JSON
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Requests that come one by one.
@Suite struct RequestPipeTests {
    private static let settings = """
        {"max_tokens":60,"temperature":0.8,"seed":17,"stop":["STOP"],"tokens":true,"logprobs":2}
        """

    /// The model's.
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write("{}", to: "config.json")
        try folder.write("", to: "model.safetensors")
    }

    /// What is said, in its order.
    private final class Said: @unchecked Sendable {
        private let lock = NSLock()
        private var lines: [String] = []

        var all: [String] { lock.withLock { lines } }
        func add(_ line: [UInt8]) { lock.withLock { lines.append(String(decoding: line, as: UTF8.self)) } }

        func of(_ request: Int) -> [JSONValue] {
            all.compactMap { try? JSONValue(parsing: Array($0.utf8), limits: .line) }
                .filter { $0["request"] == .int(request) }
        }
    }

    /// - Parameters:
    ///   - more: what is said while it runs, before each step.
    private func run(
        _ messages: [String], model: ScriptedModel = ScriptedModel(), stopFlag: StopFlag = StopFlag(),
        more: @escaping (RequestPipe, Int) -> Void = { _, _ in }
    ) throws -> Said {
        let said = Said()
        let pipe = try pipe(model, stopFlag, said)
        model.beforeStep = { more(pipe, $0) }
        for message in messages { pipe.take(Array(message.utf8)) }
        pipe.close()
        try pipe.run()
        #expect(model.faults.isEmpty, "\(model.faults)")
        #expect(model.liveSequences == 0)
        return said
    }

    private func pipe(_ model: ScriptedModel, _ stopFlag: StopFlag, _ said: Said) throws -> RequestPipe {
        try RequestPipe(
            BatchJob(.pipe(model: folder.path, name: "m", options: [])),
            models: ModelLoader(identity: { model.identity }) { model.loaded }, stopFlag: stopFlag
        ) { said.add($0) }
    }

    private func request(_ number: Int, _ line: some StringProtocol, _ more: String = "") -> String {
        "{\"request\":\(number),\"line\":\(line)\(more.isEmpty ? "" : "," + more)}"
    }

    @Test func resultsAreThoseOfARun() throws {
        let folder = try TestFolder()
        let text = ScriptedRun.prompts(40)
        let (_, expected) = try ScriptedRun.run(
            ScriptedRun.job(try folder.write(text, to: "in.jsonl")) { $0.computesEqualsOnce = false })
        let messages = text.split(separator: "\n").enumerated().map { index, line in
            request(index, line, "\"index\":\(index),\"settings\":\(Self.settings)")
        }
        let said = try run(messages)
        #expect(said.all[0].hasPrefix("{\"phibatch\":\"") && said.all[0].contains("\"protocol\":1"))
        for (index, line) in expected.enumerated() {
            let own = said.all.filter { $0.hasPrefix("{\"request\":\(index),") }
            let result = try #require(own.first?.firstRange(of: "\"result\":"))
            #expect(own.count == 1 && own[0].contains("\"left\":0,"))
            // A row has neither place nor seed.
            let row = line.replacing(/"index":\d+,/, with: "").replacing(/,"seed":-?\d+/, with: "")
            #expect(withoutTiming(String(own[0][result.upperBound...])) == row)
        }
    }

    @Test func textComesAsItIsGenerated() throws {
        let line = "{\"prompt\":\"word word\"}"
        let said = try run([
            request(1, line, "\"stream\":true,\"settings\":\(Self.settings)"),
            request(2, line, "\"settings\":\(Self.settings)"),
        ])
        let texts = said.of(1).compactMap { message in
            if case .string(let text)? = message["text"] { text } else { nil }
        }
        #expect(texts.count > 1)
        #expect(said.of(1).last?["result"]?["text"] == .string(texts.joined()))
        #expect(said.of(2).count == 1)
    }

    @Test func samplesSayHowManyAreLeft() throws {
        let said = try run([request(1, "{\"prompt\":\"a\"}", "\"settings\":{\"samples\":3}")])
        #expect(said.of(1).map { $0["left"] } == [.int(2), .int(1), .int(0)])
    }

    @Test func whatIsWrongIsTold() throws {
        let said = try run([
            "no JSON", "{\"request\":1}", "{\"request\":2,\"line\":[]}",
            request(3, "{\"prompt\":\"a\"}", "\"settings\":{\"samples\":0}"),
            request(4, "{\"prompt\":\"a\"}", "\"settings\":{\"output\":\"x\"}"),
            request(5, "{\"prompt\":\"a\"}", "\"settings\":{\"no_such_key\":1}"),
            request(6, "{\"prompt\":5}"), request(7, "{\"prompt\":\"a\"}", "\"more\":1"),
            request(8, "{\"prompt\":\"a\"}"),
        ])
        #expect(said.all.filter { $0.hasPrefix("{\"error\":{\"code\":\"bad_message\"") }.count == 1)
        for number in [1, 2, 7] {
            #expect(said.of(number).map { $0["error"]?["code"] } == [.string("bad_message")])
        }
        for (number, word) in [(3, "samples"), (4, "output"), (5, "no_such_key")] {
            #expect(said.of(number).map { $0["error"]?["code"] } == [.string("bad_settings")])
            guard case .string(let message)? = said.of(number).first?["error"]?["message"] else { continue }
            #expect(message.contains(word))
        }
        #expect(said.of(6).first?["result"]?["error"]?["code"] == .string("bad_field"))
        #expect(said.of(8).first?["result"]?["text"] != nil)
    }

    @Test(arguments: ["\"max_tokens\":4000", "\"max_tokens\":4000,\"samples\":3"])
    func whatIsCancelledIsGone(settings: String) throws {
        let model = ScriptedModel()
        model.endOdds = .max
        let line = "{\"prompt\":\"a\"}"
        let said = try run(
            [
                request(1, line, "\"settings\":{\(settings)}"),
                request(2, line, "\"settings\":{\"max_tokens\":9}"),
            ], model: model
        ) { pipe, step in
            if step == 5 { pipe.take(Array("{\"cancel\":1}".utf8)) }
        }
        #expect(said.of(1).map { $0["cancelled"] } == [.bool(true)])
        #expect(said.of(2).count == 1 && model.steps < 100)
    }

    /// Before it is begun, and one that nobody knows.
    @Test func cancelsComeAtAnyTime() throws {
        let line = "{\"prompt\":\"a\"}"
        let said = try run([
            request(1, line), "{\"cancel\":1}", "{\"cancel\":7}", request(1, line), request(1, line),
        ])
        let kinds = said.of(1).map { message in
            message["cancelled"] != nil ? "cancelled" : message["error"] != nil ? "error" : "result"
        }
        #expect(kinds.filter { $0 == "cancelled" }.count == 1 && kinds.last == "result")
        #expect(said.of(7).isEmpty)
    }

    @Test func whatIsAskedToStopSaysSo() throws {
        let model = ScriptedModel()
        model.endOdds = .max
        let stopFlag = StopFlag()
        let said = try run(
            [request(1, "{\"prompt\":\"a\"}", "\"settings\":{\"max_tokens\":4000}")], model: model,
            stopFlag: stopFlag
        ) { _, step in
            if step == 3 { stopFlag.set() }
        }
        #expect(said.of(1).map { $0["error"]?["code"] } == [.string("stopped")])
    }

    @Test func anEngineThatFailsEndsAll() throws {
        struct Broken: Error {}
        let model = ScriptedModel()
        model.beforeStep = { _ in throw Broken() }
        let said = Said()
        let pipe = try pipe(model, StopFlag(), said)
        pipe.take(Array(request(1, "{\"prompt\":\"a\"}").utf8))
        pipe.close()
        #expect(throws: Broken.self) { try pipe.run() }
        #expect(said.of(1).map { $0["error"]?["code"] } == [.string("failed")])
    }
}
