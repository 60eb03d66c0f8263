import BatchEngine
import BatchPipeline
import Foundation
import TestSupport

@testable import PhiModel

/// A checkpoint's weights. An input that begins with `{` is a header, an index and the tensors' bytes, and
/// gets the header's length put in front; any other is the whole file as it is.
@Sendable func readSafetensors(_ input: [UInt8], _ scratch: ScratchFolder) throws {
    var (file, index) = (input, [UInt8]())
    if input.first == UInt8(ascii: "{") {
        let parts = parts(input, 3)
        file = safetensors(header: parts[0], parts[2])
        index = parts[1]
    }
    try scratch.put(file, "model.safetensors", keepingEmpty: true)
    try scratch.put(index, "model.safetensors.index.json")
    _ = try? ModelFingerprint.parts(folder: scratch.path)
    var store = try TensorStore(folder: scratch.path)
    store.quantization = QuantizationConfiguration(standard: QuantizationParameters(groupSize: 64, bits: 4))
    try promise(store.byteCount <= file.count, "more bytes in tensors than in the file")
    for name in store.names {
        let tensor = try store.tensor(name)
        var sum: UInt8 = 0
        tensor.withBytes { for byte in $0 { sum &+= byte } }
        _ = try? tensor.floats()
        _ = try? store.floats(name, shape: [tensor.shape.first ?? 1])
        for columns in [tensor.shape.last ?? 1, (tensor.shape.last ?? 1) &* 8] {
            _ = try? store.linear(
                name.replacing(".weight", with: ""), rows: tensor.shape.first ?? 1, columns: columns)
        }
    }
}

private func safetensors(header: [UInt8], _ tensors: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: UInt64(header.count).littleEndian) { Array($0) } + header + tensors
}

/// A whole model, loaded and made to answer: config.json, generation_config.json, and the header and the bytes
/// of its tensors. Weights may be no numbers at all.
@Sendable func readModel(_ input: [UInt8], _ scratch: ScratchFolder) throws {
    let files = parts(input, 4)
    try scratch.put(files[0], "config.json")
    try scratch.put(files[1], "generation_config.json")
    try scratch.put(safetensors(header: files[2], files[3]), "model.safetensors")
    let engine = try PhiEngine(
        folder: scratch.path, options: EngineOptions(threads: 1, kvBudget: 4 << 20))
    let vocabulary = Int32(engine.limits.vocabularySize)
    let prompt = [0, vocabulary - 1, 0]
    for parameters in [
        SamplingParameters(logprobs: 3), SamplingParameters(temperature: 1, topP: 0.5),
        SamplingParameters(temperature: 0.7, topK: 2, minP: 0.1),
        SamplingParameters(
            temperature: 0.7, rules: LogitRules(bias: [0: -100], presencePenalty: 2, repetitionPenalty: 0.01)),
    ] {
        guard let cache = try engine.begin(prompt: prompt, maxTokens: 2)
        else { throw BrokenPromise(description: "no room in an empty cache") }
        defer { engine.release(cache) }
        var tokens = prompt[cache.length...]
        var request = SamplingRequest(parameters: parameters, stream: 7, prompt: prompt)
        for _ in 0..<2 {
            let choices = try engine.forward([PassInput(cache, tokens, sampling: request)])
            guard let choice = choices[0].choice else { throw BrokenPromise(description: "no answer") }
            // Of weights that are no numbers, which end a completion.
            if choice.fault == .notFinite { break }
            try promise(
                choice.fault == nil && (0..<vocabulary).contains(choice.token),
                "a token that is none: \(choice)")
            _ = request.accept(choice.token)
            tokens = [choice.token]
        }
    }
}

/// config.json, generation_config.json, tokenizer_config.json and special_tokens_map.json.
@Sendable func readConfiguration(_ input: [UInt8], _ scratch: ScratchFolder) throws {
    let names = [
        "config.json", "generation_config.json", "tokenizer_config.json", "special_tokens_map.json",
    ]
    for (name, file) in zip(names, parts(input, 4)) { try scratch.put(file, name) }
    do {
        let shape = try Architectures.read(folder: scratch.path).shape
        let heads = shape.attention
        try promise(heads.headCount % heads.keyValueHeadCount == 0, "heads without keys")
        try promise(shape.rope.dimension <= heads.headDimension, "more rotated than there is")
        try promise(shape.endOfSequence.allSatisfy { $0 >= 0 }, "a negative token")
    } catch is UserError {}
    let template = try ChatTemplate.load(path: scratch.path)
    _ = try template?.render([ChatMessage(role: "user", content: "hello")], addGenerationPrompt: true)
}

/// A GGUF file, converted. What comes out must be readable.
@Sendable func readGGUF(_ input: [UInt8], _ scratch: ScratchFolder) throws {
    let file = try scratch.put(input, "model.gguf", keepingEmpty: true)
    let folder = scratch.path + "/converted"
    var tokenizer = GGUFConverter.Tokenizer.embedded
    do {
        _ = try convert(file, folder, tokenizer)
    } catch is UserError {
        tokenizer = .none
        _ = try convert(file, folder, tokenizer)
    }
    do {
        _ = try Architectures.read(folder: folder)
        let store = try TensorStore(folder: folder)
        for name in store.names { _ = try? store.tensor(name).floats() }
    } catch let error as UserError {
        throw BrokenPromise(description: "a converted model can't be read: \(error)")
    }
    if tokenizer == .embedded { try use(Tokenizer(path: folder + "/tokenizer.json"), on: hostileText) }
}

private func convert(
    _ file: String, _ folder: String, _ tokenizer: GGUFConverter.Tokenizer
) throws -> ConversionSummary {
    try GGUFConverter.convert(
        file: file, to: folder, tokenizer: tokenizer, overwrite: true)
}
