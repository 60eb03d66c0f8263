import BatchPipeline
import Foundation
import PhiModel

/// A model without weights: the next token is a hash of the tokens before it (and, above temperature 0, of
/// the random stream and position). So any mix-up of rows, streams or positions changes the text.
/// Tokens 1 to 255 are bytes, 256 and up the pieces below; 0 ends a sequence.
final class ScriptedModel: BatchModel, @unchecked Sendable {
    static let pieces = [" a", "bc", " the", "STOP", "\n", "x", "é", " ", "end", "ST", "OP", "日"]
    /// The first and second half of a character, each a token of its own.
    static let halves: [[UInt8]] = [[0xE6, 0x97], [0xA5]]

    var limits: ModelLimits
    var hasTokenizer = true
    /// Cache room in tokens.
    var room = Int.max
    /// Pretend that this many tokens of each prompt are cached.
    var cachedTokens = 0
    /// Called before each step, with the number of steps so far.
    var beforeStep: (Int) throws -> Void = { _ in }
    /// Whether no token can be chosen after these.
    var isFaulty: ([Int32], SamplingRequest) -> Bool = { _, _ in false }
    /// One in this many tokens ends the sequence.
    var endOdds: UInt64 = 40

    private struct Sequence {
        var tokens: [Int32]
        var reserved: Int
        var promptCount: Int
    }
    private var sequences: [SequenceID: Sequence] = [:]
    private var nextID = 0
    private(set) var steps = 0
    private(set) var largestStep = 0
    private(set) var largestBatch = 0
    private(set) var faults: [String] = []
    var liveSequences: Int { sequences.count }

    init(contextLength: Int = 4096) {
        let size = 256 + Self.pieces.count + Self.halves.count
        limits = ModelLimits(contextLength: contextLength, vocabularySize: size, endOfSequence: [0])
    }

    func tokens(for prompt: Prompt) throws -> [Int32] {
        switch prompt {
        case .tokens(let ids): return ids
        case .text(let text): return text.utf8.map { Int32(max(1, $0)) }
        case .messages(let messages):
            if messages.contains(where: { $0.role == "forbidden" }) {
                throw ModelError(.badRequest, "the chat template knows no role forbidden.")
            }
            return try tokens(
                for: .text(messages.map { "<\($0.role)>\($0.content)" }.joined() + "<assistant>"))
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

    func makeTextStream() -> any TextStream { Stream() }

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

    func admit(prompt: [Int32], maxTokens: Int) throws -> Admission {
        let need = prompt.count + maxTokens
        guard need <= room else { throw ModelError(.resources, "needs room for \(need) tokens of \(room).") }
        guard sequences.values.reduce(need, { $0 + $1.reserved }) <= room else { return .later }
        let id = SequenceID(nextID)
        nextID += 1
        let cached = min(cachedTokens, prompt.count - 1)
        sequences[id] = Sequence(
            tokens: Array(prompt[..<cached]), reserved: need, promptCount: prompt.count)
        largestBatch = max(largestBatch, sequences.count)
        return .admitted(id, cached: cached)
    }

    func provenance(of sequence: SequenceID) -> [String: String] { ["script": "1"] }

    func release(_ sequence: SequenceID) {
        if sequences.removeValue(forKey: sequence) == nil { faults.append("released twice") }
    }

    func step(_ inputs: [StepInput]) throws -> [TokenChoice?] {
        try beforeStep(steps)
        steps += 1
        largestStep = max(largestStep, inputs.reduce(0) { $0 + $1.tokens.count })
        if Set(inputs.map(\.sequence)).count < inputs.count { faults.append("a sequence twice in a step") }
        if inputs.contains(where: \.tokens.isEmpty) { faults.append("an input without rows") }
        return inputs.map { input in
            guard var sequence = sequences.removeValue(forKey: input.sequence) else {
                faults.append("unknown sequence")
                return nil
            }
            sequence.tokens += input.tokens
            if sequence.tokens.count > sequence.reserved { faults.append("more rows than reserved") }
            sequences[input.sequence] = sequence
            guard let sampling = input.sampling else { return nil }
            if sampling.position != sequence.tokens.count - sequence.promptCount {
                faults.append("wrong position")
            }
            if isFaulty(sequence.tokens, sampling) { return TokenChoice(fault: .notFinite) }
            return choose(sequence.tokens, sampling)
        }
    }

    private func choose(_ tokens: [Int32], _ sampling: SamplingRequest) -> TokenChoice {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func mix(_ value: UInt64) { hash = (hash ^ value) &* 0x0000_0100_0000_01B3 ^ (hash >> 29) }
        for token in tokens { mix(UInt64(token)) }
        if sampling.parameters.temperature > 0 {
            mix(sampling.stream)
            mix(UInt64(sampling.position))
        }
        let vocabulary = UInt64(Self.pieces.count + Self.halves.count)
        let token = (hash >> 20) % endOdds == 0 ? 0 : Int32(256 + (hash >> 8) % vocabulary)
        var choice = TokenChoice(token: token)
        if let count = sampling.parameters.logprobs {
            choice.logprob = -Float(hash % 1000) / 1000
            choice.top = (0..<count).map { TokenLogprob(id: Int32(256 + $0), logprob: -Float($0)) }
        }
        return choice
    }
}
