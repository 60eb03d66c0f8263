import BatchEngine
import Errors

extension Engine {
    package func admit(
        _ id: RequestID, tokens: [Int32], ceiling: Int, lookahead: Int, cacheable: Int
    ) -> Admission {
        admit(
            id, tokens: tokens, ceiling: ceiling, lookahead: lookahead, cacheable: cacheable, rope: .auto)
    }

    /// Begins a sequence outside of loops, with room for a prompt and `maxTokens` more, all at once.
    /// - Returns: its id, and the number of prompt tokens that are cached and must not be sent; nil if there is no
    ///   room now.
    /// - Throws: `UserError` of kind `resources` if it doesn't fit even into an empty cache, `badRequest` if the
    ///   model can't serve it.
    package func begin(
        prompt: [Int32], maxTokens: Int, cacheable: Int = .max
    ) throws -> (id: RequestID, cached: Int)? {
        // Ids of loops count up from 0.
        let (id, ceiling) = (RequestID(.random(in: .min..<0)), prompt.count + max(0, maxTokens))
        switch admit(id, tokens: prompt, ceiling: ceiling, lookahead: 0, cacheable: cacheable) {
        case .ready(let cached, _):
            if extend(id, to: ceiling) != nil { return (id, cached) }
            release(id)
            return nil
        case .wait: return nil
        case .never(let refusal, _): throw refusal
        }
    }
}
