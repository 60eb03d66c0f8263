import CPhiKernels

/// Chooses a token from a row of logits, by fixed arithmetic: the same logits and request give the same token
/// on every machine. `SamplingRequest` has the order of steps; equal logits count in the order of their ids.
package struct Sampler: Sendable {
    // Function pointers and a constant name, both C's: never changed.
    private nonisolated(unsafe) let kernels: PhiKernels

    package init(_ kernels: PhiKernels) { self.kernels = kernels }

    /// - Parameters:
    ///   - logits: [count]
    ///   - scratch: room for `count` floats
    ///   - mask: the constraint's, if it is there already.
    package func choose(
        _ logits: UnsafePointer<Float>, count: Int, scratch: UnsafeMutablePointer<Float>,
        request: SamplingRequest, mask: TokenMask? = nil
    ) -> SampledToken {
        let mask = mask ?? request.constraint?.allowed()
        let left = Candidates(logits, count: count, scratch: scratch, request: request, mask: mask)
        guard left.count > 0 else { return SampledToken(fault: .nothingAllowed) }
        let best = kernels.argmax(left.values, left.count)
        let most = left.values[best]
        if most == -.infinity { return SampledToken(fault: .nothingAllowed) }
        var choice = SampledToken(token: left.token(best))
        if request.parameters.temperature > 0 {
            // Below this even the nearest float's probability underflows: greedy.
            let inverse = 1 / max(request.parameters.temperature, 1e-6)
            _ = kernels.exponentials(left.values, left.count, most, inverse, scratch)
            let u = RandomStream.uniform(stream: request.stream, position: request.position)
            choice.token = left.token(
                draw(scratch, count: left.count, of: count, parameters: request.parameters, uniform: u))
        }
        if let wanted = request.parameters.logprobs {
            // The model's own, whatever was changed.
            let softmax = softmax(
                logits, count: count, best: request.changesLogits ? nil : best, scratch: scratch)
            choice.logprob = softmax.logprob(logits[Int(choice.token)])
            choice.top = largest(logits, count: count, keep: wanted).map {
                TokenLogprob(id: Int32($0), logprob: softmax.logprob(logits[$0]))
            }
        }
        return choice
    }

    /// What turns a row's logits into log-probabilities.
    package struct Softmax {
        /// The largest logit.
        package let most: Float
        /// The logarithm of the sum of e^(logit - most).
        package let logSum: Double

        package func logprob(_ logit: Float) -> Float { Float(exactLogprob(logit)) }
        package func exactLogprob(_ logit: Float) -> Double { Double(logit - most) - logSum }
    }

    /// - Parameter best: the largest logit's id, if it is known.
    package func softmax(
        _ logits: UnsafePointer<Float>, count: Int, best: Int? = nil, scratch: UnsafeMutablePointer<Float>
    ) -> Softmax {
        let most = logits[best ?? kernels.argmax(logits, count)]
        let sum = kernels.exponentials(logits, count, most, 1, scratch)
        return Softmax(most: most, logSum: phi_log(Double(sum)))
    }

    /// Ids of the `keep` largest values, largest first, equals by id.
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

    /// Draws from unnormalized weights (the largest is 1), those of a vocabulary of `size`; tokens that are left out
    /// have none.
    private func draw(
        _ weights: UnsafePointer<Float>, count: Int, of size: Int, parameters: SamplingParameters,
        uniform: Double
    ) -> Int {
        let filtersRank = (parameters.topK > 0 && parameters.topK < size) || parameters.topP < 1
        if !filtersRank {
            return scan(uniform: uniform, ids: 0..<count) {
                weights[$0] >= parameters.minP ? Double(weights[$0]) : 0
            }
        }
        let ranked = rank(weights, count: count, of: size, parameters: parameters)
        return scan(uniform: uniform, ids: ranked) { Double(weights[$0]) }
    }

    /// The id at which the running sum passes `uniform` times the whole.
    private func scan<Ids: BidirectionalCollection<Int>>(
        uniform: Double, ids: Ids, weight: (Int) -> Double
    ) -> Int {
        var total = 0.0
        for id in ids { total += weight(id) }
        let target = uniform * total
        var sum = 0.0
        for id in ids {
            sum += weight(id)
            if sum > target { return id }
        }
        // The target was rounded up to the whole.
        return ids.last { weight($0) > 0 } ?? 0
    }

    /// The ids that pass topK, topP and minP, most likely first.
    private func rank(
        _ weights: UnsafePointer<Float>, count: Int, of size: Int, parameters: SamplingParameters
    ) -> [Int] {
        let limit = parameters.topK > 0 ? min(parameters.topK, size) : size
        var total = 0.0
        for id in 0..<count { total += Double(weights[id]) }
        // Sorting the whole vocabulary is slow: collect from the top down until enough are there.
        var ids: [Int] = []
        var threshold: Float = 0x1p-6
        while true {
            ids.removeAll(keepingCapacity: true)
            var mass = 0.0
            // Those of no weight are never drawn, and may be most of all.
            for id in 0..<count where weights[id] >= threshold && weights[id] > 0 {
                ids.append(id)
                mass += Double(weights[id])
            }
            let all = threshold == 0
            if all || ids.count >= limit || (limit == size && mass >= Double(parameters.topP) * total) {
                break
            }
            threshold = threshold > 0x1p-60 ? threshold * 0x1p-6 : 0
        }
        ids.sort { weights[$0] != weights[$1] ? weights[$0] > weights[$1] : $0 < $1 }
        if ids.count > limit { ids.removeLast(ids.count - limit) }
        if parameters.topP < 1 {
            // topP is a share of what topK left, or of everything.
            let whole = limit < size ? ids.reduce(0.0) { $0 + Double(weights[$1]) } : total
            var sum = 0.0
            var keep = 0
            for id in ids {
                keep += 1
                sum += Double(weights[id])
                if sum >= Double(parameters.topP) * whole { break }
            }
            ids.removeLast(ids.count - keep)
        }
        ids.removeAll { weights[$0] < parameters.minP }
        return ids
    }
}
