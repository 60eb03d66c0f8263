@testable import BatchEngine

/// An engine without weights, with a real block allocator: the next token is a hash of all before it, of the
/// random stream and the position. Its cache holds a hash of the tokens up to each position, so that a wrong
/// block, a row that is missing or one too many changes what comes out.
final class BlockEngine: Engine, @unchecked Sendable {
    let limits = ModelLimits(contextLength: 1 << 20, vocabularySize: 1000, endOfSequence: [0])
    let identity = [(name: "script", value: "1")]
    private(set) var blocks: KVBlocks
    private var memory: [UInt64]
    /// The tokens themselves, in the same places.
    private var texts: [Int32]
    /// Seven in eight tokens are those that came so many places before; 0: none are.
    var period = 0
    private var sequences: [RequestID: Sequence] = [:]
    private(set) var faults: [String] = []
    private(set) var largestBatch = 0
    private(set) var steps = 0
    private(set) var rows = 0
    /// Rows of guessed tokens, and those of them that were not kept.
    private(set) var guessed = 0
    private(set) var wrongGuesses = 0
    /// One in so many tokens ends a sequence.
    var endOdds: UInt64 = 30
    var beforeStep: (Int) throws -> Void = { _ in }

    private struct Sequence {
        var lease: KVBlocks.Lease
        var length: Int
        var begun: Int
        var ceiling: Int
    }

    init(blocks: Int = 1 << 12, blockLength: Int = 4) {
        self.blocks = KVBlocks(capacity: blocks, blockLength: blockLength)
        memory = Array(repeating: 0, count: blocks * blockLength)
        texts = Array(repeating: 0, count: blocks * blockLength)
    }

    var isEmpty: Bool { sequences.isEmpty && blocks.available == blocks.capacity }

    func admit(
        _ id: RequestID, tokens: [Int32], ceiling: Int, lookahead: Int, cacheable: Int, rope: RopeFactors
    ) -> Admission {
        guard blocks.blocks(for: ceiling) <= blocks.capacity else {
            return .never(Refusal(.tooLarge, "\(ceiling) tokens"))
        }
        func growth(_ count: Int, _ ceiling: Int, _ held: Int) -> Int {
            max(0, blocks.blocks(for: min(ceiling, count + lookahead)) - held)
        }
        let own = growth(tokens.count, ceiling, blocks.blocks(for: tokens.count))
        let spared = sequences.values.reduce(own) {
            $0 + growth(max($1.length, $1.begun), $1.ceiling, $1.lease.blocks.count)
        }
        switch blocks.lease(tokens, sparing: spared, cacheable: cacheable) {
        case .wait(let shortage): return .wait(shortage)
        case .leased(let lease):
            if sequences[id] != nil { faults.append("begun twice") }
            sequences[id] = Sequence(
                lease: lease, length: lease.cached, begun: tokens.count, ceiling: ceiling)
            largestBatch = max(largestBatch, sequences.count)
            return .ready(cached: lease.cached, room: lease.blocks.count * blocks.blockLength)
        }
    }

    func extend(_ id: RequestID, to length: Int) -> Int? {
        guard var sequence = sequences[id] else {
            faults.append("extends what has not begun")
            return nil
        }
        if length > sequence.ceiling { faults.append("beyond the ceiling") }
        guard blocks.extend(&sequence.lease, to: length) else { return nil }
        sequences[id] = sequence
        return sequence.lease.blocks.count * blocks.blockLength
    }

    func release(_ id: RequestID) {
        guard let sequence = sequences.removeValue(forKey: id) else { return faults.append("released twice") }
        blocks.release(sequence.lease)
    }

    func preempt(_ id: RequestID, tokens: [Int32]) {
        guard let sequence = sequences.removeValue(forKey: id) else {
            return faults.append("preempted twice")
        }
        blocks.release(sequence.lease, keeping: tokens.prefix(sequence.length))
    }

