@testable import BatchEngine

/// An engine without weights: who may begin and whose blocks are whose is the real thing, and the
/// next token is a hash of all before it, of the
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
    private let blockLength: Int
    /// Those that have begun.
    private var live: [SequenceCache] = []
    /// Tokens in the cache of each, as far as they were computed for it.
    private var written: [ObjectIdentifier: Int] = [:]
    private(set) var faults: [String] = []
    private(set) var largestBatch = 0
    private(set) var steps = 0
    private(set) var rows = 0
    /// Rows of drafted tokens, and those of them that were not kept.
    private(set) var drafted = 0
    private(set) var rejectedDrafts = 0
    /// One in so many tokens ends a sequence.
    var endOdds: UInt64 = 30
    var beforeStep: (Int) throws -> Void = { _ in }

    init(blocks: Int = 1 << 12, blockLength: Int = 4) {
        var all = limits
        // Tests have tokens as they like.
        all.vocabularySize = Int(Int32.max)
        self.blocks = KVBlocks(all, capacity: blocks, blockLength: blockLength, blockBytes: 1)
        self.blockLength = blockLength
        memory = Array(repeating: 0, count: blocks * blockLength)
        texts = Array(repeating: 0, count: blocks * blockLength)
    }

    var isEmpty: Bool { live.isEmpty && blocks.available == blocks.capacity }

    func admit(
        _ cache: SequenceCache, tokens: [Int32], lookahead: Int, cacheable: Int,
        beside others: [SequenceCache]
    ) -> Admission {
        if Set(others.map(ObjectIdentifier.init)) != Set(live.map(ObjectIdentifier.init)) {
            faults.append("beside others than have begun")
        }
        let admission = blocks.admit(
            cache, tokens: tokens, lookahead: lookahead, cacheable: cacheable, beside: others)
        if case .ready = admission {
            if place(of: cache) != nil { faults.append("begun twice") }
            live.append(cache)
            largestBatch = max(largestBatch, live.count)
        }
        return admission
    }

    private func place(of cache: SequenceCache) -> Int? { live.firstIndex { $0 === cache } }

    func copyBeginning(_ count: Int, of other: SequenceCache, to cache: SequenceCache) {
        blocks.copyBeginning(count, of: other, to: cache) { block, other in
            for place in 0..<blockLength {
                let (from, to) = (Int(block) * blockLength + place, Int(other) * blockLength + place)
                (memory[to], texts[to]) = (memory[from], texts[from])
            }
            return true
        }
    }

    func extend(_ cache: SequenceCache, to length: Int) -> Bool {
        if place(of: cache) == nil { faults.append("extends what has not begun") }
        if length > cache.ceiling { faults.append("beyond the ceiling") }
        return blocks.extend(cache, to: length)
    }

    func release(_ cache: SequenceCache, keeping tokens: [Int32]?) {
        if let place = place(of: cache) { live.remove(at: place) } else { faults.append("released twice") }
        written[ObjectIdentifier(cache)] = nil
        blocks.release(cache, keeping: tokens ?? [])
    }

    func forward(_ inputs: [PassInput]) throws -> [PassAnswer] {
        try beforeStep(steps)
        steps += 1
        if inputs.isEmpty { faults.append("an empty step") }
        if Set(inputs.map { ObjectIdentifier($0.cache) }).count < inputs.count {
            faults.append("a sequence twice in a step")
        }
        checkOwners()
        return inputs.map { input in
            guard place(of: input.cache) != nil, !input.tokens.isEmpty else {
                faults.append("rows of nobody, or none")
                return PassAnswer()
            }
            if input.cache.length > written[ObjectIdentifier(input.cache), default: input.cache.length] {
                faults.append("goes on after what is not there")
                return PassAnswer()
            }
            let run = blocks.begin([input])[0]
            var hash: UInt64 = 0
            var answer = PassAnswer()
            for (number, token) in input.tokens.enumerated() {
                rows += 1
                let position = run.start + number
                hash = position == 0 ? Self.emptyHash : memory[place(run, position - 1)]
                hash = Self.hash(hash, token)
                memory[place(run, position)] = hash
                texts[place(run, position)] = token
                let asked = number - (input.tokens.count - input.samplings.count)
                if asked >= 0 {
                    answer.append(
                        choose(hash, input.samplings[asked], echo(run, position + 1)),
                        after: asked > 0 ? token : nil,
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
            (drafted, rejectedDrafts) = (drafted + input.drafted, rejectedDrafts + wrong)
            blocks.finish([input], [answer])
            written[ObjectIdentifier(input.cache)] = input.cache.length
            return answer
        }
    }

    /// The log-probability of a token after those that have this hash.
    static func logprob(of token: Int32, after hash: UInt64) -> Float {
        -Float((hash ^ UInt64(token)) % 10_007) / 1000
    }

    static func hash(_ hash: UInt64, _ token: Int32) -> UInt64 {
        let hash = (hash ^ UInt64(token)) &* 0x0000_0100_0000_01B3
        return hash ^ hash >> 29
    }
    static let emptyHash: UInt64 = 0xCBF2_9CE4_8422_2325

    private func place(_ run: RowRun, _ position: Int) -> Int {
        Int(run.blocks[position / blockLength]) * blockLength + position % blockLength
    }

    /// The token that came `period` places before the next one.
    private func echo(_ run: RowRun, _ length: Int) -> Int32? {
        guard period > 0, length >= period else { return nil }
        return texts[place(run, length - period)]
    }

    private func choose(_ hash: UInt64, _ sampling: SamplingRequest, _ echo: Int32?) -> SampledToken {
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
        return SampledToken(token: token)
    }

    private func checkOwners() {
        let held = live.map(\.blocks)
        if blocks.available + Set(held.joined()).count != blocks.capacity { faults.append("a block is lost") }
        for blocks in held where Set(blocks).count < blocks.count { faults.append("a block twice") }
    }
}
