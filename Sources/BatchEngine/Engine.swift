/// What advances sequences by tokens: weights, or what stands for them, and a KV cache of whatever shape.
/// `PhiEngine` is the real one; tests have scripted ones. Text is not part of it.
///
/// All calls come from one thread at a time. A sequence's results depend only on its own tokens and sampling
/// requests: not on the other sequences of a step, nor on how its rows are cut into steps, nor on whether it
/// gave way in the middle and was computed again.
package protocol Engine: AnyObject, Sendable {
    var limits: ModelLimits { get }
    /// All that results depend on besides the request, as far as the engine chooses it: the version of its
    /// arithmetic, the precision of its cache. Another value, other results.
    var identity: [(name: String, value: String)] { get }
    /// Where the time of all steps so far went. The default is all zeros.
    var times: ComputeTimes { get }

    /// Whether what sequences begin with alike is computed once. The default is that it is.
    var sharesBeginnings: Bool { get }

    /// Begins a sequence, with room for its first `tokens` at least.
    /// - Parameters:
    ///   - ceiling: tokens it may come to in all. What could not have so many even alone is refused now.
    ///   - lookahead: it should wait if afterwards it and the others could not each grow by so many tokens,
    ///     as far as their ceilings go.
    ///   - cacheable: how many tokens at the beginning may be in the cache already, fewer than there are. The
    ///     others are sent, as something is asked about their rows.
    ///   - rope: which rotary factors it has, where the model has two sets.
    func admit(
        _ id: RequestID, tokens: [Int32], ceiling: Int, lookahead: Int, cacheable: Int, rope: RopeFactors
    ) -> Admission
    /// Brings to a sequence that was just admitted what the cache holds of the first `count` tokens of another, with
    /// which it begins too.
    /// - Returns: false if nothing has changed, as the other has not come so far or the engine can't copy; the default.
    func copyBeginning(_ count: Int, of other: RequestID, to id: RequestID) -> Bool
    /// Room for a sequence of `length` tokens.
    /// - Returns: how many there is room for now; nil if there is none. Never nil for the only sequence.
    func extend(_ id: RequestID, to length: Int) -> Int?
    /// One forward pass over the rows of all `inputs` (each sequence at most once).
    /// - Returns: one answer for each input. A fault of one sequence is no other one's.
    func step(_ inputs: [StepInput]) throws -> [StepAnswer]
    /// What a reader of a result may want to know of how it came about, e.g. which rotary factors were
    /// used. Depends on the request alone. The default is nothing.
    func provenance(of id: RequestID) -> [String: String]
    /// Ends a sequence.
    func release(_ id: RequestID)
    /// Ends a sequence that will begin again with `tokens`, all it has come to: what is kept of them need not
    /// be computed again. The default keeps nothing.
    func preempt(_ id: RequestID, tokens: [Int32])
}

extension Engine {
    package var times: ComputeTimes { ComputeTimes() }
    package var sharesBeginnings: Bool { true }
    package func copyBeginning(_ count: Int, of other: RequestID, to id: RequestID) -> Bool { false }
    package func provenance(of id: RequestID) -> [String: String] { [:] }
    package func admit(
        _ id: RequestID, tokens: [Int32], ceiling: Int, lookahead: Int, cacheable: Int
    ) -> Admission {
        admit(
            id, tokens: tokens, ceiling: ceiling, lookahead: lookahead, cacheable: cacheable, rope: .byLength)
    }
    package func preempt(_ id: RequestID, tokens: [Int32]) { release(id) }
}
