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
    let cache: SequenceCache
    let engine: any Engine
    var tokens: [Int32]
    var length: Int { cache.length }

    /// - Returns: nil if it has to wait.
    init?(_ engine: any Engine, _ tokens: [Int32], ceiling: Int = 320, cacheable: Int = 0) {
        cache = SequenceCache(ceiling: ceiling)
        self.engine = engine
        self.tokens = tokens
        guard
            case .ready = engine.admit(
                cache, tokens: tokens, lookahead: 0, cacheable: cacheable, beside: []),
            engine.extend(cache, to: ceiling)
        else { return nil }
    }

    /// The next `count` tokens, with the log-probabilities of all that may follow the last one if `asks`.
    func input(_ count: Int, asks: Bool, sampling: SamplingRequest? = nil) -> PassInput {
        let all = Array(0..<Int32(engine.limits.vocabularySize))
        return PassInput(
            cache, tokens[length..<length + count], sampling: sampling,
            targets: asks ? all[...] : [], targetCounts: asks ? [all.count] : [])
    }

    /// What may follow all tokens.
    static func logprobs(_ engine: any Engine, _ tokens: [Int32], ceiling: Int = 320) throws -> [Float] {
        let sequence = try #require(MLXSequence(engine, tokens, ceiling: ceiling))
        defer { engine.release(sequence.cache) }
        return try engine.forward([sequence.input(tokens.count, asks: true)])[0].logprobs
    }
}

func distance(_ a: [Float], _ b: [Float]) -> Float { zip(a, b).map { abs($0 - $1) }.max() ?? .infinity }
