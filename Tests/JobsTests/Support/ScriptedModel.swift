import BatchEngine
import Foundation
import JSON
import PhiModel
import PhiText
import TestSupport

@testable import BatchPipeline
@testable import Jobs

/// A model without weights: the next token is a hash of the tokens before it (and, above temperature 0, of
/// the random stream and position). So any mix-up of rows, streams or positions changes the text.
/// Tokens 1 to 255 are bytes, 256 and up the pieces below; 0 ends a sequence.
final class ScriptedModel: Engine, TextCoding, @unchecked Sendable {
    static let pieces = [" a", "bc", " the", "STOP", "\n", "x", "é", " ", "end", "ST", "OP", "日"]
    /// The first and second half of a character, each a token of its own.
    static let halves: [[UInt8]] = [[0xE6, 0x97], [0xA5]]

    /// A prompt as its template writes it, and tokens of a text of bytes.
    static func chat(_ prompt: String) -> String { "<user>\(prompt)<assistant>" }
    static func ids(_ text: String) -> [Int32] { text.utf8.map { Int32($0) } }

    var limits: ModelLimits
    var hasTokenizer = true
    var reasonings: ReasoningText?
    /// Calls come after a word that it comes upon by itself.
    let tools: ToolText? = ToolText(
        opening: "the", closing: "end", openingTokens: "the".utf8.map { Int32($0) })
    let identity = [(name: "script", value: "1")]
    /// Cache room in tokens, which is given out in pieces of `roomUnit`.
    var room = Int.max
    var roomUnit = 16
    /// False admits whatever fits just now, so that sequences soon have to give way.
    var looksAhead = true
    /// Pretend that this many tokens of each prompt are cached.
    var cachedTokens = 0
    /// Called before each step, with the number of steps so far.
    var beforeStep: (Int) throws -> Void = { _ in }
    /// Whether no token can be chosen after these.
    var isFaulty: ([Int32], SamplingRequest) -> Bool = { _, _ in false }
    /// A token of which the log-probability comes out as no number.
    var faultyToken: Int32 = -1
    /// One in this many tokens ends the sequence.
    var endOdds: UInt64 = 40

    /// The tokens of each that is admitted.
    private var sequences: [ObjectIdentifier: [Int32]] = [:]
    /// The lengths of prompts, as told by a position and the tokens before it.
    private var prompts: [ObjectIdentifier: Int] = [:]
    private(set) var steps = 0
    private(set) var admissions = 0
    private(set) var rows = 0
    private(set) var preemptions = 0
    private(set) var largestStep = 0
    private(set) var largestBatch = 0
    private(set) var faults: [String] = []
    /// Room of all that are admitted.
    private var reservedRoom = 0
    var liveSequences: Int { sequences.count }

    init(contextLength: Int = 4096) {
        let size = 256 + Self.pieces.count + Self.halves.count
        limits = ModelLimits(contextLength: contextLength, vocabularySize: size, endOfSequence: [0])
    }

    func shield(for line: JSONValue) -> ControlTokenEscaper? { nil }

    func tokens(for prompt: Prompt, contextLength: Int?, shield: ControlTokenEscaper?) throws -> [Int32] {
        try ids(of: prompt)
    }

    private func ids(of prompt: Prompt) throws -> [Int32] {
        switch prompt {
        case .tokens(let ids): return ids
        case .text(let text): return text.utf8.map { Int32(max(1, $0)) }
        case .messages(let messages):
            if messages.contains(where: { $0.role == "forbidden" }) {
                throw UserError(.badRequest, "the chat template knows no role forbidden.")
            }
            return try ids(
                of: .text(messages.map { "<\($0.role)>\($0.content)" }.joined() + "<assistant>"))
        case .continued(let messages, let prefix):
            return try ids(of: .messages(messages)) + ids(of: .text(prefix))
        }
    }

    static func bytes(of token: Int32) -> [UInt8] {
        switch Int(token) {
        case 0: return []
        case 1..<256: return [UInt8(token)]
        case 256..<256 + pieces.count: return Array(pieces[Int(token) - 256].utf8)
        default: return halves[Int(token) - 256 - pieces.count]
        }
    }

