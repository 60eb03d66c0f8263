import CPhiKernels

/// Chooses a token from a row of logits by fixed arithmetic: the same logits and request give the same token on every
/// machine. `SamplingRequest` has the steps. Equal logits rank by id.
package struct Sampler: Sendable {
    // Constants of C: function pointers and a name.
    private nonisolated(unsafe) let kernels: PhiKernels

    package init(_ kernels: PhiKernels) { self.kernels = kernels }

    /// - Parameters:
    ///   - logits: [count]
    ///   - scratch: room for `count` floats
    ///   - mask: the constraint's, if it is made already.
    package func choose(
        _ logits: UnsafePointer<Float>, count: Int, scratch: UnsafeMutablePointer<Float>,
        request: SamplingRequest, mask: TokenMask? = nil
    ) -> SampledToken {
        let mask = mask ?? request.constraint?.allowed()
        var left = TokensLeft(logits, count: count, scratch: scratch, request: request, mask: mask)
        guard left.count > 0 else { return SampledToken(fault: .nothingAllowed) }
        let best = kernels.argmax(left.logits, left.count)
        let most = left.logits[best]
        if most == -.infinity { return SampledToken(fault: .nothingAllowed) }
        var choice = SampledToken(token: left.token(best))
        if request.parameters.temperature > 0 {
            // Below this even the nearest float's probability underflows: greedy.
            let inverse = 1 / max(request.parameters.temperature, 1e-6)
            // They may take the logits' place.
            _ = kernels.exponentials(left.logits, left.count, most, inverse, scratch)
            let u = RandomStream.uniform(stream: request.stream, position: request.position)
            for filter in request.parameters.filters { filter.apply(to: &left) }
            choice.token = left.token(draw(left, uniform: u))
        }
        if let wanted = request.parameters.logprobs {
            // The model's own, before any change.
            let softmax = softmax(
                logits, count: count, best: request.changesLogits ? nil : best, scratch: scratch)
            choice.logprob = softmax.logprob(logits[Int(choice.token)])
            choice.top = largest(logits, count: count, keep: wanted).map {
                TokenLogprob(id: Int32($0), logprob: softmax.logprob(logits[$0]))
            }
        }
        return choice
    }

    /// Normalization of a row, to turn logits into log-probabilities.
    package struct Softmax {
        /// The largest logit.
        package let most: Float
        /// The logarithm of the sum of e^(logit - most).
        package let logSum: Double

        package func logprob(_ logit: Float) -> Float { Float(exactLogprob(logit)) }
        package func exactLogprob(_ logit: Float) -> Double { Double(logit - most) - logSum }
    }

    /// - Parameter best: id of the largest logit, if known.
    package func softmax(
        _ logits: UnsafePointer<Float>, count: Int, best: Int? = nil, scratch: UnsafeMutablePointer<Float>
    ) -> Softmax {
        let most = logits[best ?? kernels.argmax(logits, count)]
        let sum = kernels.exponentials(logits, count, most, 1, scratch)
        return Softmax(most: most, logSum: phi_log(Double(sum)))
    }

    /// Returns the indices of the `keep` largest values, largest first, equals by index.
    package func largest(_ values: UnsafePointer<Float>, count: Int, keep: Int) -> [Int] {
        guard keep > 0 else { return [] }
        var kept: [Int] = []
        kept.reserveCapacity(keep + 1)
        for id in 0..<count {
            let value = values[id]
            if kept.count == keep, let last = kept.last, !(value > values[last]) { continue }
            var at = kept.count
            while at > 0, value > values[kept[at - 1]] { at -= 1 }
            kept.insert(id, at: at)
            if kept.count > keep { kept.removeLast() }
        }
        return kept
    }

    /// Draws from the tokens that filters leave.
    private func draw(_ left: TokensLeft, uniform: Double) -> Int {
        if let ranked = left.ranked { return scan(left, ranked, uniform: uniform) }
        return scan(left, 0..<left.count, uniform: uniform)
    }

    /// Returns the id at which the running sum exceeds `uniform` times the total.
    private func scan(
        _ left: TokensLeft, _ ids: some BidirectionalCollection<Int>, uniform: Double
    ) -> Int {
        var total = 0.0
        for id in ids { total += left.weight(id) }
        let target = uniform * total
        var sum = 0.0
        for id in ids {
            sum += left.weight(id)
            if sum > target { return id }
        }
        // Rounding has put the target at the total.
        return ids.last { left.weight($0) > 0 } ?? 0
    }
}
