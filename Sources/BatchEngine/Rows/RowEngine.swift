/// An engine that keeps its sequences in blocks of a cache. Admission and the assignment of blocks are implemented
/// here.
package protocol BlockedEngine: Engine {
    /// Sequences and the blocks that they hold.
    var sequences: SequenceTable { get set }

    /// Copies a block.
    /// - Returns: false if the engine can't, the default.
    func copy(block: Int32, to other: Int32) -> Bool
}

extension BlockedEngine {
    package func copy(block: Int32, to other: Int32) -> Bool { false }

    package func copyBeginning(_ count: Int, of other: RequestID, to id: RequestID) -> Bool {
        let pairs = sequences.blocks(missing: count, in: id, from: other)
        guard !pairs.isEmpty, pairs.allSatisfy({ copy(block: $0, to: $1) }) else { return false }
        sequences.has(count, id)
        return true
    }

    package func admit(
        _ id: RequestID, tokens: [Int32], ceiling: Int, lookahead: Int, cacheable: Int, rope: RopeFactors
    ) -> Admission {
        sequences.admit(
            id, tokens: tokens, ceiling: ceiling, lookahead: lookahead, cacheable: cacheable, rope: rope)
    }

    package var sharesBeginnings: Bool { sequences.sharesBeginnings }
    package func extend(_ id: RequestID, to length: Int) -> Int? { sequences.extend(id, to: length) }
    package func release(_ id: RequestID) { sequences.release(id) }
    package func preempt(_ id: RequestID, tokens: [Int32]) { sequences.preempt(id, tokens: tokens) }

    /// The rotary factors, if the model has two sets.
    package func provenance(of id: RequestID) -> [String: String] {
        guard limits.shortRopeLength != nil, let found = sequences[id] else { return [:] }
        return ["rope": found.longRope ? "long" : "short"]
    }
}

/// An engine that only computes rows: tokens in, logits out. Sampling is implemented here.
package protocol RowEngine: BlockedEngine {
    /// Makes answers from logits.
    var logits: LogitReader { get }

    /// Computes rows, and writes what later rows need to the sequences' blocks.
    /// - Parameters:
    ///   - runs: each of another sequence, in the order that `order` gives.
    ///   - use: receives the rows of logits that are needed, some at a time, in the order of the runs.
    func forward(_ runs: [RowRun], use: (LogitPiece) throws -> Void) throws
    /// Returns an efficient order to compute runs in, as indices. By default, the given one.
    func order(_ runs: [RowRun]) -> [Int]
}

extension RowEngine {
    package func order(_ runs: [RowRun]) -> [Int] { Array(runs.indices) }

    package func forward(_ inputs: [PassInput]) throws -> [PassAnswer] {
        let runs = sequences.begin(inputs)
        let order = order(runs)
        let isAsTheyCome = order.elementsEqual(inputs.indices)
        logits.begin(isAsTheyCome ? inputs : order.map { inputs[$0] })
        try forward(isAsTheyCome ? runs : order.map { runs[$0] }) { logits.read($0) }
        defer { logits.end() }
        var answers = logits.answers
        if !isAsTheyCome { for (place, answer) in zip(order, logits.answers) { answers[place] = answer } }
        sequences.finish(inputs, answers)
        return answers
    }
}
