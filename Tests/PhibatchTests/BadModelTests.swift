import Foundation
import Testing

/// Damaged model folders, through the program: one clear message, exit 69, and nothing written.
/// (The unit tests of PhiModel go into the breadth of what can be wrong.)
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct BadModelTests {
    private enum Damage: String, CaseIterable {
        case truncatedWeights, corruptHeader, hugeHeader, missingTensor, wrongShape, offsetBeyondTheEnd
        case unknownModelType, unknownRope, configurationIsNoJSON
        case badTokenizer, truncatedTokenizer, unsupportedTemplate

        /// What the message must contain, besides the file's name.
        var words: (file: String, rest: [String]) {
            switch self {
            case .truncatedWeights: ("model.safetensors", [])
            case .corruptHeader: ("model.safetensors", [])
            case .hugeHeader: ("model.safetensors", ["header"])
            case .missingTensor: ("", ["model.layers.3.mlp.down_proj"])
            case .wrongShape: ("model.safetensors", ["model.layers.0.input_layernorm.weight"])
            case .offsetBeyondTheEnd: ("model.safetensors", ["model.norm.weight"])
            case .unknownModelType: ("config.json", ["model_type", "gemma2"])
            case .unknownRope: ("config.json", ["yarn"])
            case .configurationIsNoJSON: ("config.json", [])
            case .badTokenizer: ("tokenizer.json", ["model.type"])
            case .truncatedTokenizer: ("tokenizer.json", [])
            case .unsupportedTemplate: ("tokenizer_config.json", ["include"])
            }
        }
    }

    /// The demo model's files by link, one of them replaced.
    private func makeFolder(_ folder: String, _ name: String, _ content: Data, size: UInt64? = nil) throws {
        let model = try #require(DemoJob.model)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for file in try FileManager.default.contentsOfDirectory(atPath: model) where file != name {
            try DemoJob.link("\(model)/\(file)", at: "\(folder)/\(file)")
        }
        let path = "\(folder)/\(name)"
        try content.write(to: URL(filePath: path))
        guard let size else { return }
        // A hole instead of weights: none of these gets so far as to read them.
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: size)
        try file.close()
    }

    private func original(_ name: String, _ count: Int = .max) throws -> Data {
        let file = try FileHandle(forReadingFrom: URL(filePath: "\(try #require(DemoJob.model))/\(name)"))
        defer { try? file.close() }
        return try file.read(upToCount: count) ?? Data()
    }

    private func edited(_ name: String, _ old: String, _ new: String) throws -> Data {
        let text = String(decoding: try original(name), as: UTF8.self)
        let isThere = text.contains(old)
        #expect(isThere, "\(old) in \(name)")
        return Data(text.replacing(old, with: new, maxReplacements: 1).utf8)
    }

    private func weightsFile(_ edit: (inout String) -> Void) throws -> (Data, UInt64) {
        let size = try original("model.safetensors", 8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let whole = try FileManager.default.attributesOfItem(
            atPath: "\(try #require(DemoJob.model))/model.safetensors")[.size]
        var header = String(
            decoding: try original("model.safetensors", 8 + Int(size)).dropFirst(8), as: UTF8.self)
        let before = header
        edit(&header)
        let isEdited = header != before
        #expect(isEdited)
        let prefix = withUnsafeBytes(of: UInt64(header.utf8.count).littleEndian) { Data($0) }
        let total = (whole as? NSNumber)?.uint64Value ?? 0
        return (prefix + Data(header.utf8), total + UInt64(header.utf8.count) - size)
    }

    private func make(_ damage: Damage, _ folder: String) throws {
        let weights = "model.safetensors"
        func put(_ edit: (inout String) -> Void) throws {
            let (data, size) = try weightsFile(edit)
            try makeFolder(folder, weights, data, size: size)
        }
        switch damage {
        case .truncatedWeights: try makeFolder(folder, weights, original(weights, 1 << 20))
        case .corruptHeader:
            try put { $0.replace("\"dtype\"", with: "\"dtype\":\"\u{1}", maxReplacements: 3) }
        case .hugeHeader:
            try makeFolder(folder, weights, Data([0, 0, 0, 0, 0, 0, 0, 16]) + original(weights, 4096))
        case .missingTensor:
            try put {
                $0.replace(
                    "\"model.layers.3.mlp.down_proj.weight\"", with: "\"model.layers.3.mlp.gone.weight\"")
            }
        case .wrongShape:
            try put { $0.replace("\"shape\": [576]", with: "\"shape\": [288, 2]", maxReplacements: 1) }
        case .offsetBeyondTheEnd:
            try put { header in
                guard let name = header.firstRange(of: "\"model.norm.weight\""),
                    let offsets = header[name.upperBound...].firstMatch(of: /\[[0-9]+, [0-9]+\]\s*\}/)
                else { return }
                header.replaceSubrange(
                    offsets.range, with: "[1152921504606846976,1152921504606849280]}")
            }
        case .unknownModelType:
            try makeFolder(folder, "config.json", edited("config.json", "\"phi3\"", "\"gemma2\""))
        case .unknownRope:
            try makeFolder(
                folder, "config.json",
                edited(
                    "config.json", "\"rope_scaling\": null",
                    "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4}"))
        case .configurationIsNoJSON: try makeFolder(folder, "config.json", Data("model_type: phi3\n".utf8))
        case .badTokenizer:
            try makeFolder(
                folder, "tokenizer.json",
                edited("tokenizer.json", "\"type\": \"BPE\"", "\"type\": \"Unigram\""))
        case .truncatedTokenizer:
            try makeFolder(folder, "tokenizer.json", original("tokenizer.json", 100_000))
        case .unsupportedTemplate:
            try makeFolder(
                folder, "tokenizer_config.json",
                edited(
                    "tokenizer_config.json", "\"chat_template\": \"", "\"chat_template\": \"{% include 'x' %}"
                ))
        }
    }

    @Test(arguments: Damage.allCases.map(\.rawValue)) func isRefused(damage: String) throws {
        let damage = try #require(Damage(rawValue: damage))
        var job = try DemoJob(["{\"prompt\":\"hi\"}"], ["--max-tokens", "2"])
        defer { job.remove() }
        job.model = job.folder + "/model"
        try make(damage, job.model)
        let before = try job.files
        let result = try job.run()
        #expect(result.status == 69, "\(result.errors)")
        let lines = result.errors.split(separator: "\n").filter { !$0.contains("loading the model") }
        #expect(lines.count == 1, "one message: \(result.errors)")
        for word in damage.words.rest + [damage.words.file] where !word.isEmpty {
            #expect(result.errors.contains(word), "\(word) in: \(result.errors)")
        }
        #expect(result.output.isEmpty)
        #expect(try job.files == before, "nothing is written")
    }

    @Test func garbageIsNotConverted() throws {
        let job = try DemoJob(Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7919 >> 3) }), [])
        defer { job.remove() }
        try Data("GGUF".utf8 + [3, 0, 0, 0] + [UInt8](repeating: 255, count: 64))
            .write(to: URL(filePath: job.folder + "/cut.gguf"))
        let before = try job.files
        for (file, word) in [("in.jsonl", "GGUF"), ("cut.gguf", "cut.gguf"), ("none.gguf", "none.gguf")] {
            let result = try RunningProgram(["convert", file, "model"], folder: job.folder).end()
            #expect(result.status == 69, "\(result.errors)")
            #expect(result.errors.contains(word) && result.errors.split(separator: "\n").count == 1)
            #expect(try job.files == before, "nothing is written")
        }
    }
}
