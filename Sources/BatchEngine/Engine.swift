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

    /// Admits a sequence, with room for at least `tokens`. It is refused if it could not have its ceiling even alone.
    /// - Parameters:
    ///   - lookahead: it must wait unless it and all `others` could then still grow by so many tokens, up to their
    ///     ceilings.
    ///   - cacheable: number of leading tokens that may come from the cache, fewer than all. The rows of the others
    ///     are needed for their logits, so they are sent.
    ///   - others: all admitted sequences.
    func admit(
        _ cache: SequenceCache, tokens: [Int32], lookahead: Int, cacheable: Int,
        beside others: [SequenceCache]
    ) -> Admission
    /// Copies the cache of the first `count` tokens, which both sequences share, from `other` to one just admitted.
    /// Does nothing if `other` is not so far, or the engine can't copy; by default.
    func copyBeginning(_ count: Int, of other: SequenceCache, to cache: SequenceCache)
    /// Makes room for a sequence of `length` tokens.
    /// - Returns: false if there is none. Never for the only sequence.
    func extend(_ cache: SequenceCache, to length: Int) -> Bool
    /// One forward pass over the rows of all `inputs` (each sequence at most once).
    /// - Returns: one answer for each input. A fault of one sequence does not affect the others.
    func forward(_ inputs: [PassInput]) throws -> [PassAnswer]
    /// Facts about how a result was made, such as the rotary factors, for its reader. They depend on the request alone.
    /// None by default.
    func provenance(of cache: SequenceCache) -> [String: String]
    /// Ends a sequence.
    /// - Parameter tokens: those with which it will restart, if not only with them; nil if it will not. An engine may
    ///   keep what it has of them, so that they need not be computed again.
    func release(_ cache: SequenceCache, keeping tokens: [Int32]?)
}

extension Engine {
    package var times: ComputeTimes { ComputeTimes() }
    package var sharesBeginnings: Bool { true }
    package func copyBeginning(_ count: Int, of other: SequenceCache, to cache: SequenceCache) {}
    package func provenance(of cache: SequenceCache) -> [String: String] { [:] }
}
