import CPhiKernels

/// The two experts of a row, and the weights of their results.
struct ExpertChoice: BitwiseCopyable, Equatable {
    var first: Int
    var second: Int
    var firstWeight: Float
    var secondWeight: Float
}

/// SparseMixer's rule at inference (Liu et al. 2023, https://arxiv.org/abs/2310.00811; Hugging Face's `sparsemixer`):
/// the two experts with the highest scores. The weight of each is the softmax of its score among the scores close to
/// it, higher ones excluded; close is a distance of at most twice the training jitter, relative to the larger
/// magnitude.
package struct SparseMixer: Sendable, Equatable {
    /// router_jitter_noise
    let jitter: Float

    /// - Parameter scores: of all experts, two or more. If one is not finite, neither are the weights, so the row's
    ///   logits show it.
    func choose(_ scores: UnsafeBufferPointer<Float>) -> ExpertChoice {
        guard scores.allSatisfy(\.isFinite) else {
            return ExpertChoice(first: 0, second: 1, firstWeight: .nan, secondWeight: .nan)
        }
        let first = best(scores, without: nil)
        let second = best(scores, without: first)
        return ExpertChoice(
            first: first, second: second, firstWeight: weight(of: first, scores, without: nil),
            secondWeight: weight(of: second, scores, without: first))
    }

    /// Returns the first of the highest.
    private func best(_ scores: UnsafeBufferPointer<Float>, without other: Int?) -> Int {
        var best = other == 0 ? 1 : 0
        for index in scores.indices where index != other && scores[index] > scores[best] { best = index }
        return best
    }

    private func weight(of best: Int, _ scores: UnsafeBufferPointer<Float>, without other: Int?) -> Float {
        let top = scores[best]
        var sum = 0.0
        for (index, score) in scores.enumerated() where index != other {
            // NaN if both are zero, and such a score is close.
            if (top - score) / max(abs(score), top) > 2 * jitter { continue }
            sum += phi_exp(Double(score) - Double(top))
        }
        return Float(1 / sum)
    }
}
