import Foundation
import JSON
import Testing

/// Tests `phibatch inspect` on the embedded model.
@Suite(.enabled(if: Program.path != nil, "the phibatch program is not beside the tests"))
struct InspectCommandTests {
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
        let found = try JSONValue(parsing: Array(json.output.utf8), limits: .file)
        #expect(found["model_type"] == "phi3" && found["layers"] == 30)
        guard case .array(let matrices)? = found["matrices"],
            case .array(let ends)? = found["end_of_sequence"]
        else { return #expect(Bool(false), "\(json.output)") }
        #expect(matrices.count == 4 * 30 + 1 && !ends.isEmpty)
        #expect(found.string("template_sample")?.contains("Hello") == true)
        let memory = try #require(found["memory"])
        #expect(memory.int("workers") == 3 && memory.int("length") == 100)
        let cache = try #require(memory.int("kv_cache"))
        #expect(cache == 3 * 128 * (memory.int("kv_bytes_per_token") ?? 0))
        #expect(memory.int("total") ?? 0 > cache + (memory.int("weights") ?? .max / 2))
    }
}
