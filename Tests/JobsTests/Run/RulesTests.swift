import PhiModel
import TestSupport
import Testing

@testable import BatchEngine
@testable import BatchPipeline
@testable import Jobs

/// Penalties, logit bias and constraints on their way from job and line to the model.
@Suite struct RulesTests {
    /// The rules of each request that reached the model, in order of the lines.
    private func rules(
        _ lines: [String], _ change: (inout JobSettings) -> Void = { _ in }
    ) throws -> [LogitRules] {
        let folder = try TestFolder()
        let path = try folder.write(lines.map { $0 + "\n" }.joined(), to: "in.jsonl")
        let job = JobSettings.test(input: [path], change)
        let queue = RequestQueue(countLimit: 100)
        let feeder = try InputProducer(
            job: job, models: ModelLoader { ScriptedModel().loaded }, store: SharedStore(MemoryStore()),
            queue: queue)
        try feeder.start()
        let deadline = ContinuousClock.now + .seconds(longestWait)
        var found: [LogitRules] = []
        while true {
            let (work, isEnd) = try queue.pop(patience: 10)
            if isEnd { return found }
            switch work {
            case .request(let owned)?:
                found.append(try #require(owned.request.kind as? Sampling).sampling.rules)
            case .outcome(_, .failed(let error, _))?: throw error
            case .some: Issue.record("there are no steps")
            case nil: try #require(ContinuousClock.now < deadline, "the lines don't come")
            }
        }
    }

    private static let line =
        #"{"prompt":"a","presence_penalty":1,"frequency_penalty":-1,"repetition_penalty":1.5,"logit_bias":{"260":5}}"#

    @Test func whatTheJobSetsItEnforces() throws {
        #expect(
            try rules([Self.line, #"{"prompt":"b"}"#]) == [
                LogitRules(
                    bias: [260: 5], presencePenalty: 1, frequencyPenalty: -1, repetitionPenalty: 1.5),
                LogitRules(),
            ])
        let enforced = LogitRules(
            bias: [257: -1], presencePenalty: 0, frequencyPenalty: 0.5, repetitionPenalty: 2)
        #expect(
            try rules([Self.line, #"{"prompt":"b"}"#]) {
                $0.presencePenalty = 0
                $0.frequencyPenalty = 0.5
                $0.repetitionPenalty = 2
                $0.logitBias = [257: -1]
            } == [enforced, enforced])
        // Each setting by itself; an empty map is set, too.
        #expect(
            try rules([Self.line]) {
                $0.logitBias = [:]
                $0.presencePenalty = 0.5
            } == [LogitRules(presencePenalty: 0.5, frequencyPenalty: -1, repetitionPenalty: 1.5)])
    }

    @Test func tokenIdsBeyondTheVocabularyAreRefused() throws {
        let size = ScriptedModel().limits.vocabularySize
        let problem = "logit_bias has the token id \(size), but the model's ids end at \(size - 1)."
        #expect(throws: LineError(.badField, problem)) {
            try rules(["{\"prompt\":\"a\",\"logit_bias\":{\"\(size)\":1}}"])
        }
        #expect(throws: UserError(.badJob, problem)) {
            try rules([#"{"prompt":"a"}"#]) { $0.logitBias = [Int32(size): 1] }
        }
    }

    /// Odd and even tokens in turn.
    private struct Alternation: Constraint {
        var wantsOdd = true
        let size: Int

        func allowed() -> TokenMask {
            TokenMask((0..<Int32(size)).filter { $0 % 2 == (wantsOdd ? 1 : 0) }, count: size)
        }
        mutating func accept(_ token: Int32) -> Bool {
            guard allowed()[token] else { return false }
            wantsOdd.toggle()
            return true
        }
    }

    private func sequence(_ model: ScriptedModel, saved: [Int32]? = nil) -> TokenSequence {
        let size = model.limits.vocabularySize
        var request = Request(
            prompt: [260, 261],
            kind: Sampling(
                maxTokens: 20,
                sampling: SamplingParameters(
                    rules: LogitRules(frequencyPenalty: 0.5, repetitionPenalty: 1.2)),
                form: { _ in Alternation(size: size) }, stream: 0, endOfSequence: [], stops: StopSet([]),
                text: model.makeTextStream()))
        request.saved = saved.map { SavedDecoding(tokens: $0) }
        return TokenSequence(
            0, request, slot: SourceSlot(NoRequests()), vocabularySize: size)
    }

    private func complete(_ start: TokenSequence, _ model: ScriptedModel) throws -> [Int32] {
        var sequence = start
        let admission = model.admit(
            sequence.cache, tokens: sequence.allTokens, lookahead: 0, cacheable: sequence.cacheable,
            beside: [])
        guard case .ready = admission else { return [] }
        defer { model.release(sequence.cache) }
        sequence.begin()
        while !sequence.isDone {
            let input = sequence.send(sequence.unsent.count)
            guard model.extend(sequence.cache, to: sequence.count) else { return [] }
            _ = sequence.take(try model.forward([input])[0])
        }
        return sequence.decoding.sampled
    }

    /// A constraint goes on where it was, after a resumption and however far that is.
    @Test func constraintsReachTheModelAndResume() throws {
        let model = ScriptedModel()
        model.endOdds = .max
        let whole = try complete(sequence(model), model)
        #expect(whole.count == 20)
        #expect(whole.enumerated().allSatisfy { $0.element % 2 == ($0.offset % 2 == 0 ? 1 : 0) })
        for count in 1..<20 {
            let resumed = sequence(model, saved: Array(whole[..<count]))
            #expect(resumed.savedCount == count)
            #expect(try complete(resumed, model) == whole)
        }
        #expect(model.faults.isEmpty, "\(model.faults)")
        // Saved tokens that the constraint forbids can't be ours.
        #expect(sequence(model, saved: [257, 259]).savedCount == 0)
    }
}

private final class NoRequests: RequestSource {
    let workers = 1
    var isCancelled: Bool { false }

    func next(patience: Double) -> SourceAnswer { .end }
    func finished(_ sequence: TokenSequence, provenance: [String: String]) {}
    func failed(_ sequence: TokenSequence, _ fault: ChoiceFault) {}
    func refused(_ request: Request, _ refusal: UserError, room: Int?) {}
    func completed() {}
    func abandoned(_ live: [TokenSequence], error: (any Error)?) {}
}
