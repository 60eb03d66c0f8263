import Foundation
import Testing

@testable import PhiModel

/// Logits against exact arithmetic: Hugging Face transformers in float32 on the same weights, or where it has no such
/// model, its formulas (Fixtures/reference_phi4flash.py).
///
/// Tolerance. A group's 8-bit step is its largest magnitude / 127; for normal values that is about
/// 2.4 sigma / 127, and a uniform error of one step has the standard deviation step / sqrt(12): 0.55 %
/// of sigma. Each layer quantizes 7 times (the inputs of four products, and queries, keys with values,
/// attention weights), and the head once more. Independent errors add in squares, so the logits'
/// standard error is about 0.0055 * sqrt(7 layers + 1) of their spread. With one
/// prompt the root mean square is a single draw: over these prompts it has been 0.5 to 2.1 of that, 1.15 on
/// average, and moves by 0.3 when nothing but the rounding changes. We allow 2.5, and ten for any single logit.
///
/// Experts are chosen by comparing scores, and where two are close, any rounding may choose the other one, and then the
/// row is another. So the names of Phi-3.5-MoE's checkpoints, which their weights are made from, are such that noise
/// of this size on the reference's own inputs of matmuls changes no choice that the last row depends on.
@Suite struct LogitsTests {
    struct Golden: Decodable {
        struct Prompt: Decodable {
            var ids: [Int32]
            var logits: [Float]
            var greedy: [Int32]
            var gaps: [Float]
        }
        var name: String
        var prompts: [Prompt]
    }

