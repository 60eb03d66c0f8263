import BatchEngine
import Testing

@testable import PhiModel

extension MLXTests {
    /// What MLX itself says of its memory.
    @Suite struct Memory {
        private static let model = SyntheticCheckpoint(
            name: "mlx-memory", layers: 4, kvHeads: 4, floats: .f32)

        /// The cache comes to its budget, little stays beside it while it grows, and a step copies nothing of it but what
        /// its rows read.
        @Test func theCacheStaysWithinItsBudget() throws {
            try Self.model.written { folder in
                let budget = 16 << 20
                let engine = try MLXEngine(folder: folder.path, options: EngineOptions(kvBudget: budget))
                let mlx = try MLXLibrary.load()
                mlx.resetPeakMemory()
                let before = mlx.memory.active
                let tokens = Array(Batch.tokens.prefix(250))
                // Each takes 5 of 64 blocks.
                let sequences = try (0..<12).map { _ in
                    try #require(MLXSequence(engine, tokens, ceiling: 320))
                }
                for count in [64, 64, 64, 58] {
                    for place in sequences.indices {
                        _ = try engine.forward([sequences[place].input(count, asks: false)])
                    }
                }
                let held = mlx.memory.active - before
                #expect(held > budget * 3 / 4 && held <= budget + (1 << 20), "\(held)")
                // One of its eight arrays is there twice while it grows, and the new end of it.
                let peak = mlx.memory.peak - before
                #expect(peak <= budget + budget / 4 + (2 << 20), "\(peak)")

                mlx.resetPeakMemory()
                let active = mlx.memory.active
                _ = try engine.forward([PassInput(sequences[0].cache, [5])])
                let step = mlx.memory.peak - active
                #expect(step < 2 << 20, "\(step) more for one row that reads 251 positions")
                for sequence in sequences { engine.release(sequence.cache) }
            }
        }
    }
}
