/// Sequences of an engine and the blocks that they hold: a plain value, independent of the blocks' content.
package struct SequenceTable: Sendable {
    /// Cache of a sequence: blocks of keys and values, and a slot of recurrent state if the model has any.
    package struct Entry: Sendable {
        package fileprivate(set) var lease: KVBlocks.Lease
        /// Number of positions whose keys and values are in the cache.
        package fileprivate(set) var length: Int
        /// Number of tokens at admission.
        fileprivate let begun: Int
        /// The most tokens that it can grow to.
        package let ceiling: Int
        package let longRope: Bool
        /// Nil if everything is in blocks.
        fileprivate var slot: SequenceSlots.Slot?

        /// The RoPE factors are part of the keys.
        fileprivate var branch: Int { longRope ? 1 : 0 }

        /// In place, as reading it would copy it.
        fileprivate mutating func grow(by count: Int, in blocks: inout KVBlocks) {
            length += count
            blocks.advance(&lease, to: length)
        }
    }

    private let limits: ModelLimits
    package let blockBytes: Int
    private let slots: SequenceSlots?
    private var freeSlots: [Int32]
    package var blocks: KVBlocks
    private var entries: [RequestID: Entry] = [:]

    /// - Parameters:
    ///   - capacity: number of blocks.
    ///   - blockLength: positions of a block.
    ///   - slots: states and windows of sequences, for models that have them. Then sequences share nothing. A state
    ///     can't go back within a block: rows are computed again from the block's beginning, or from the first position
    ///     that the rings still allow.
    package init(
        _ limits: ModelLimits, capacity: Int, blockLength: Int, blockBytes: Int, slots: SequenceSlots? = nil
    ) {
        self.limits = limits
        self.slots = slots
        freeSlots = (0..<Int32(slots?.count ?? 0)).reversed()
        self.blockBytes = blockBytes
        blocks = KVBlocks(capacity: capacity, blockLength: blockLength)
    }

    package var sharesBeginnings: Bool { slots == nil }

    package subscript(id: RequestID) -> Entry? { entries[id] }

    /// Admits a sequence; see `Engine`.
    package mutating func admit(
        _ id: RequestID, tokens: [Int32], ceiling: Int, lookahead: Int, cacheable: Int, rope: RopeFactors
    ) -> Admission {
        if let refusal = refusal(tokens, ceiling: ceiling) { return refusal }
        // Chosen once for each request from its ceiling, so that preemption and resuming don't change it.
        let long = limits.usesLongRope(length: ceiling, rope) ?? false
        let own =
            blocks.blocks(for: min(ceiling, tokens.count + lookahead)) - blocks.blocks(for: tokens.count)
        let spared = entries.values.reduce(own) { $0 + growth($1, by: lookahead) }
        guard slots == nil || !freeSlots.isEmpty else { return .wait(.room) }
        let shared = slots == nil ? cacheable : 0
        switch blocks.lease(tokens, branch: long ? 1 : 0, sparing: spared, cacheable: shared) {
        case .wait(let shortage): return .wait(shortage)
        case .leased(let lease):
            let entry = Entry(
                lease: lease, length: lease.cached, begun: tokens.count, ceiling: ceiling, longRope: long,
                slot: slots.flatMap { slots in freeSlots.popLast().map { .init($0, of: slots) } })
            entries[id] = entry
            return .ready(cached: lease.cached, room: room(entry))
        }
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
        let needed = blocks.blocks(for: ceiling)
        guard needed > blocks.capacity else { return nil }
        return .never(
            UserError(
                .resources,
                "\(ceiling) tokens need \(needed * blockBytes) bytes of KV cache, more than its budget of \(blocks.capacity * blockBytes)"
            ),
            room: blocks.capacity * blocks.blockLength)
    }

    /// Returns the blocks that a sequence needs for so many more tokens, up to its ceiling.
    private func growth(_ entry: Entry, by lookahead: Int) -> Int {
        let count = min(entry.ceiling, max(entry.length, entry.begun) + lookahead)
        return max(0, blocks.blocks(for: count) - entry.lease.blocks.count)
    }

    /// Number of positions that fit into a sequence's blocks.
    package func room(_ entry: Entry) -> Int { entry.lease.blocks.count * blocks.blockLength }

    package mutating func extend(_ id: RequestID, to length: Int) -> Int? {
        guard var entry = entries[id], blocks.extend(&entry.lease, to: length) else { return nil }
        entries[id] = entry
        return room(entry)
    }

    package mutating func release(_ id: RequestID) {
        guard let old = entries.removeValue(forKey: id) else { return }
        blocks.release(old.lease)
        if let slot = old.slot { freeSlots.append(slot.number) }
    }

    package mutating func preempt(_ id: RequestID, tokens: [Int32]) {
        if slots != nil { return release(id) }
        guard let old = entries.removeValue(forKey: id) else { return }
        blocks.release(old.lease, keeping: tokens.prefix(old.length), branch: old.branch)
    }

    /// Copies the blocks that a sequence lacks of the first `count` tokens of another; see `Engine`.
    /// - Parameter copy: copies a block; returns false if the engine can't.
    package mutating func copyBeginning(
        _ count: Int, of other: RequestID, to id: RequestID, _ copy: (Int32, Int32) -> Bool
    ) -> Bool {
        guard slots == nil, var entry = entries[id], let source = entries[other],
            source.length >= count, source.longRope == entry.longRope, entry.length < count,
            (entry.length / blocks.blockLength..<blocks.blocks(for: count)).allSatisfy({
                copy(source.lease.blocks[$0], entry.lease.blocks[$0])
            })
        else { return false }
        entry.grow(by: count - entry.length, in: &blocks)
        entries[id] = entry
        return true
    }

    /// The rotary factors, if the model has two sets.
    package func provenance(of id: RequestID) -> [String: String] {
        guard limits.shortRopeLength != nil, let found = entries[id] else { return [:] }
        return ["rope": found.longRope ? "long" : "short"]
    }

    /// Prepares a sequence for the rows of an input, and cuts it first if the input says so.
    package mutating func begin(_ input: PassInput) -> RowRun {
        guard var entry = entries[input.sequence] else {
            preconditionFailure("a pass for a sequence that was not admitted or was released")
        }
        if let start = input.start {
            precondition(start <= entry.length)
            entry.length = start
        }
        precondition(!input.tokens.isEmpty && entry.length + input.tokens.count <= room(entry))
        precondition(areKnown(input.tokens) && areKnown(input.targets))
        let (start, tokens) =
            entry.slot?.rows(input.tokens, after: entry.length, blockLength: blocks.blockLength)
            ?? (entry.length, input.tokens)
        if slots != nil || input.start != nil { entries[input.sequence] = entry }
        return RowRun(
            tokens: tokens, start: start, blocks: entry.lease.blocks, longRope: entry.longRope,
            logitRows: input.logitRows, slot: entry.slot?.number)
    }

    package mutating func begin(_ inputs: [PassInput]) -> [RowRun] { inputs.map { begin($0) } }

    private func areKnown(_ tokens: ArraySlice<Int32>) -> Bool {
        tokens.allSatisfy { $0 >= 0 && $0 < limits.vocabularySize }
    }

    /// Records that the rows of inputs are in the cache. Rejected draft tokens are overwritten.
    package mutating func finish(_ inputs: [PassInput], _ answers: [PassAnswer]) {
        // Binding an input to a name would copy it.
        for number in inputs.indices {
            guard let place = entries.index(forKey: inputs[number].sequence) else { continue }
            let wrong = inputs[number].samplings.count - answers[number].choices.count
            entries.values[place].grow(by: inputs[number].tokens.count - wrong, in: &blocks)
        }
    }
}
