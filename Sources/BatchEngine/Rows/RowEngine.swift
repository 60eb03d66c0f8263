/// An engine whose sequences lie in blocks of a cache. Who may begin, and whose blocks are whose, is the same for all of
/// them, and here.
package protocol BlockedEngine: Engine {
    /// Which sequences there are, and which blocks they hold.
    var sequences: SequenceTable { get set }

    /// Has a block hold what another does.
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

    /// Which rotary factors were used, where the model has two sets.
    package func provenance(of id: RequestID) -> [String: String] {
        guard limits.shortRopeLength != nil, let found = sequences[id] else { return [:] }
        return ["rope": found.longRope ? "long" : "short"]
    }
}

/// Rows in, logits out: an engine that says no more than this. How tokens are chosen is the same for all of them.
package protocol RowEngine: BlockedEngine {
    /// Makes answers of logits.
    var logits: LogitReader { get }

    /// Computes rows, and writes what the sequences need of them later to their blocks.
    /// - Parameters:
    ///   - runs: each of another sequence, in an order that `order` gives.
    ///   - use: gets the rows of logits that are wanted, in the order of the runs and some at a time.
    func forward(_ runs: [RowRun], use: (LogitPiece) throws -> Void) throws
    /// An order in which runs are well computed, as indices. By default, that in which they come.
    func order(_ runs: [RowRun]) -> [Int]
}

extension RowEngine {
    package func order(_ runs: [RowRun]) -> [Int] { Array(runs.indices) }

    package func step(_ inputs: [StepInput]) throws -> [StepAnswer] {
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
