/// Filter of the tokens that a draw may choose. A further one is a type with a setting, and a line of `list`.
package protocol SamplingFilter: Sendable {
    /// - Returns: nil if the settings keep all tokens.
    init?(_ settings: RequestSettings)
    func apply(to left: inout TokensLeft)
}

enum SamplingFilters {
    /// In the order in which they are applied.
    static let list: [any SamplingFilter.Type] = [TopK.self, TopP.self, MinP.self]
}

/// Tokens left to a choice, and what it depends on.
package struct TokensLeft {
    /// [count]: a row's logits after steps 1 and 2 of `SamplingRequest`.
    let logits: UnsafePointer<Float>
    let count: Int
    /// Ids of the tokens, ascending; nil if all are left.
    private let tokens: [Int32]?
    /// Size of the vocabulary, whatever a mask leaves of it.
    let vocabularySize: Int
    /// [count]: for a draw, unnormalized weights, of which the largest is 1. Weights of 0 are never drawn.
    let weights: UnsafePointer<Float>
    /// The tokens left, likeliest first and equals by index; nil if none was left out but by `least`.
    private(set) var ranked: [Int]?
    /// Smaller weights count as 0.
    var least: Float = 0

    /// If a mask leaves at most one token in so many, the others are left out instead of set to -infinity. The choice
    /// is the same, and it costs less.
    private static let fewness = 16

    /// - Parameters:
    ///   - logits: [count]
    ///   - scratch: room for `count` floats, which hold the logits if steps change them
    ///   - mask: the request's
    init(
        _ logits: UnsafePointer<Float>, count: Int, scratch: UnsafeMutablePointer<Float>,
        request: SamplingRequest, mask: TokenMask?
    ) {
        vocabularySize = count
        weights = UnsafePointer(scratch)
        if let mask, mask.tokenCount <= count / Self.fewness {
            let few = mask.tokens.filter { $0 < count }
            for (place, token) in few.enumerated() { scratch[place] = logits[Int(token)] }
            (tokens, self.count) = (few, few.count)
        } else {
            (tokens, self.count) = (nil, count)
            guard request.changesLogits else {
                self.logits = logits
                return
            }
            scratch.update(from: logits, count: count)
            mask?.apply(to: UnsafeMutableBufferPointer(start: scratch, count: count))
        }
        self.logits = UnsafePointer(scratch)
        request.parameters.rules.apply(
            to: UnsafeMutableBufferPointer(start: scratch, count: self.count), of: tokens,
            history: request.history)
    }

    func token(_ place: Int) -> Int32 { tokens.map { $0[place] } ?? Int32(place) }

    func weight(_ id: Int) -> Double { weights[id] >= least ? Double(weights[id]) : 0 }

    /// Sum of the weights left.
    var mass: Double {
        ranked?.reduce(0) { $0 + weight($1) } ?? (0..<count).reduce(0) { $0 + weight($1) }
    }

    /// Keeps the likeliest tokens.
    /// - Parameters:
    ///   - isEnough: whether that many of the likeliest, of that weight together, have all to keep among them.
    ///   - number: returns the number of tokens to keep of those, likeliest first.
    mutating func keep(
        amongFirst isEnough: (_ count: Int, _ mass: Double) -> Bool, count number: (_ ranked: [Int]) -> Int
    ) {
        var ids = ranked ?? []
        // Sorting the whole vocabulary is slow: collect from the top until there are enough.
        var threshold: Float = 0x1p-6
        while ranked == nil {
            ids.removeAll(keepingCapacity: true)
            var mass = 0.0
            // Weights of 0 may be most of all.
            for id in 0..<count where weights[id] >= threshold && weights[id] > 0 {
                ids.append(id)
                mass += weight(id)
            }
            if threshold == 0 || isEnough(ids.count, mass) {
                ids.sort { weights[$0] != weights[$1] ? weights[$0] > weights[$1] : $0 < $1 }
                break
            }
            threshold = threshold > 0x1p-60 ? threshold * 0x1p-6 : 0
        }
        ids.removeLast(max(0, ids.count - number(ids)))
        ranked = ids
    }
}

private struct TopK: SamplingFilter {
    let most: Int

    init?(_ settings: RequestSettings) {
        guard let most = settings.topK, most > 0 else { return nil }
        self.most = most
    }

    func apply(to left: inout TokensLeft) {
        guard most < left.vocabularySize else { return }
        left.keep(amongFirst: { count, _ in count >= most }, count: { _ in most })
    }
}

/// The share is of the mass that the filters before it left.
private struct TopP: SamplingFilter {
    let share: Double

    init?(_ settings: RequestSettings) {
        guard let share = settings.topP, share < 1 else { return nil }
        self.share = Double(share)
    }

    func apply(to left: inout TokensLeft) {
        let (least, weights) = (share * left.mass, left.weights)
        func count(_ ranked: [Int]) -> Int {
            var sum = 0.0
            let last = ranked.firstIndex {
                sum += Double(weights[$0])
                return sum >= least
            }
            return last.map { $0 + 1 } ?? ranked.count
        }
        left.keep(amongFirst: { $1 >= least }, count: count)
    }
}

private struct MinP: SamplingFilter {
    let least: Float

    init?(_ settings: RequestSettings) {
        guard let least = settings.minP, least > 0 else { return nil }
        self.least = least
    }

    func apply(to left: inout TokensLeft) { left.least = max(left.least, least) }
}
