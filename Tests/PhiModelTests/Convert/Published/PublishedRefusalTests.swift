import Foundation
import JSON
import Testing

@testable import PhiModel

/// What can't be read is refused with one message that names the key or the tensor.
@Suite struct PublishedRefusalTests {
    private func refusal(
        _ name: String, _ change: (inout PublishedExample) -> Void
    ) throws -> UserError {
        let (source, target) = (try ScratchFolder(), try ScratchFolder())
        var example = try #require(try PublishedExample.all().first { $0.name == name })
        change(&example)
        try example.write(to: source)
        let error = try #require(throws: UserError.self) {
            let model = try #require(try PublishedModel(source.path))
            _ = try model.convert(to: target.path, overwrite: false) { _ in }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path).isEmpty)
        return error
    }

    @Test(arguments: [
        ("AWQ, groups of 32", "bits", JSONValue.int(8), "\"quantization_config.bits\" is 8; AWQ with 4 bits"),
        ("AWQ, groups of 32", "version", "gemv", "version \"gemm\" is read"),
        ("GPTQ, 4 bits", "bits", .int(3), "is 3; GPTQ with 2, 4 and 8 bits"),
        ("GPTQ, 4 bits", "checkpoint_format", "marlin", "\"gptq\" and \"gptq_v2\" are read"),
        ("GPTQ, 4 bits", "pack_dtype", "int16", "\"int32\" is read"),
        ("GPTQ, 4 bits", "is_marlin_format", .bool(true), "is_marlin_format"),
        ("compressed-tensors, W4A16", "format", "float-quantized", "is \"float-quantized\""),
        ("compressed-tensors, W4A16", "kv_cache_scheme", .object(["num_bits": .int(8)]), "kv_cache_scheme"),
        ("compressed-tensors, W4A16", "format", "mxfp4-pack-quantized", "\"phibatch quantize "),
    ])
    func variantsAreNamed(example: String, key: String, value: JSONValue, message: String) throws {
        let error = try refusal(example) { example in
            guard case .object(var members)? = example.config["quantization_config"] else { return }
            members[key] = value
            example.config["quantization_config"] = .object(members)
        }
        #expect(error.description.contains(message), "\(error)")
    }

    @Test(arguments: [
        ("AWQ, groups of 32", ".qzeros", "no tensor \"model.layers.0.mlp.down_proj.qzeros\""),
        ("GPTQ, 4 bits", ".scales", "no tensor \"model.layers.0.mlp.down_proj.scales\""),
        ("compressed-tensors, W4A16", ".weight_shape", "down_proj.weight_shape\""),
        ("AWQ, groups of 32", ".qweight", "no tensor \"....qweight\""),
    ])
    func missingTensorsAreNamed(example: String, end: String, message: String) throws {
        let error = try refusal(example) { $0.tensors[end] = nil }
        #expect(error.description.contains(message), "\(error)")
    }

    @Test(arguments: ["AWQ, groups of 32", "GPTQ, 4 bits", "compressed-tensors, W4A16"])
    func tensorsThatDoNotFitAreNamed(name: String) throws {
        for end in try #require(PublishedExample.all().first { $0.name == name }).tensors.keys {
            let error = try refusal(name) { example in
                guard var tensor = example.tensors[end], let last = tensor.shape.last else { return }
                let size = tensor.data.count / last
                tensor.shape[tensor.shape.count - 1] = last + 1
                tensor.data += Data(count: size)
                example.tensors[end] = tensor
            }
            #expect(error.kind == .malformed || error.kind == .unsupported)
            #expect(error.description.contains(PublishedExample.layer), "\(end): \(error)")
        }
    }

    @Test func whatIsNotKnownBesideALayerIsNamed() throws {
        let error = try refusal("compressed-tensors, W8A16, by rows") { example in
            example.tensors[".input_scale"] = .init(
                name: "", type: "F32", shape: [1], data: Data([0, 0, 0x80, 0x3F]))
        }
        #expect(error.description.contains("down_proj.input_scale\" has no place"), "\(error)")
    }

    @Test func ordersOutOfRangeAreRefused() throws {
        let error = try refusal("GPTQ, 4 bits, columns in another order") { example in
            example.tensors[".g_idx"]?.data[0] = 4
        }
        #expect(error.description.contains("groups that are not from 0 to 3"), "\(error)")
    }

    @Test func scalesThatAreNoNumbersAreRefused() throws {
        let infinite = try refusal("GPTQ, 4 bits") { example in
            example.tensors[".scales"]?.data.replaceSubrange(2..<4, with: [0, 0x7C])
        }
        #expect(infinite.description.contains("is infinite"), "\(infinite)")
    }
}
