import BatchEngine
import TestSupport
import Testing

@testable import PhiModel

/// Models on MLX, where `make mlx` has put it beside the tests.
enum MLXSupport {
    static let isThere = (try? MLXLibrary.load()) != nil
    static let missing: Comment = "MLX is not there; make mlx fetches it, over the network"
}

/// All tests of MLX, one after another: its memory is the whole process's.
@Suite(.tags(.slow), .serialized, .enabled(if: MLXSupport.isThere, MLXSupport.missing)) struct MLXTests {}

/// A sequence on an engine, step by step.
struct MLXSequence {
    let id: RequestID
    let engine: any Engine
    var tokens: [Int32]
    private(set) var length: Int

    /// - Returns: nil if it has to wait.
    init?(_ engine: any Engine, _ number: Int, _ tokens: [Int32], ceiling: Int = 320, cacheable: Int = 0) {
        id = RequestID(number)
        self.engine = engine
        self.tokens = tokens
        guard
            case .ready(let cached, _) = engine.admit(
                id, tokens: tokens, ceiling: ceiling, lookahead: 0, cacheable: cacheable),
            engine.extend(id, to: ceiling) != nil
        else { return nil }
        length = cached
    }

    /// The next `count` tokens, with the log-probabilities of all that may follow the last one if `asks`.
    mutating func input(_ count: Int, asks: Bool, sampling: SamplingRequest? = nil) -> PassInput {
        let all = Array(0..<Int32(engine.limits.vocabularySize))
        let input = PassInput(
            sequence: id, tokens: tokens[length..<length + count], sampling: sampling,
            targets: asks ? all[...] : [], targetCounts: asks ? [all.count] : [])
        length += count
        return input
    }

    /// What may follow all tokens.
    static func logprobs(_ engine: any Engine, _ tokens: [Int32], number: Int = 1000, ceiling: Int = 320)
        throws
        -> [Float]
    {
        var sequence = try #require(MLXSequence(engine, number, tokens, ceiling: ceiling))
        defer { engine.release(sequence.id) }
        return try engine.forward([sequence.input(tokens.count, asks: true)])[0].logprobs
    }
}

func distance(_ a: [Float], _ b: [Float]) -> Float { zip(a, b).map { abs($0 - $1) }.max() ?? .infinity }
