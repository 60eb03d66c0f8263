import BatchEngine
import OperatingSystem
import PhiText

/// How likely a model finds each of some answers, and which of them is the result. In Doubles, by fixed arithmetic and
/// in the order given: the same bits on every machine.
struct ChoiceWeights {
    /// Natural logarithms of each choice's probability as the whole answer: the sum over its tokens, and of the end
    /// after them, whichever of the tokens that end an answer it is.
    let logprobs: [Double]
    private let most: Double

    /// - Parameter answers: to all questions of the tree.
    init(_ tree: ChoiceTree, count: Int, answers: [Float]) {
        let answers = answers.map { Double($0.isFinite ? $0 : LogprobEntry.impossible) }
        logprobs = (0..<count).map { choice in
            let path = tree.path(of: choice)
            return path.tokens.reduce(0) { $0 + answers[$1] } + Self.logSum(answers[path.ends])
        }
        most = logprobs.max() ?? 0
    }

    /// ln(e^a + e^b + …); of one value itself.
    private static func logSum(_ values: ArraySlice<Double>) -> Double {
        let most = values.max() ?? 0
        return most + FixedArithmetic.log(values.reduce(0) { $0 + FixedArithmetic.exp($1 - most) })
    }

    /// Each e^((logprob - most) / temperature).
    private func weights(_ temperature: Double = 1) -> [Double] {
        logprobs.map { FixedArithmetic.exp(($0 - most) / temperature) }
    }

    /// How likely each choice is among all; they add up to 1, but for rounding.
    var probabilities: [Double] {
        let weights = weights()
        let sum = weights.reduce(0, +)
        return weights.map { $0 / sum }
    }

    /// At temperature 0 the likeliest, of equals the first; else drawn with probabilities p^(1/temperature), which are
    /// normalized again.
    /// - Parameter stream: the request's own random stream, of which the first number is used.
    func chosen(temperature: Float, stream: UInt64) -> Int {
        let likeliest = logprobs.indices.reduce(0) { logprobs[$1] > logprobs[$0] ? $1 : $0 }
        guard temperature > 0 else { return likeliest }
        let weights = weights(Double(max(temperature, 1e-6)))
        let target = RandomStream.uniform(stream: stream, position: 0) * weights.reduce(0, +)
        var sum = 0.0
        for (choice, weight) in weights.enumerated() {
            sum += weight
            if sum > target { return choice }
        }
        return likeliest
    }
}