    static let geometries: [SyntheticCheckpoint] = [
        .init(name: "base"),
        .init(name: "bits8-group32-bf16-tied", tied: true, bits: 8, group: 32, floats: .bf16),
        .init(name: "bits2-group128", hidden: 256, intermediate: 512, bits: 2, group: 128),
        .init(name: "bits3", bits: 3),
        .init(name: "bits5-group32-f32", bits: 5, group: 32, floats: .f32),
        .init(name: "bits6-bf16", bits: 6, floats: .bf16),
        .init(name: "phi-3-heads", hidden: 384, layers: 3, kvHeads: 4, intermediate: 512),
        .init(
            name: "phi-4-mini-heads", hidden: 384, heads: 3, kvHeads: 1, tied: true, partialRotary: 0.75,
            rope: .longrope, overrides: ["embed_tokens": (8, 64)]),
        .init(name: "longrope", rope: .longrope, context: 1024, originalContext: 64),
        .init(name: "su", layers: 1, kvHeads: 4, rope: .su, context: 2048, originalContext: 64, bits: 8),
        .init(
            name: "some-plain-bf16",
            overrides: ["o_proj": (0, 0), "lm_head": (0, 0), "embed_tokens": (0, 0)], floats: .bf16),
        .init(
            name: "all-plain-f16",
            overrides: [
                "embed_tokens": (0, 0), "qkv_proj": (0, 0), "o_proj": (0, 0), "gate_up_proj": (0, 0),
                "down_proj": (0, 0), "lm_head": (0, 0),
            ]),
        .init(
            name: "mixed-bits", overrides: ["down_proj": (8, 32), "qkv_proj": (5, 128), "0.o_proj": (2, 32)],
            floats: .f32),
        .init(name: "shards-stale-index", layers: 3, shards: 3, staleIndex: true),
        .init(name: "sliding-window", slidingWindow: 24),
        .init(
            name: "phi-2-heads", model: .phi, hidden: 320, kvHeads: 4, intermediate: 512, partialRotary: 0.4),
        .init(
            name: "phi-2-mixed-bf16", model: .phi, hidden: 160, layers: 3, kvHeads: 1, intermediate: 320,
            partialRotary: 0.4, bits: 8, group: 32,
            overrides: ["k_proj": (4, 32), "v_proj": (0, 0), "fc2": (6, 64)], floats: .bf16),
        .init(name: "phi-moe-25", model: .phimoe, intermediate: 192),
        .init(
            name: "phi-moe-mixed-bf16-1", model: .phimoe, kvHeads: 1, intermediate: 128,
            rope: .longrope,
            context: 1024, originalContext: 64, slidingWindow: 48, bits: 8, group: 32,
            overrides: [
                "k_proj": (4, 32), "block_sparse_moe.gate": (0, 0), "up_proj": (6, 64), "down_proj": (4, 128),
            ], floats: .bf16, experts: .init(count: 5, jitter: 0.1)),
        .init(
            name: "phi-moe-all-plain-f32-1", model: .phimoe, intermediate: 200,
            overrides: [
                "embed_tokens": (0, 0), "q_proj": (0, 0), "k_proj": (0, 0), "v_proj": (0, 0),
                "o_proj": (0, 0),
                "block_sparse_moe.gate": (0, 0), "gate_proj": (0, 0), "up_proj": (0, 0), "down_proj": (0, 0),
                "lm_head": (0, 0),
            ], floats: .f32, experts: .init(count: 12, jitter: 0.2, biases: false)),
        .init(
            name: "llama-rope3-tied", model: .llama, hidden: 192, heads: 6, tied: true, rope: .llama3,
            context: 1024, originalContext: 64),
        .init(
            name: "llama-wide-heads-mixed-bf16", model: .llama, layers: 3, kvHeads: 1, headWidth: 48, bits: 8,
            group: 32, overrides: ["k_proj": (4, 64), "v_proj": (0, 0), "up_proj": (6, 64)], floats: .bf16),
        .init(
            name: "qwen2-windows", model: .qwen2, layers: 3, kvHeads: 1, context: 1024, slidingWindow: 24,
            firstWindowLayer: 1),
        .init(name: "qwen2-tied-bf16", model: .qwen2, tied: true, bits: 8, floats: .bf16),
        .init(name: "qwen3-wide-heads", model: .qwen3, headWidth: 64),
        .init(
            name: "qwen3-plain-f32", model: .qwen3, kvHeads: 4, headWidth: 40, tied: true, bits: 0,
            floats: .f32),
        .init(
            name: "phi-1-heads", model: .phi, hidden: 256, kvHeads: 4, intermediate: 1024, partialRotary: 0.5,
            context: 2048, bits: 0, floats: .f16),
        .init(
            name: "phi-4-reasoning-heads", hidden: 512, kvHeads: 1, intermediate: 1792, theta: 500_000,
            context: 32768, originalContext: 32768),
        .init(
            name: "phi-4-multimodal", model: .phi4mm, hidden: 384, heads: 3, kvHeads: 1, tied: true,
            partialRotary: 0.75, rope: .longrope, context: 1024, originalContext: 64, slidingWindow: 2048,
            bits: 0, floats: .bf16),
        .init(
            name: "phi-3.5-vision", model: .phi3Vision, kvHeads: 4, rope: .su, context: 1024,
            originalContext: 64,
            slidingWindow: 2048),
        .init(name: "phi-3-small", model: .phi3Small, hidden: 256, layers: 3, theta: 1e6, context: 8192),
        .init(
            name: "phi-3-small-long-bf16", model: .phi3Small, hidden: 192, heads: 6, kvHeads: 1, rope: .su,
            theta: 1e6, context: 1024, originalContext: 64, bits: 8, group: 32, floats: .bf16,
            small: .init(stride: 3, isHomogeneous: true, denseEvery: 3)),
        .init(
            name: "phi-mini-moe-28", model: .phimoe, hidden: 256, heads: 2, kvHeads: 1, intermediate: 64,
            context: 4096, slidingWindow: 24, floats: .bf16),
        .init(
            name: "phi-tiny-moe-20", model: .phimoe, hidden: 256, kvHeads: 1, headWidth: 32,
            intermediate: 64, context: 4096, slidingWindow: 24, bits: 0, floats: .f32),
        .init(
            name: "phi-4-flash", model: .phi4flash, layers: 8, tied: true, slidingWindow: 24,
            convolutionLength: 4, overrides: ["dt_proj": (0, 0)]),
        .init(
            name: "phi-4-flash-mixed-bf16", model: .phi4flash, hidden: 192, layers: 12, heads: 6,
            slidingWindow: 80, convolutionLength: 2, scanStates: 5, bits: 8, group: 32,
            overrides: ["x_proj": (8, 64), "dt_proj": (0, 0), "Wqkv": (4, 64)], floats: .bf16),
        .init(
            name: "phi-4-flash-plain-f32", model: .phi4flash, layers: 8, kvHeads: 4, slidingWindow: 24,
            convolutionLength: 4, bits: 0, floats: .f32),
    ]

    static let prompts: [[Int32]] = [
        [1, 5, 9, 200],
        (0..<100).map { Int32(($0 * 37 + 11) % 317 + 3) },
    ]