    func piece(of token: Int32) -> (text: String, bytes: [UInt8]) {
        let bytes = Self.bytes(of: token)
        return (String(decoding: bytes, as: UTF8.self), bytes)
    }

    func makeTextStream(showing tokens: Set<Int32>) -> any TextStream { Stream() }

    var tokenTexts: TokenTexts? {
        TokenTexts(
            bytes: (0..<Int32(limits.vocabularySize)).map { $0 == 0 ? nil : Self.bytes(of: $0) }
        ) { $0.utf8.map { Int32($0) } }
    }

    /// Holds back the bytes of an unfinished character.
    private struct Stream: TextStream {
        var held: [UInt8] = []

        mutating func append(_ token: Int32) -> String {
            held += ScriptedModel.bytes(of: token)
            var keep = 0
            for back in 1...3 where back <= held.count {
                let byte = held[held.count - back]
                if byte & 0xC0 == 0x80 { continue }
                let need = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
                if need > back { keep = back }
                break
            }
            defer { held.removeFirst(held.count - keep) }
            return String(decoding: held.dropLast(keep), as: UTF8.self)
        }

        mutating func finish() -> String {
            defer { held = [] }
            return String(decoding: held, as: UTF8.self)
        }
    }

    private func pieces(_ tokens: Int) -> Int { (tokens + roomUnit - 1) / roomUnit * roomUnit }

    func admit(
        _ cache: SequenceCache, tokens: [Int32], lookahead: Int, cacheable: Int,
        beside others: [SequenceCache]
    ) -> Admission {
        guard room == .max || pieces(cache.ceiling) <= room else {
            return .never(
                UserError(.resources, "needs room for \(cache.ceiling) tokens of \(room)."), room: room)
        }
        if sequences[ObjectIdentifier(cache)] != nil { faults.append("admitted twice") }
        let lookahead = looksAhead ? lookahead : 0
        let need = pieces(min(cache.ceiling, tokens.count + lookahead))
        let reserved = others.reduce(0) {
            $0 + max($1.room, pieces(min($1.ceiling, $1.length + lookahead)))
        }
        guard room == .max || reserved + need <= room else { return .wait(.room) }
        admissions += 1
        (cache.length, cache.room) = (min(cachedTokens, cacheable), pieces(tokens.count))
        sequences[ObjectIdentifier(cache)] = Array(tokens[..<cache.length])
        reservedRoom += cache.room
        largestBatch = max(largestBatch, sequences.count)
        return .ready
    }

    func extend(_ cache: SequenceCache, to length: Int) -> Bool {
        let others = reservedRoom - cache.room
        guard room == .max || others + pieces(length) <= room else { return false }
        cache.room = pieces(length)
        reservedRoom = others + cache.room
        if length > cache.ceiling { faults.append("beyond the ceiling") }
        return true
    }

    func provenance(of cache: SequenceCache) -> [String: String] { ["script": "1"] }

    func release(_ cache: SequenceCache, keeping tokens: [Int32]?) {
        guard let own = sequences.removeValue(forKey: ObjectIdentifier(cache)) else {
            return faults.append("released twice")
        }
        reservedRoom -= cache.room
        (cache.length, cache.room) = (0, 0)
        guard let tokens else {
            prompts[ObjectIdentifier(cache)] = nil
            return
        }
        preemptions += 1
        // Where choices are compared, only the prompt is kept.
        if !tokens.starts(with: own), !own.starts(with: tokens) {
            faults.append("preempted with other tokens")
        }
    }

