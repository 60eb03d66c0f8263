/// Advances sequences by tokens, with weights and a KV cache of any layout. Knows nothing of text. `PhiEngine` is the
/// real one; tests use scripted ones.
///
/// All calls come from one thread at a time. A sequence's results depend only on its own tokens and sampling requests:
/// not on other sequences, on how its rows are split into passes, or on preemption.
package protocol Engine: AnyObject, Sendable {
    var limits: ModelLimits { get }
    /// Name and value of everything in the engine that results depend on, such as the version of its arithmetic and the
    /// precision of its cache.
    var identity: [(name: String, value: String)] { get }
    /// Compute time of all passes so far. Zeros by default.
    var times: ComputeTimes { get }

    /// Whether common prefixes of sequences are computed once. True by default.
    var sharesBeginnings: Bool { get }

    /// Admits a sequence, with room for at least its first `tokens`.
    /// - Parameters:
    ///   - ceiling: the most tokens that it can grow to. It is refused if it could not have them even alone.
    ///   - lookahead: it must wait unless it and all others could then still grow by so many tokens, up to their
    ///     ceilings.
    ///   - cacheable: number of leading tokens that may come from the cache, fewer than all. The rows of the others
    ///     are needed for their logits, so they are sent.
    ///   - rope: the rotary factors, if the model has two sets.
    func admit(
        _ id: RequestID, tokens: [Int32], ceiling: Int, lookahead: Int, cacheable: Int, rope: RopeFactors
    ) -> Admission
    /// Copies the cache of the first `count` tokens, which both sequences share, from `other` to one just admitted.
    /// - Returns: false if nothing was copied because `other` is not so far or the engine can't copy; the default.
    func copyBeginning(_ count: Int, of other: RequestID, to id: RequestID) -> Bool
    /// Makes room for a sequence of `length` tokens.
    /// - Returns: the number of tokens that fit now; nil if there is no room. Never nil for the only sequence.
    func extend(_ id: RequestID, to length: Int) -> Int?
    /// One forward pass over the rows of all `inputs` (each sequence at most once).
    /// - Returns: one answer for each input. A fault of one sequence does not affect the others.
    func forward(_ inputs: [PassInput]) throws -> [PassAnswer]
    /// Facts about how a result was made, such as the rotary factors, for its reader. They depend on the request alone.
    /// None by default.
    func provenance(of id: RequestID) -> [String: String]
    /// Ends a sequence.
    func release(_ id: RequestID)
    /// Ends a sequence that will restart with these `tokens`, if not only with them. An engine may keep its cache, so that they need not be
    /// computed again; by default it keeps nothing.
    func preempt(_ id: RequestID, tokens: [Int32])
}

extension Engine {
    package var times: ComputeTimes { ComputeTimes() }
    package var sharesBeginnings: Bool { true }
    package func copyBeginning(_ count: Int, of other: RequestID, to id: RequestID) -> Bool { false }
    package func provenance(of id: RequestID) -> [String: String] { [:] }
    package func preempt(_ id: RequestID, tokens: [Int32]) { release(id) }
}
