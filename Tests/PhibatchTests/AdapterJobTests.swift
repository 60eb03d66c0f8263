import Foundation
import Testing

/// A job with an adapter, by the real program: the adapter is part of what its results depend on.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct AdapterJobTests {
    /// PEFT's files for the first layer's o_proj (576 x 576 in the demo model).
    private func writeAdapter(to folder: String, strength: Float) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let (rank, width) = (2, 576)
        let name = "base_model.model.model.layers.0.self_attn.o_proj"
        let values = (0..<2 * rank * width).map { strength * Float($0 * 37 % 101 - 50) / 50 }
        let half = 4 * rank * width
        let header: [String: Any] = [
            "\(name).lora_A.weight": ["dtype": "F32", "shape": [rank, width], "data_offsets": [0, half]],
            "\(name).lora_B.weight": [
                "dtype": "F32", "shape": [width, rank], "data_offsets": [half, 2 * half],
            ],
        ]
        let json = try JSONSerialization.data(withJSONObject: header, options: .sortedKeys)
        try
            (withUnsafeBytes(of: UInt64(json.count).littleEndian) { Data($0) } + json
            + values.withUnsafeBytes { Data($0) })
            .write(to: URL(filePath: folder + "/adapter_model.safetensors"))
        try Data(#"{"peft_type": "LORA", "r": 2, "lora_alpha": 2}"#.utf8)
            .write(to: URL(filePath: folder + "/adapter_config.json"))
    }

    @Test func anAdapterIsPartOfTheFingerprint() throws {
        let job = try DemoJob(
            (0..<3).map { "{\"prompt\": \"What is \($0)?\"}" }, ["--max-tokens", "12", "--quiet"])
        defer { job.remove() }
        #expect(try job.run().status == 0)
        let plain = try #require(job.results)
        try writeAdapter(to: job.folder + "/adapter", strength: 0.3)
        let refused = try job.run(["--adapter", "adapter"])
        #expect(refused.status == 65 && refused.errors.contains("model"), "\(refused.errors)")
        #expect(job.results == plain)
        let adapted = try job.run(["--adapter", "adapter", "--restart"])
        #expect(adapted.status == 0, "\(adapted.errors)")
        let results = try #require(job.results)
        #expect(results != plain)
        #expect(try job.run(["--adapter", "adapter"]).status == 0, "nothing to do")
        // Other bytes, another adapter.
        try writeAdapter(to: job.folder + "/adapter", strength: 0.2)
        #expect(try job.run(["--adapter", "adapter"]).status == 65)
        #expect(job.results == results)
    }

    @Test func aMissingAdapterIsFoundFirst() throws {
        let job = try DemoJob(["{\"prompt\": \"Hi\"}"], ["--adapter", "nowhere"])
        defer { job.remove() }
        let run = try job.run()
        #expect(run.status == 69 && run.errors.contains("no such adapter folder"), "\(run.errors)")
        #expect(try job.files == ["in.jsonl"])
    }
}