    func forward(_ inputs: [PassInput]) throws -> [PassAnswer] {
        try beforeStep(steps)
        steps += 1
        largestStep = max(largestStep, inputs.reduce(0) { $0 + $1.tokens.count })
        if Set(inputs.map { ObjectIdentifier($0.cache) }).count < inputs.count {
            faults.append("a sequence twice in a step")
        }
        if inputs.contains(where: \.tokens.isEmpty) { faults.append("an input without rows") }
        return inputs.map { input in
            let id = ObjectIdentifier(input.cache)
            guard var own = sequences.removeValue(forKey: id) else {
                faults.append("unknown sequence")
                return PassAnswer()
            }
            if input.cache.length > own.count { faults.append("goes on after what is not there") }
            own = Array(own.prefix(input.cache.length) + input.tokens)
            rows += input.tokens.count
            if own.count > input.cache.room { faults.append("more rows than reserved") }
            var answer = PassAnswer()
            for row in 0..<input.targetRows {
                let count = own.count - input.targetRows + row + 1
                for target in Array(input.targets)[input.targetRange(ofRow: row, from: answer.logprobs.count)]
                {
                    answer.logprobs.append(logprob(of: target, after: own.prefix(count)))
                }
            }
            for (number, sampling) in input.samplings.enumerated() {
                let count = own.count - (input.samplings.count - 1 - number)
                let tokens = Array(own.prefix(count))
                let prompt = count - sampling.position
                if prompt != prompts[id, default: prompt] { faults.append("wrong position") }
                prompts[id] = prompt
                if !isRight(sampling, tokens, promptCount: prompt) { faults.append("wrong history") }
                answer.append(
                    isFaulty(tokens, sampling) ? SampledToken(fault: .notFinite) : choose(tokens, sampling),
                    after: number > 0 ? tokens.last : nil, number: number)
            }
            own.removeLast(input.samplings.count - answer.choices.count)
            sequences[id] = own
            input.cache.length = own.count
            return answer
        }
    }

    /// A hash of the token and all before it; `faultyToken` has none.
    func logprob(of token: Int32, after tokens: ArraySlice<Int32>) -> Float {
        if token == faultyToken { return .nan }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for value in tokens + [token] { hash = (hash ^ UInt64(value)) &* 0x0000_0100_0000_01B3 }
        return -Float((hash >> 20) % 10_007) / 1000
    }

    /// Whether penalties will see the tokens that they are meant to see.
    private func isRight(_ sampling: SamplingRequest, _ tokens: [Int32], promptCount: Int) -> Bool {
        let rules = sampling.parameters.rules
        var history = TokenHistory(
            prompt: rules.usesPrompt ? Array(tokens.prefix(promptCount)) : [], ends: sampling.history.ends)
        if rules.usesCompletion {
            for token in tokens.dropFirst(promptCount) { history.append(token) }
        }
        return history == sampling.history
    }

    private func choose(_ tokens: [Int32], _ sampling: SamplingRequest) -> SampledToken {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func mix(_ value: UInt64) { hash = (hash ^ value) &* 0x0000_0100_0000_01B3 ^ (hash >> 29) }
        for token in tokens { mix(UInt64(token)) }
        if sampling.parameters.temperature > 0 {
            mix(sampling.stream)
            mix(UInt64(sampling.position))
        }
        let vocabulary = UInt64(Self.pieces.count + Self.halves.count)
        var token = (hash >> 20) % endOdds == 0 ? 0 : Int32(256 + (hash >> 8) % vocabulary)
        if sampling.changesLogits {
            // Logits of -1 to 1, the token from above the largest.
            var logits = (0..<UInt64(limits.vocabularySize)).map { id in
                Float(((hash ^ id) &* 0x9E37_79B9_7F4A_7C15) >> 44) / Float(1 << 19) - 1
            }
            logits[Int(token)] = 1.5
            logits.withUnsafeMutableBufferPointer { sampling.changeLogits($0) }
            token = Int32(logits.indices.reduce(0) { logits[$1] > logits[$0] ? $1 : $0 })
        }
        var choice = SampledToken(token: token)
        if let count = sampling.parameters.logprobs {
            choice.logprob = -Float(hash % 1000) / 1000
            choice.top = (0..<count).map { TokenLogprob(id: Int32(256 + $0), logprob: -Float($0)) }
        }
        return choice
    }
}

extension ScriptedModel {
    var loaded: LoadedModel { LoadedModel(engine: self, text: self) }
}

extension Runner {
    /// Lines are read when the loop asks for requests, so that nothing depends on how quick a thread is.
    init(
        job: JobSettings, model: ScriptedModel, store: any ResultStore, stopFlag: StopFlag = StopFlag(),
        answers: StoredAnswers? = nil, progress: @escaping (RunStatistics) -> Void = { _ in }
    ) throws {
        try self.init(
            job: job, model: model.loaded, store: store, stopFlag: stopFlag, answers: answers,
            readsAhead: false, progress: progress)
    }
}
