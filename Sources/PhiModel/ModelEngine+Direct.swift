import BatchEngine

/// Steps without a loop, for measurements and tests.
extension ModelEngine {
    /// Begins a sequence with room for a prompt and `maxTokens` more, all at once.
    /// - Returns: its id, and the number of prompt tokens that are cached and must not be sent; nil if there is no
    ///   room now.
    /// - Throws: `UserError` of kind `resources` if it doesn't fit even into an empty cache, `badRequest` if the
    ///   model can't serve it.
    package func begin(
        prompt: [Int32], maxTokens: Int, cacheable: Int = .max
    ) throws -> (id: RequestID, cached: Int)? {
        let id = sequences.nextDirectID()
        let ceiling = prompt.count + max(0, maxTokens)
        switch admit(id, tokens: prompt, ceiling: ceiling, lookahead: 0, cacheable: cacheable) {
        case .ready(let cached, _):
            if extend(id, to: ceiling) != nil { return (id, cached) }
            release(id)
            return nil
        case .wait: return nil
        case .never(let refusal):
            throw UserError(refusal.kind == .tooLarge ? .resources : .badRequest, refusal.message)
        }
    }
}
