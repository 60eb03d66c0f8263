import Foundation
import Testing

@testable import PhiModel

/// Reads the real configurations of the shared fixtures.
@Suite(.enabled(if: ModelFixtures.hasAll, "PHIBATCH_SHARED is not set"))
struct CheckpointFixtureTests {
    private func configuration(_ name: String) throws -> Phi3 {
        let shared = try #require(ModelFixtures.shared)
        return try #require(try Architectures.read(folder: shared.path + "/" + name) as? Phi3)
    }

    @Test func phi35Mini() throws {
        let config = try configuration("phi-3.5-mini")
        #expect(
            config.shape.hiddenSize == 3072 && config.shape.layerCount == 32
                && config.shape.attention.keyValueHeadCount == 32)
        #expect(config.shape.attention.headDimension == 96 && config.shape.rope.dimension == 96)
        #expect(config.shape.attention.slidingWindow == nil)  // 262144, beyond the context of 131072
        #expect(config.shape.endOfSequence == [32000, 32001, 32007])
        #expect(config.shape.quantization?.parameters(for: "lm_head") == .init(groupSize: 64, bits: 4))
        let rope = config.shape.rope
        #expect(rope.factors.periods?.count == 48 && rope.longFactors?.periods?[47] == 64.83999633789062)
        // sqrt(1 + ln 32 / ln 4096): ln 32 / ln 4096 is 5/12.
        #expect(abs(rope.factors.magnitude - (17.0 / 12).squareRoot()) < 1e-15)
    }

    @Test func phi4Mini() throws {
        let config = try configuration("phi-4-mini")
        #expect(
            config.shape.attention.headDimension == 128 && config.shape.rope.dimension == 96
                && config.tiedEmbeddings)
        #expect(config.shape.attention.qkvWidth == 5120 && config.shape.attention.queryWidth == 3072)
        #expect(config.shape.endOfSequence == [199999, 200020])
    }

    @Test func phi4() throws {
        let config = try configuration("phi-4")
        #expect(
            config.shape.rope.factors == Rope.Factors() && config.shape.rope.theta == 250000
                && config.shape.quantization == nil)
        #expect(config.shape.endOfSequence == [100265] && config.shape.padding == 100349)
    }

    @Test func smolLM2() throws {
        let shared = try #require(ModelFixtures.shared)
        let config = try Architectures.read(folder: shared.path + "/smollm2")
        #expect(config is Llama && config.shape.layerCount == 30 && config.shape.hiddenSize == 576)
        #expect(config.shape.attention.headDimension == 64 && config.shape.rope.theta == 100_000)
        #expect(config.shape.endOfSequence == [2])
    }
}
