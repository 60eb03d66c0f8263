import Foundation
import Testing

/// `phibatch inspect`, on the embedded model and on small ones.
@Suite(.enabled(if: Program.path != nil, "the phibatch program is not beside the tests"))
struct InspectCommandTests {
    private struct Answer: Decodable {
        struct Memory: Decodable {
            var weights: Int
            var kvBytesPerToken: Int
            var workers: Int
            var length: Int
            var kvCache: Int
            var total: Int
        }
        struct Verified: Decodable {
            var isFine: Bool
            var hasHashes: Bool
            var faults: [String]
        }
        struct Matrix: Decodable {
            var path: String
            var bits: Int?
        }
        var modelType: String?
        var layers: Int?
        var template: String?
        var templateSample: String?
        var endOfSequence: [Int]?
        var formats: String?
        var matrices: [Matrix]?
        var memory: Memory?
        var verified: Verified?
    }

    private func answer(_ result: Program.Result) throws -> Answer {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Answer.self, from: Data(result.output.utf8))
    }

    private func withFolder(_ body: (_ folder: String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try body(folder)
    }

    @Test(.enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
    func demoModel() throws {
        let model = try #require(DemoJob.model)
        let text = try Program.run(["inspect", model])
        #expect(text.status == 0, "\(text.errors)")
        for words in [
            "phi3 (Phi-3", "30 layers of 576", "49152", "<|im_end|>", "Hello", "bits in groups of 32",
            "kernels",
        ] {
            #expect(text.output.contains(words), "\(words) in:\n\(text.output)")
        }
        let json = try Program.run(["inspect", model, "--json", "--workers", "3", "--length", "100"])
        let found = try answer(json)
        #expect(found.modelType == "phi3" && found.layers == 30 && found.matrices?.count == 4 * 30 + 1)
        #expect(found.templateSample?.contains("Hello") == true && found.endOfSequence?.isEmpty == false)
        let memory = try #require(found.memory)
        #expect(memory.workers == 3 && memory.length == 100)
        #expect(
            memory.kvCache == 3 * 128 * memory.kvBytesPerToken
                && memory.total > memory.weights + memory.kvCache)
    }

    @Test func folderOutsideTheCache() throws {
        try withFolder { folder in
            try PlainModel().write(to: folder + "/plain")
            let fine = try Program.run(["inspect", "plain", "--verify"], folder: folder)
            #expect(
                fine.status == 0 && fine.output.contains("no hashes to compare with")
                    && fine.output.contains("token ids only") && fine.output.contains("F32, not quantized"),
                "\(fine.errors)\(fine.output)")
            // NaN at the end, which is in the head.
            let path = folder + "/plain/model.safetensors"
            let file = try FileHandle(forUpdating: URL(filePath: path))
            try file.seek(toOffset: try file.seekToEnd() - 4)
            try file.write(contentsOf: Data([0, 0, 0xC0, 0x7F]))
            try file.close()
            #expect(try Program.run(["inspect", "plain"], folder: folder).status == 0)
            let bad = try Program.run(["inspect", "plain", "--verify"], folder: folder)
            #expect(bad.status == 69 && bad.errors.contains("lm_head.weight") && bad.errors.contains("NaN"))
            let json = try answer(Program.run(["inspect", "plain", "--verify", "--json"], folder: folder))
            #expect(json.verified?.isFine == false && json.verified?.hasHashes == false)
            #expect(json.verified?.faults.count == 1)
        }
    }

    @Test func wrongUsage() throws {
        for options in [["--workers", "0"], ["--length", "0"], ["--length", "x"]] {
            #expect(try Program.run(["inspect", "model"] + options).status == 64)
        }
        let none = try Program.run(["inspect", "nowhere"])
        #expect(none.status == 69 && none.errors.contains("no such"))
    }
}
