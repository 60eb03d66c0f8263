import Foundation
import Testing

@testable import PhiModel

/// Reads the real configurations of the shared fixtures.
@Suite(.enabled(if: CheckpointFixtures.folder != nil, "PHIBATCH_SHARED is not set"))
struct CheckpointFixtureTests {
    private func configuration(_ name: String) throws -> ModelConfiguration {
        let shared = try #require(CheckpointFixtures.folder)
        return try ModelConfiguration(folder: "\(shared)/fixtures/\(name)")
    }

    @Test func phi35Mini() throws {
        let config = try configuration("phi-3.5-mini")
        #expect(config.hiddenSize == 3072 && config.layerCount == 32 && config.keyValueHeadCount == 32)
        #expect(config.headDimension == 96 && config.rotaryDimension == 96)
        #expect(config.slidingWindow == nil)  // 262144, beyond the context of 131072
        #expect(config.endOfSequence == [32000, 32001, 32007])
        #expect(config.quantization?.parameters(for: "lm_head") == .init(groupSize: 64, bits: 4))
        guard case .longrope(let rope) = config.ropeScaling else {
            Issue.record("longrope is missing")
            return
        }
        #expect(rope.shortFactors.count == 48 && rope.longFactors[47] == 64.83999633789062)
        // sqrt(1 + ln 32 / ln 4096): ln 32 / ln 4096 is 5/12.
        #expect(abs(rope.attentionFactor - (17.0 / 12).squareRoot()) < 1e-15)
    }

    @Test func phi4Mini() throws {
        let config = try configuration("phi-4-mini")
        #expect(config.headDimension == 128 && config.rotaryDimension == 96 && config.tiedEmbeddings)
        #expect(config.qkvRows == 5120 && config.attentionWidth == 3072)
        #expect(config.endOfSequence == [199999, 200020])
    }

    @Test func phi4() throws {
        let config = try configuration("phi-4")
        #expect(config.ropeScaling == .none && config.ropeTheta == 250000 && config.quantization == nil)
        #expect(config.endOfSequence == [100265] && config.padding == 100349)
    }

    @Test func aLlamaIsRefused() throws {
        let error = #expect(throws: ModelError.self) { try configuration("smollm2") }
        #expect(error?.kind == .unsupported)
        #expect(error?.message.contains("\"llama\"; \"phi3\" is supported") == true)
    }
}

enum CheckpointFixtures {
    static let folder = ProcessInfo.processInfo.environment["PHIBATCH_SHARED"]
}
