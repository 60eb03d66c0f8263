import BatchEngine
import FoundationShim
import JSON
import PhiModel

/// Text and JSON of `inspect`.
struct InspectReport {
    let folder: String
    let model: ModelInspection
    let kernels: String
    let threads: Int
    /// Nil: the number that this machine would choose.
    let workers: Int?
    /// Nil: the context, or 4096 if that is less.
    let length: Int?
    /// Nil if it was not asked for.
    let verified: VerifyReport?

    private var shape: ModelShape { model.shape }
    private var requests: Int { workers ?? Scheduler.automaticWorkers(threads: threads) }
    private var tokens: Int { min(length ?? 4096, shape.contextLength) }
    private var cacheBytes: Int { requests * model.cacheBytes(tokens: tokens) }
    private var totalBytes: Int { model.memory.weightBytes + model.memory.workingBytes + cacheBytes }

    private func named(_ id: Int32) -> String {
        guard let text = model.codec?.tokenizer.text(of: id) else { return "\(id)" }
        return "\(id) \(String(reflecting: text))"
    }

    private var ends: [Int32] {
        shape.endOfSequence.union(model.codec?.turnEnds ?? []).sorted()
    }

    var text: String {
        var rows: [(String, String)] = [("model", "\(model.modelType) (\(model.models))")]
        rows.append(("geometry", geometry))
        rows.append(("positions", positions))
        rows.append(("context", "\(shape.contextLength) tokens" + window))
        rows.append(
            ("vocabulary", "\(shape.vocabularySize)" + (model.isTied ? ", the embedding is the head" : "")))
        rows.append(("tokens", specialTokens))
        rows.append(("template", template))
        rows.append(("layers", model.formats))
        rows.append(("parameters", count(model.parameterCount)))
        let files = "\(model.fileCount) file\(model.fileCount == 1 ? "" : "s")"
        let bits = rounded(8 * Double(model.byteCount) / Double(max(1, model.parameterCount)))
        rows.append(("weights", "\(ModelFetch.size(model.byteCount)) in \(files), \(bits) bits a parameter"))
        rows.append(("memory", memory))
        rows.append(("here", here))
        if let verified { rows.append(("verified", verified.text)) }
        return listed(rows, width: 12)
    }

    private var geometry: String {
        let attention = shape.attention
        return "\(shape.layerCount) layers of \(shape.hiddenSize), \(attention.headCount) heads of "
            + "\(attention.headDimension) (\(attention.keyValueHeadCount) of keys and values), feed-forward "
            + "\(shape.intermediateSize)"
    }

    private var positions: String {
        guard shape.rope.dimension > 0 else { return "none" }
        var text =
            "\(shape.rope.dimension) of \(shape.attention.headDimension) dimensions rotate, base \(shape.rope.theta)"
        if let length = shape.rope.shortLength {
            text += ", longrope: other factors beyond \(length) tokens"
        }
        return text
    }

    private var window: String {
        guard let window = shape.layers.lazy.compactMap(\.slidingWindow).first else { return "" }
        let count = shape.layers.count { $0.slidingWindow != nil }
        let layers = count == shape.layers.count ? "" : " in \(count) of the layers"
        return ", each sees the last \(window)\(layers)"
    }

    private var specialTokens: String {
        var parts: [String] = []
        if let id = shape.beginOfSequence { parts.append("begin \(named(id))") }
        parts.append(ends.isEmpty ? "no end" : "end " + ends.map(named).joined(separator: ", "))
        if let id = shape.padding { parts.append("padding \(named(id))") }
        return parts.joined(separator: "; ")
    }

    private var template: String {
        guard model.codec != nil else { return "none, and no tokenizer: it takes token ids only" }
        guard let file = model.templateFile else { return "none: it takes plain text" }
        guard let sample = model.sample else { return "\(file); it refuses a single message of a user" }
        return "\(file), makes \(String(reflecting: sample)) of Hello"
    }

    private var memory: String {
        let need = model.memory
        return
            "\(ModelFetch.size(need.weightBytes)) of weights, \(ModelFetch.size(need.workingBytes)) to work, "
            + "\(model.cacheBytesPerToken) bytes of KV cache a token: \(ModelFetch.size(totalBytes)) for \(requests) "
            + "requests of \(tokens) tokens"
    }

    private var here: String {
        let choice =
            "kernels \(kernels), \(threads) thread\(threads == 1 ? "" : "s"), "
            + "\(Scheduler.automaticWorkers(threads: threads)) workers"
        switch model.budget {
        case .success(let bytes):
            let fitting = bytes / max(1, model.cacheBytes(tokens: tokens))
            return choice
                + ", KV cache \(ModelFetch.size(bytes)): \(fitting) requests of \(tokens) tokens at a time"
        case .failure(let error): return choice + "; it can't run: \(error.message)"
        }
    }

    private func count(_ number: Int) -> String {
        number >= 1_000_000_000
            ? "\(rounded(Double(number) / 1e9)) billion" : "\(rounded(Double(number) / 1e6)) million"
    }
}

extension InspectReport {
    var json: String {
        JSONWriter.object { writer in
            func number(_ name: String, _ value: Int?) { writer.optional(name, value) { $0.int($1) } }
            func string(_ name: String, _ value: String?) { writer.optional(name, value) { $0.string($1) } }
            string("folder", folder.showingBytes)
            string("model_type", model.modelType)
            number("layers", shape.layerCount)
            number("hidden_size", shape.hiddenSize)
            number("intermediate_size", shape.intermediateSize)
            number("heads", shape.attention.headCount)
            number("key_value_heads", shape.attention.keyValueHeadCount)
            number("head_dimension", shape.attention.headDimension)
            number("rotary_dimension", shape.rope.dimension)
            number("context", shape.contextLength)
            number("sliding_window", shape.layers.lazy.compactMap(\.slidingWindow).first)
            number("vocabulary", shape.vocabularySize)
            writer.bool("tied_embedding", model.isTied)
            number("begin_of_sequence", shape.beginOfSequence.map { Int($0) })
            writer.array("end_of_sequence", ends) { $0.int($1) }
            number("padding", shape.padding.map { Int($0) })
            string("template", model.templateFile)
            string("template_sample", model.sample)
            string("formats", model.formats)
            writer.objects("matrices", model.matrices) { writer, matrix in
                writer.string("path", matrix.path)
                writer.optional("bits", matrix.quantization?.bits) { $0.int($1) }
                writer.optional("group_size", matrix.quantization?.groupSize) { $0.int($1) }
                writer.string("floats", matrix.floats.description)
            }
            number("parameters", model.parameterCount)
            number("weight_bytes", model.byteCount)
            number("weight_files", model.fileCount)
            writer.object("memory") { writer in
                writer.int("weights", model.memory.weightBytes)
                writer.int("work", model.memory.workingBytes)
                writer.int("kv_bytes_per_token", model.cacheBytesPerToken)
                writer.int("workers", requests)
                writer.int("length", tokens)
                writer.int("kv_cache", cacheBytes)
                writer.int("total", totalBytes)
            }
            writer.object("here") { writer in
                writer.string("kernels", kernels)
                writer.int("threads", threads)
                writer.int("workers", Scheduler.automaticWorkers(threads: threads))
                switch model.budget {
                case .success(let bytes): writer.int("kv_budget", bytes)
                case .failure(let error): writer.string("error", error.message)
                }
            }
            if let verified {
                writer.key("verified")
                verified.write(to: &writer)
            }
        }.shownText
    }

}
