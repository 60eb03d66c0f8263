import Foundation
import Testing

/// Damaged model folders, through the program: one clear message, exit 69, and nothing written.
/// (The unit tests of PhiModel go into the breadth of what can be wrong.)
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct BadModelTests {
    private enum Damage: String, CaseIterable {
        case truncatedWeights, unknownModelType, badTokenizer, unsupportedTemplate

        /// What the message must contain, besides the file's name.
        var words: (file: String, rest: [String]) {
            switch self {
            case .truncatedWeights: ("model.safetensors", [])
            case .unknownModelType: ("config.json", ["model_type", "gemma2"])
            case .badTokenizer: ("tokenizer.json", ["model.type"])
            case .unsupportedTemplate: ("tokenizer_config.json", ["include"])
            }
        }
    }

    /// The demo model's files by link, one of them replaced.
    private func makeFolder(_ folder: String, _ name: String, _ content: Data) throws {
        let model = try #require(DemoJob.model)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for file in try FileManager.default.contentsOfDirectory(atPath: model) where file != name {
            try DemoJob.link("\(model)/\(file)", at: "\(folder)/\(file)")
        }
        try content.write(to: URL(filePath: "\(folder)/\(name)"))
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

    private func make(_ damage: Damage, _ folder: String) throws {
        let weights = "model.safetensors"
        switch damage {
        case .truncatedWeights: try makeFolder(folder, weights, original(weights, 1 << 20))
        case .unknownModelType:
            try makeFolder(folder, "config.json", edited("config.json", "\"phi3\"", "\"gemma2\""))
        case .badTokenizer:
            try makeFolder(
                folder, "tokenizer.json",
                edited("tokenizer.json", "\"type\": \"BPE\"", "\"type\": \"Unigram\""))
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
}
