import BatchEngine
import Foundation
import JSON
import PhiModel
import TestSupport
import Testing
import TokenConstraints

@testable import BatchPipeline
@testable import Jobs

/// Lines whose answers have forms that take long to compile hold up no others, and nobody's result depends on when that
/// is done.
@Suite struct CostlyFormatTests {
    /// A model's texts, which forms need, can't be had before the gate opens.
    private struct GatedTexts: TextCoding {
        let model: ScriptedModel
        let gate: Gate

        var hasTokenizer: Bool { true }
        func tokens(for prompt: Prompt, contextLength: Int?, shield: ControlTokenEscaper?) throws -> [Int32] {
            try model.tokens(for: prompt, contextLength: contextLength, shield: shield)
        }
        func shield(for line: JSONValue) -> ControlTokenEscaper? { nil }
        func makeTextStream(showing tokens: Set<Int32>) -> any TextStream { model.makeTextStream() }
        func piece(of token: Int32) -> (text: String, bytes: [UInt8]) { model.piece(of: token) }
        var tokenTexts: TokenTexts? {
            gate.pass()
            return model.tokenTexts
        }
    }

    private final class Gate: @unchecked Sendable {
        private let condition = NSCondition()
        private var isOpen = false
        private(set) var waitedInVain = false

        func open() {
            condition.withLock {
                isOpen = true
                condition.broadcast()
            }
        }

        func pass() {
            let deadline = Date(timeIntervalSinceNow: longestWait)
            condition.withLock {
                while !isOpen, condition.wait(until: deadline) {}
                waitedInVain = waitedInVain || !isOpen
            }
        }
    }

    private static let lines =
        #"{"id":"first","prompt":"a","schema":{"enum":["one","two"]}}"# + "\n"
        + (0..<30).map { "{\"id\":\"l\($0)\",\"prompt\":\"\($0)\"}\n" }.joined()
        + #"{"id":"bad","prompt":"a","schema":{"type":"strin"}}"# + "\n"
        + #"{"id":"short","prompt":"a","schema":{"const":"0123456789"},"max_tokens":3}"# + "\n"

    private func job(_ path: String, _ change: (inout JobSettings) -> Void = { _ in }) -> JobSettings {
        .test(input: [path]) { job in
            job.temperature = 1
            job.maxTokens = 20
            job.maxFailures = .count(2)
            job.engine.workers = 4
            change(&job)
        }
    }

    /// - Parameter opening: results that are there before the forms can be compiled.
    private func run(_ job: JobSettings, opening: Int) throws -> [String] {
        let (model, store, gate) = (ScriptedModel(), MemoryStore(), Gate())
        if opening == 0 { gate.open() }
        model.beforeStep = { [unowned store] _ in if store.appended >= opening { gate.open() } }
        let loaded = LoadedModel(engine: model, text: GatedTexts(model: model, gate: gate))
        let outcome = try Runner(job: job, model: loaded, store: store).run()
        #expect(outcome.status == .complete && model.faults.isEmpty && !gate.waitedInVain)
        return (store.output ?? []).map(withoutTiming)
    }

    @Test func othersGoOnMeanwhile() throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.lines, to: "in.jsonl")
        let expected = try run(job(path), opening: 0)
        #expect(expected.count == 33 && expected[0].contains(#""id":"first""#))
        #expect(ErrorResult.code(of: expected[31]) == "bad_schema")
        #expect(ErrorResult.code(of: expected[32]) == "max_tokens_too_small")
        for opening in [1, 15, 25] { #expect(try run(job(path), opening: opening) == expected) }
    }

    @Test func whatIsNotReadyLetsOthersGoFirst() throws {
        let (model, gate) = (ScriptedModel(), Gate())
        let grammars = AnswerGrammars(text: GatedTexts(model: model, gate: gate), limits: model.limits)
        let queue = RequestQueue(countLimit: 10)
        let kind = Sampling(
            maxTokens: 9, sampling: SamplingParameters(), stream: 0, endOfSequence: [0], stops: .none,
            text: model.makeTextStream())
        func request(_ position: Int) -> OwnedRequest {
            .test(position, Request(prompt: [1], kind: kind))
        }
        func pop(before limit: Int = .max) throws -> Int? {
            guard let work = try queue.pop(patience: 0, below: limit).work else {
                return nil
            }
            return work.label?.position
        }
        let compilation = grammars.compilation(.regex("yes|no"), .compact)
        grammars.begin(compilation, for: queue.wake)
        var waiting = request(0)
        waiting.answer = compilation
        for request in [waiting, request(1), request(2)] { queue.push(.request(request)) }
        queue.finish()
        #expect(try pop() == 1)
        // Where results go out in order, later ones may have to wait for it.
        #expect(try pop(before: 2) == nil)
        gate.open()
        _ = try compilation.value()
        #expect(try pop(before: 2) == 0)
        #expect(try pop(before: 2) == nil)
        #expect(try pop() == 2)
        guard try queue.pop(patience: 0).isEnd else {
            Issue.record("there is more")
            return
        }
    }
}
