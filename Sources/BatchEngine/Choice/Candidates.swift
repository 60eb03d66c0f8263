/// Values that a token is chosen from: a row's logits after steps 1 and 2 of `SamplingRequest`.
struct Candidates {
    /// [count]
    let values: UnsafePointer<Float>
    let count: Int
    /// Tokens of the values, ascending; nil if `values` has all tokens in the order of their ids.
    private let tokens: [Int32]?

    /// If a mask leaves at most one token in so many, the others are left out instead of set to -infinity. The choice
    /// is the same, and it costs less.
    private static let fewness = 16

    /// - Parameters:
    ///   - logits: [count]
    ///   - scratch: room for `count` floats, which hold the values if they differ from the logits
    ///   - mask: the request's
    init(
        _ logits: UnsafePointer<Float>, count: Int, scratch: UnsafeMutablePointer<Float>,
        request: SamplingRequest, mask: TokenMask?
    ) {
        if let mask, mask.tokenCount <= count / Self.fewness {
            let few = mask.tokens.filter { $0 < count }
            for (place, token) in few.enumerated() { scratch[place] = logits[Int(token)] }
            tokens = few
            self.count = few.count
        } else {
            tokens = nil
            self.count = count
            guard request.changesLogits else {
                values = logits
                return
            }
            scratch.update(from: logits, count: count)
            mask?.apply(to: UnsafeMutableBufferPointer(start: scratch, count: count))
        }
        values = UnsafePointer(scratch)
        request.parameters.rules.apply(
            to: UnsafeMutableBufferPointer(start: scratch, count: self.count), of: tokens,
            history: request.history)
    }

    func token(_ place: Int) -> Int32 { tokens.map { $0[place] } ?? Int32(place) }
}
