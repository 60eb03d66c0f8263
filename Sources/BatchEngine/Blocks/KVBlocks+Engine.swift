/// Everything about sequences that engines with a cache of blocks share; see `Engine`.
extension KVBlocks {
    package var sharesBeginnings: Bool { slots == nil }

    package mutating func admit(
        _ cache: SequenceCache, tokens: [Int32], lookahead: Int, cacheable: Int,
        beside others: [SequenceCache]
    ) -> Admission {
        if let refusal = refusal(tokens, ceiling: cache.ceiling) { return refusal }
        // Chosen once for each request from its ceiling, so that preemption and resuming don't change it.
        cache.longRope = limits.usesLongRope(length: cache.ceiling, cache.rope) ?? false
        let own = blocks(for: min(cache.ceiling, tokens.count + lookahead)) - blocks(for: tokens.count)
        let spared = others.reduce(own) { $0 + growth($1, by: lookahead) }
        guard let slots else { return lease(cache, tokens, sparing: spared, cacheable: cacheable) }
        guard let slot = freeSlots.last else { return .wait(.room) }
        let admission = lease(cache, tokens, sparing: spared, cacheable: 0)
        if admission == .ready {
            freeSlots.removeLast()
            cache.slot = SequenceSlots.Slot(slot, of: slots)
        }
        return admission
    }

    /// Returns the problem with a sequence's tokens; nil if there is none.
    package func fault(of tokens: [Int32]) -> String? {
        if tokens.isEmpty { return "the prompt has no tokens" }
        return tokens.first { $0 < 0 || $0 >= limits.vocabularySize }
            .map { "there is no token id \($0): the model's ids are 0 to \(limits.vocabularySize - 1)" }
    }

    private func refusal(_ tokens: [Int32], ceiling: Int) -> Admission? {
        if let fault = fault(of: tokens) { return .never(UserError(.badRequest, fault)) }
        if ceiling > limits.contextLength {
            return .never(
                UserError(
                    .badRequest,
                    "prompt and completion of \(ceiling) tokens together exceed the context of \(limits.contextLength)"
                ))
        }
        let needed = blocks(for: ceiling)
        guard needed > capacity else { return nil }
        return .never(
            UserError(
                .resources,
                "\(ceiling) tokens need \(needed * blockBytes) bytes of KV cache, more than its budget of \(capacity * blockBytes)"
            ),
            room: capacity * blockLength)
    }

    /// Returns the blocks that a sequence needs for so many more tokens, up to its ceiling.
    private func growth(_ cache: SequenceCache, by lookahead: Int) -> Int {
        let count = min(cache.ceiling, max(cache.length, cache.begun) + lookahead)
        return max(0, blocks(for: count) - cache.blocks.count)
    }

    /// Copies the blocks that a sequence lacks of the first `count` tokens of another; see `Engine`.
    /// - Parameter copy: copies a block; returns false if the engine can't.
    package mutating func copyBeginning(
        _ count: Int, of other: SequenceCache, to cache: SequenceCache, _ copy: (Int32, Int32) -> Bool
    ) {
        guard slots == nil, other.length >= count, other.longRope == cache.longRope, cache.length < count,
            (cache.length / blockLength..<blocks(for: count)).allSatisfy({
                copy(other.blocks[$0], cache.blocks[$0])
            })
        else { return }
        advance(cache, to: count)
    }

    /// The rotary factors, if the model has two sets.
    package func provenance(of cache: SequenceCache) -> [String: String] {
        limits.shortRopeLength == nil ? [:] : ["rope": cache.longRope ? "long" : "short"]
    }

    /// Prepares sequences for the rows of inputs.
    package func begin(_ inputs: [PassInput]) -> [RowRun] { inputs.map { run(of: $0) } }

    private func run(of input: PassInput) -> RowRun {
        let cache = input.cache
        precondition(!input.tokens.isEmpty && cache.length + input.tokens.count <= cache.room)
        precondition(areKnown(input.tokens) && areKnown(input.targets))
        let (start, tokens) =
            cache.slot?.rows(input.tokens, after: cache.length, blockLength: blockLength)
            ?? (cache.length, input.tokens)
        return RowRun(
            tokens: tokens, start: start, blocks: cache.blocks, longRope: cache.longRope,
            logitRows: input.logitRows, slot: cache.slot?.number)
    }

    private func areKnown(_ tokens: ArraySlice<Int32>) -> Bool {
        let size = limits.vocabularySize
        return tokens.allSatisfy { $0 >= 0 && $0 < size }
    }

    /// Records that the rows of inputs are in the cache. Rejected draft tokens are overwritten.
    package mutating func finish(_ inputs: [PassInput], _ answers: [PassAnswer]) {
        // Binding an input to a name would copy it.
        for number in inputs.indices {
            let wrong = inputs[number].samplings.count - answers[number].choices.count
            let cache = inputs[number].cache
            advance(cache, to: cache.length + inputs[number].tokens.count - wrong)
        }
    }
}
