import JSON
import OperatingSystem

/// A model folder whose layers are not quantized, looked at but not read.
struct QuantizeSource {
    let folder: String
    let config: JSONObject
    /// generation_config.json, if it is there.
    let generation: JSONObject?
    let architecture: any Architecture
    let store: TensorStore
    /// Paths of the layers that the adapter changes.
    let adapted: Set<String>
    /// Its matrices as floats, and their way from tokens to logits.
    let plan: WeightPlan
    let network: LayeredNetwork<RowOps>
    /// The model's matrices, by the path that they have in MLX's format, in which some are stacked.
    let matrices: [String: [TensorView]]
    /// The names in `plan` of matrices that are stacked, by the path of the stack.
    let stacks: [String: [String]]
    /// All tensors that the model has in MLX's format, in its order.
    let names: [String]
    /// The type that all floats become, where config.json says one (`torch_dtype`), as in mlx-lm.
    let floats: TensorType?

    /// - Parameter adapter: the folder of an adapter to merge into the weights.
    /// - Throws: `UserError` naming file, key or tensor.
    init(folder: String, adapter: String? = nil, pool: ComputePool? = nil) throws {
        self.folder = folder
        let path = Paths.join(folder, "config.json")
        try Self.refuseOtherFormats(folder)
        config = try JSONFile.object(path)
        for key in ["quantization", "quantization_config"] where config[key] ?? .null != .null {
            throw UserError(
                .unsupported, at: path,
                "\"\(key)\": this model is quantized already. Take the original, in BF16, F16 or F32.")
        }
        let generationPath = Paths.join(folder, "generation_config.json")
        generation =
            Files.kind(of: generationPath) == nil
            ? nil : try JSONFile.object(generationPath)
        architecture = try Architectures.read(folder: folder)
        let type = Swift.type(of: architecture)
        store = try TensorStore(architecture, in: folder, adapter: adapter)
        for name in store.names where name.hasSuffix(".scales") {
            throw try store.tensor(name).fault(
                .unsupported, "is a quantized layer's. Take the original model, in BF16, F16 or F32.")
        }
        var reader = WeightReader(store, pool: pool)
        // Looks for all tensors and checks their shapes.
        network = try architecture.network(&reader)
        try store.adapter?.checkUse(of: reader.adapted)
        adapted = reader.adapted
        var matrices: [String: [TensorView]] = [:]
        let all = reader.plan.matrices.map { ($0.name, $0.tensors) } + reader.routers.map { ($0, $1) }
        for (name, tensors) in all where tensors.quantization == nil { matrices[name] = [tensors.weight] }
        var names = reader.names
        for (stack, parts) in reader.stacks {
            matrices[stack] = parts.flatMap { matrices.removeValue(forKey: $0) ?? [] }
            names.subtract(parts.map { $0 + ".weight" })
            names.insert(stack + ".weight")
        }
        self.matrices = matrices
        stacks = reader.stacks
        plan = reader.plan
        self.names = Self.sorted(names, type.modules)
        try Self.refuseOthers(than: reader.names, in: store)
        floats =
            switch config["torch_dtype"] {
            case "float16": .f16
            case "bfloat16": .bf16
            case "float32": .f32
            default: nil
            }
    }

    /// The files that are read.
    var files: [String] { store.files.map(\.file.file.path) + [Paths.join(folder, "config.json")] }

    private static func refuseOtherFormats(_ folder: String) throws {
        let names = ((try? Files.names(in: folder)) ?? []).sorted()
        guard !names.contains(where: { $0.hasSuffix(".safetensors") }) else { return }
        let pickles = [".bin", ".pt", ".pth", ".ckpt"]
        if let name = names.first(where: { name in pickles.contains { name.hasSuffix($0) } }) {
            throw UserError(
                .unsupported, at: folder,
                "holds its weights as \(name), which may be a pickle, and a pickle can run code. Safetensors are "
                    + "needed: transformers' save_pretrained writes them.")
        }
        if let name = names.first(where: { $0.hasSuffix(".gguf") }) {
            throw UserError(
                .unsupported, at: folder,
                "holds the GGUF file \(name); \"phibatch convert\" makes a model of it.")
        }
    }

    /// Refuses tensors of a model that are not known, as they would be lost.
    private static func refuseOthers(than names: Set<String>, in store: TensorStore) throws {
        for name in store.names where !names.contains(name) {
            // Made from config.json by every program; some old files have it all the same.
            if name.hasSuffix(".rotary_emb.inv_freq") { continue }
            throw try store.tensor(name).fault(.unsupported, "has no place in a model of this type.")
        }
    }

    /// The embedding, the layers' modules in their order, the norm at the end, the head.
    private static func sorted(_ names: Set<String>, _ modules: [String]) -> [String] {
        func place(_ name: String) -> [Int] {
            let part = name.hasSuffix(".bias") ? 1 : 0
            if name.hasPrefix("model.embed_tokens.") { return [0, 0, 0, part] }
            if name.hasPrefix("lm_head.") { return [3, 0, 0, part] }
            let parts = name.split(at: ".")
            guard parts.count > 3, parts[1] == "layers", let layer = Int(parts[2]) else {
                return [2, 0, 0, part]
            }
            let module = parts[3...].dropLast().joined(separator: ".")
            return [1, layer, modules.firstIndex(of: module) ?? modules.count, part]
        }
        return names.map { (name: $0, place: place($0)) }
            .sorted {
                $0.place == $1.place ? $0.name < $1.name : $0.place.lexicographicallyPrecedes($1.place)
            }
            .map(\.name)
    }
}