    static let fixture = TestFolder.fixture("logits.json")

    /// Where to write the checkpoints for make_logits.sh, if it asks for them.
    static let exportFolder = ProcessInfo.processInfo.environment["PHIBATCH_EXPORT_SYNTHETIC"]

    /// No test, but what make_logits.sh runs in place of them.
    private static func exportCheckpoints(to folder: URL) throws {
        for geometry in geometries {
            try geometry.write(to: folder.appendingPathComponent(geometry.name))
        }
        let lines = prompts.map { "\($0)\n" }.joined()
        try Data(lines.utf8).write(to: folder.appendingPathComponent("prompts.jsonl"))
    }

    @Test(arguments: geometries.indices)
    func matchesExactArithmetic(index: Int) throws {
        if let folder = Self.exportFolder {
            if index == 0 { try Self.exportCheckpoints(to: URL(filePath: folder)) }
            return
        }
        let geometry = Self.geometries[index]
        let goldens = try JSONDecoder().decode([Golden].self, from: Data(contentsOf: Self.fixture))
        let golden = try #require(goldens.first { $0.name == geometry.name })
        // Floats that choose experts are rounded nowhere.
        let isFloat = [.phimoe, .phi4flash].contains(geometry.model) && geometry.floats == .f32
        try geometry.written { folder in
            let engine = try PhiEngine(
                folder: folder.path,
                options: EngineOptions(
                    threads: 2, kvBudget: 64 << 20, kvPrecision: isFloat ? .float16 : .int8))
            for prompt in golden.prompts { try check(engine, prompt, geometry) }
            var options = EngineOptions(threads: 2, kvBudget: 64 << 20, kvPrecision: .float32)
            options.expandsWeights = true
            let exact = try PhiEngine(folder: folder.path, options: options)
            for prompt in golden.prompts { try checkFloats(exact, prompt) }
        }
    }

    /// Where nothing is rounded to 8 bits, each choice of experts is the reference's, and so are the numbers.
    private func checkFloats(_ engine: PhiEngine, _ prompt: Golden.Prompt) throws {
        var ids = prompt.ids
        let logits = try engine.logits(ids)
        // Logits have a spread of about 1.
        #expect(zip(logits, prompt.logits).map { abs($0 - $1) }.max() ?? 1 < 1e-4, "\(ids.count) tokens")
        for (token, gap) in zip(prompt.greedy, prompt.gaps) {
            let logits = try engine.logits(ids)
            let best = logits.indices.max { logits[$0] < logits[$1] } ?? 0
            #expect(Int32(best) == token || gap < 2e-4, "after \(ids.count)")
            ids.append(token)
        }
    }

    private func check(_ engine: PhiEngine, _ prompt: Golden.Prompt, _ geometry: SyntheticCheckpoint) throws {
        let logits = try engine.logits(prompt.ids)
        #expect(logits.count == prompt.logits.count)
        let errors = zip(logits, prompt.logits).map { Double($0 - $1) }
        let mean = prompt.logits.reduce(0.0) { $0 + Double($1) } / Double(logits.count)
        let spread = (prompt.logits.reduce(0.0) { $0 + pow(Double($1) - mean, 2) } / Double(logits.count))
            .squareRoot()
        let expected = 0.0055 * Double(7 * geometry.layers + 1).squareRoot() * spread
        let rms = (errors.reduce(0.0) { $0 + $1 * $1 } / Double(errors.count)).squareRoot()
        let worst = errors.map(abs).max() ?? .infinity
        let report: Comment =
            "\(geometry.name): rms \(rms / spread), worst \(worst / spread), allowed \(expected / spread)"
        #expect(rms <= 2.5 * expected, report)
        #expect(worst <= 2 * 5 * expected, report)
        // The rows after a prompt may have choices that are close; floatsAreThoseOfTheReference has them.
        if geometry.model == .phimoe { return }
        var ids = prompt.ids
        for (token, gap) in zip(prompt.greedy, prompt.gaps) {
            let logits = try engine.logits(ids)
            let best = logits.indices.max { logits[$0] < logits[$1] } ?? 0
            // Two logits, each off by up to the single tolerance.
            if Double(gap) > 2 * 2 * 5 * expected {
                #expect(Int32(best) == token, "\(geometry.name) after \(ids.count)")
            }
            ids.append(token)
        }
    }
}
