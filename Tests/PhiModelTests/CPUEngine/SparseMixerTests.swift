import Foundation
import Testing

@testable import PhiModel

/// The choice of experts, against Hugging Face's `sparsemixer` at inference.
struct SparseMixerTests {
    struct Case: Sendable {
        var scores: [Float]
        var jitter: Float
        var experts: [Int]
        var weights: [Float]
    }

    /// Equal scores, scores below zero, zeros, and bands that hold one, some and all.
    static let cases: [Case] = [
        Case(scores: [1, 2, 3, 4], jitter: 0.01, experts: [3, 2], weights: [1.0, 1.0]),
        Case(scores: [4, 3.95, 3.94, 1], jitter: 0.01, experts: [0, 1], weights: [0.3456627, 0.5025]),
        Case(scores: [-1, -1.01, -3, -5], jitter: 0.01, experts: [0, 1], weights: [0.5025, 1.0]),
        Case(scores: [-1, -1.05, -1.3, 0.0], jitter: 0.1, experts: [3, 0], weights: [1.0, 0.5124974]),
        Case(scores: [0, 0, 0, -1], jitter: 0.01, experts: [0, 1], weights: [0.3333333, 0.5]),
        Case(scores: [2, 2, 2, 2], jitter: 0.2, experts: [0, 1], weights: [0.25, 0.3333333]),
        Case(
            scores: [0.5, 3, 2.8, 2.9, -3], jitter: 0.1, experts: [1, 3], weights: [0.3671654, 0.5249792]),
        Case(scores: [0.001, -0.001, 0, 0.0005], jitter: 0.3, experts: [0, 3], weights: [0.5001251, 1.0]),
        Case(scores: [3, 1, 2.99, 2.95, 2.94], jitter: 0.0, experts: [0, 2], weights: [1.0, 1.0]),
        Case(
            scores: [-0.2, 0.1, -0.05, 0.09, 0.0], jitter: 0.5, experts: [1, 3],
            weights: [0.3454366, 0.5224848]),
    ]

    private func choose(_ scores: [Float], jitter: Float) -> ExpertChoice {
        scores.withUnsafeBufferPointer { SparseMixer(jitter: jitter).choose($0) }
    }

    @Test(arguments: cases) func choicesAreThoseOfTheReference(wanted: Case) {
        let choice = choose(wanted.scores, jitter: wanted.jitter)
        #expect([choice.first, choice.second] == wanted.experts)
        for (weight, other) in zip([choice.firstWeight, choice.secondWeight], wanted.weights) {
            #expect(abs(weight - other) < 1e-6)
        }
    }

    /// Whatever is not finite in the scores is so in the weights, and chooses experts that are there.
    @Test(arguments: [Float.nan, .infinity, -.infinity]) func whatIsNotFiniteShows(value: Float) {
        for place in 0..<3 {
            var scores: [Float] = [1, 2, 3]
            scores[place] = value
            let choice = choose(scores, jitter: 0.01)
            #expect(choice.firstWeight.isNaN && choice.secondWeight.isNaN)
            #expect(choice.first == 0 && choice.second == 1)
        }
    }

    @Test func largeScoresStayInRange() {
        let choice = choose([.greatestFiniteMagnitude, -.greatestFiniteMagnitude, 1], jitter: 1)
        #expect(choice.first == 0 && choice.second == 2)
        #expect(choice.firstWeight == 1 && choice.secondWeight == 1)
    }
}
