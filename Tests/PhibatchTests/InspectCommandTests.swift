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

    @Test func wrongUsage() throws {
        for options in [["--workers", "0"], ["--length", "0"], ["--length", "x"]] {
            #expect(try Program.run(["inspect", "model"] + options).status == 64)
        }
        let none = try Program.run(["inspect", "nowhere"])
        #expect(none.status == 69 && none.errors.contains("no such"))
    }
}