    func step(_ inputs: [StepInput]) throws -> [StepAnswer] {
        try beforeStep(steps)
        steps += 1
        if inputs.isEmpty { faults.append("an empty step") }
        if Set(inputs.map(\.sequence)).count < inputs.count { faults.append("a sequence twice in a step") }
        checkOwners()
        return inputs.map { input in
            guard var sequence = sequences[input.sequence], !input.tokens.isEmpty else {
                faults.append("rows of nobody, or none")
                return StepAnswer()
            }
            var hash: UInt64 = 0
            var answer = StepAnswer()
            if let start = input.start {
                if start > sequence.length { faults.append("goes back to what is not there") }
                sequence.length = start
            }
            for (number, token) in input.tokens.enumerated() {
                rows += 1
                hash =
                    sequence.length == 0
                    ? Self.emptyHash : memory[place(sequence, sequence.length - 1)]
                hash = Self.hash(hash, token)
                guard sequence.length / blocks.blockLength < sequence.lease.blocks.count else {
                    faults.append("more rows than room")
                    return StepAnswer()
                }
                memory[place(sequence, sequence.length)] = hash
                texts[place(sequence, sequence.length)] = token
                sequence.length += 1
                let asked = number - (input.tokens.count - input.samplings.count)
                if asked >= 0 {
                    answer.append(
                        choose(hash, input.samplings[asked], echo(sequence)), after: asked > 0 ? token : nil,
                        number: asked)
                }
                let row = number - (input.tokens.count - input.targetRows)
                if row >= 0 {
                    let range = input.targetRange(ofRow: row, from: answer.logprobs.count)
                    for target in Array(input.targets)[range] {
                        answer.logprobs.append(Self.logprob(of: target, after: hash))
                    }
                }
            }
            let wrong = input.samplings.count - answer.choices.count
            sequence.length -= wrong
            (guessed, wrongGuesses) = (guessed + input.guessed, wrongGuesses + wrong)
            blocks.advance(&sequence.lease, to: sequence.length)
            sequences[input.sequence] = sequence
            return answer
        }
    }

    /// Of a token after those that have this hash.
    static func logprob(of token: Int32, after hash: UInt64) -> Float {
        -Float((hash ^ UInt64(token)) % 10_007) / 1000
    }

    static func hash(_ hash: UInt64, _ token: Int32) -> UInt64 {
        let hash = (hash ^ UInt64(token)) &* 0x0000_0100_0000_01B3
        return hash ^ hash >> 29
    }
    static let emptyHash: UInt64 = 0xCBF2_9CE4_8422_2325

    private func place(_ sequence: Sequence, _ position: Int) -> Int {
        Int(sequence.lease.blocks[position / blocks.blockLength]) * blocks.blockLength
            + position % blocks.blockLength
    }

    /// The token that came `period` places before the next one.
    private func echo(_ sequence: Sequence) -> Int32? {
        guard period > 0, sequence.length >= period else { return nil }
        return texts[place(sequence, sequence.length - period)]
    }

    private func choose(_ hash: UInt64, _ sampling: SamplingRequest, _ echo: Int32?) -> TokenChoice {
        var hash = hash
        for value in [sampling.stream, UInt64(sampling.position)] {
            hash = (hash ^ value) &* 0x0000_0100_0000_01B3
            hash ^= hash >> 31
        }
        var token = (hash >> 20) % endOdds == 0 ? 0 : Int32(1 + (hash >> 8) % 999)
        if let echo, token > 0, hash >> 40 % 8 > 0 { token = echo }
        if let mask = sampling.constraint?.allowed() {
            // The next one that is allowed.
            for _ in 0..<1000 where !mask[token] { token = (token + 1) % 1000 }
        }
        return TokenChoice(token: token)
    }

    private func checkOwners() {
        let used = Set(sequences.values.flatMap(\.lease.blocks))
        if blocks.available + used.count != blocks.capacity { faults.append("a block is lost") }
        for sequence in sequences.values where sequence.length > 0 {
            if Set(sequence.lease.blocks).count < sequence.lease.blocks.count {
                faults.append("a block twice")
            }
        }
    }
}
