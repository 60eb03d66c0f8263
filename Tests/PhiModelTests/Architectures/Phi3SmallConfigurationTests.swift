import Foundation
import Testing

@testable import PhiModel

struct Phi3SmallConfigurationTests {
    /// The keys of Phi-3-small-8k-instruct.
    private static let base = [
        "model_type": "\"phi3small\"", "blocksparse_block_size": "64",
        "blocksparse_homo_head_pattern": "false",
        "blocksparse_num_local_blocks": "16", "blocksparse_triton_kernel_block_size": "64",
        "blocksparse_vert_stride": "8", "bos_token_id": "100257", "dense_attention_every_n_layers": "2",
        "eos_token_id": "100257", "ff_dim_multiplier": "null", "ff_intermediate_size": "14336",
        "gegelu_limit": "20.0", "gegelu_pad_to_256": "true", "hidden_act": "\"gegelu\"",
        "hidden_size": "4096",
        "layer_norm_epsilon": "1e-05", "max_position_embeddings": "8192", "mup_attn_multiplier": "1.0",
        "mup_embedding_multiplier": "10.0", "mup_use_scaling": "true", "mup_width_multiplier": "8.0",
        "num_attention_heads": "32", "num_hidden_layers": "32", "num_key_value_heads": "8",
        "pad_sequence_to_multiple_of_64": "true", "rope_embedding_base": "1000000",
        "rope_position_scale": "1.0",
        "vocab_size": "100352",
    ]

    /// The base with `changes` (nil takes a key away).
    private func configuration(_ changes: [String: String?] = [:]) throws -> Phi3Small {
        try #require(try architecture(Self.base, changes) as? Phi3Small)
    }

    @Test func thePublishedModelIsRead() throws {
        let model = try configuration()
        #expect(model.intermediateSize == 14336 && model.limit == 20 && model.normEpsilon == 1e-5)
        #expect(model.embeddingMultiplier == 10 && model.widthMultiplier == 8)
        #expect(model.shape.rope == Rope(dimension: 128, theta: 1e6))
        let layers = model.shape.layers
        #expect(layers.allSatisfy { $0.softmaxScale == 1 / 128 && $0.qkvWidth == 6144 })
        // The first is sparse, the second dense, and so on.
        let sparsity = BlockSparsity(localBlocks: 16, stride: 8, headStep: 1)
        #expect(
            layers.enumerated().allSatisfy {
                $0.offset % 2 == 0 ? $0.element.sparsity == sparsity : $0.element.sparsity == nil
            })
    }

    @Test func whatIsSaidOtherwiseCounts() throws {
        let model = try configuration([
            "blocksparse_homo_head_pattern": "true", "dense_attention_every_n_layers": "null",
            "mup_use_scaling": "false", "mup_width_multiplier": "null", "gegelu_limit": "null",
        ])
        let same = BlockSparsity(localBlocks: 16, stride: 8, headStep: 0)
        #expect(model.shape.layers.allSatisfy { $0.sparsity == same })
        #expect(model.shape.layers[0].softmaxScale == 1 / Float(128).squareRoot())
        #expect(model.widthMultiplier == 1 && model.limit == .infinity)
        // Two heads: the pattern of the second one is half a stride off.
        let two = try configuration([
            "num_attention_heads": "2", "num_key_value_heads": "2", "hidden_size": "256",
        ])
        #expect(two.shape.layers[0].sparsity?.headStep == 4)
    }

    @Test(arguments: [
        ("hidden_act", "\"silu\"", "\"hidden_act\" is \"silu\""),
        ("blocksparse_block_size", "32", "\"blocksparse_block_size\" is 32; only 64"),
        ("blocksparse_vert_stride", "0", "\"blocksparse_vert_stride\" is 0"),
        ("rope_position_scale", "2.0", "\"rope_position_scale\" is 2"),
        ("tie_word_embeddings", "false", "\"tie_word_embeddings\" is false"),
        ("ff_intermediate_size", "null", "\"ff_intermediate_size\" is missing"),
        ("num_attention_heads", "512", "makes heads of 8 dimensions"),
    ])
    func whatIsNotSupportedIsNamed(key: String, value: String, message: String) {
        expectRefusal(Self.base, [key: value], message)
    }

    /// By the pattern as Microsoft draws it: of 6 blocks and two heads, with one local block and every third.
    @Test func blocksAreThoseOfThePattern() {
        let sparsity = BlockSparsity(localBlocks: 1, stride: 3, headStep: 1)
        func seen(_ own: Int, _ head: Int) -> [Int] {
            (0...own).filter { sparsity.isSeen($0, from: own, head: head) }
        }
        #expect(seen(5, 0) == [2, 5] && seen(4, 0) == [2, 4] && seen(1, 0) == [1])
        #expect(seen(5, 1) == [1, 4, 5] && seen(0, 1) == [0])
        for own in 0..<40 {
            for head in 0..<5 { #expect(seen(own, head).count <= sparsity.most(from: own)) }
        }
    }

    /// Tokens without text are never chosen.
    @Test func dummyTokensAreOutOfReach() throws {
        try withTemporaryFolder { folder in
            var model = SyntheticCheckpoint(
                name: "dummies", model: .phi3Small, hidden: 32, layers: 1, heads: 2, kvHeads: 1,
                intermediate: 32)
            (model.vocabulary, model.group) = (100_352, 32)
            try model.write(to: folder)
            let options = EngineOptions(threads: 2, kvBudget: 16 << 20)
            let logits = try PhiEngine(folder: folder.path, options: options).logits([5, 100_257])
            let hidden = logits.indices.filter { logits[$0] < -1e29 }
            #expect(hidden.count == 91 && hidden.first == 100_256 && !hidden.contains(100_257))
            #expect(!hidden.contains(100_266) && hidden.last == 100_351)
        }
    }
}
