import Foundation
import Testing

/// A model that is damaged and mended again, through the program: nothing made with the damaged one stays.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct DamagedModelTests {
    /// Where a tensor's bytes begin in a safetensors file.
    private func start(of tensor: String, in path: String) throws -> UInt64 {
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? file.close() }
        let length = try #require(try file.read(upToCount: 8)).reversed().reduce(UInt64(0)) {
            $0 << 8 | UInt64($1)
        }
        let bytes = try #require(try file.read(upToCount: Int(length)))
        let header = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        let entry = try #require(header[tensor] as? [String: Any])
        let offsets = try #require(entry["data_offsets"] as? [NSNumber])
        return 8 + length + offsets[0].uint64Value
    }

    /// Two bytes in place, as they are in the file.
    private func exchange(_ bytes: Data, at offset: UInt64, in path: String) throws -> Data {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        defer { try? file.close() }
        try file.seek(toOffset: offset)
        let old = try #require(try file.read(upToCount: bytes.count))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: bytes)
        return old
    }

    private func job() throws -> DemoJob {
        var job = try DemoJob(["{\"id\":\"a\",\"prompt\":\"Count up from 1.\"}"], ["--max-tokens", "8"])
        let model = job.folder + "/model"
        try FileManager.default.copyItem(atPath: job.model, toPath: model)
        job.model = model
        return job
    }

    private static let scales = "model.layers.3.mlp.down_proj.scales"

    @Test(arguments: ["cache", "off"]) func aNonFiniteScaleIsRefusedByName(cache: String) throws {
        let job = try job()
        defer { job.remove() }
        let environment = ["PHIBATCH_CACHE": cache == "off" ? "off" : job.folder + "/cache"]
        #expect(try job.run(environment: environment).status == 0)
        let expected = try #require(job.results)

        let file = job.model + "/model.safetensors"
        let offset = try start(of: Self.scales, in: file)
        let old = try exchange(Data([0x00, 0x7e]), at: offset, in: file)
        // The finished output is of another model now; a new one is not begun.
        let refused = try job.run(environment: environment)
        #expect(
            refused.status == 65 && refused.errors.contains("  model.model.safetensors: "),
            "\(refused.errors)")
        let other = ["--model", job.model, "--input", "in.jsonl", "--output", "other.jsonl"]
        let damaged = try RunningProgram(
            ["run"] + other + job.settings, environment: environment, folder: job.folder
        ).end()
        #expect(damaged.status == 69, "\(damaged.errors)")
        #expect(
            damaged.errors.contains("tensor \"\(Self.scales)\" is NaN in row 0, column 0"),
            "\(damaged.errors)")
        #expect(!FileManager.default.fileExists(atPath: job.folder + "/other.jsonl"))

        _ = try exchange(old, at: offset, in: file)
        let mended = try job.run(environment: environment)
        #expect(mended.status == 0 && mended.errors.contains("nothing to do"), "\(mended.errors)")
        #expect(try job.run(["--restart"], environment: environment).status == 0)
        #expect(job.results == expected)
    }

    /// A weight that is finite, but drives numbers out of range, is found in the logits: no text comes of it.
    @Test func logitsThatAreNotFiniteAreAnErrorOfTheLine() throws {
        let job = try job()
        defer { job.remove() }
        let file = job.model + "/model.safetensors"
        let offset = try start(of: "model.layers.3.input_layernorm.weight", in: file)
        // 3.4e38, in each of the tensor's first places.
        let huge = Data((0..<64).flatMap { _ in [0xff, 0xff, 0x7f, 0x7f] as [UInt8] })
        let old = try exchange(huge, at: offset, in: file)
        let strict = try job.run()
        #expect(strict.status == 3 && strict.errors.contains("logits_not_finite"), "\(strict.errors)")
        #expect(job.results == nil)
        for other in [["--temperature", "0.8"], ["--logprobs", "2"], ["--kv", "f16"]] {
            let result = try job.run(["--restart", "--max-failures", "1"] + other)
            #expect(result.status == 0, "\(result.errors)")
            #expect(job.results?.first?.contains("\"code\":\"logits_not_finite\"") == true)
        }
        _ = try exchange(old, at: offset, in: file)
        #expect(try job.run(["--restart"]).status == 0)
        #expect(job.results?.first?.contains("\"text\":") == true)
    }

    @Test func aStaleIndexIsReported() throws {
        let job = try job()
        defer { job.remove() }
        try Data(#"{"weight_map":{"x":"model-00001-of-00009.safetensors"}}"#.utf8)
            .write(to: URL(filePath: job.model + "/model.safetensors.index.json"))
        let result = try job.run()
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.errors.contains("model.safetensors.index.json does not fit the weight files"),
            "\(result.errors)")
    }
}
