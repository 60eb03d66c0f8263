import BatchEngine
import Errors

extension Engine {
    package func release(_ cache: SequenceCache) { release(cache, keeping: nil) }

    /// Begins a sequence outside of loops, with room for a prompt and `maxTokens` more, all at once.
    /// - Returns: its cache, whose `length` is the number of prompt tokens that must not be sent; nil if there is no
    ///   room now.
    /// - Throws: `UserError` of kind `resources` if it doesn't fit even into an empty cache, `badRequest` if the
    ///   model can't serve it.
    package func begin(
        prompt: [Int32], maxTokens: Int, cacheable: Int = .max
    ) throws -> SequenceCache? {
        let cache = SequenceCache(ceiling: prompt.count + max(0, maxTokens))
        switch admit(cache, tokens: prompt, lookahead: 0, cacheable: cacheable, beside: []) {
        case .ready:
            if extend(cache, to: cache.ceiling) { return cache }
            release(cache)
            return nil
        case .wait: return nil
        case .never(let refusal, _): throw refusal
        }
    }
}
