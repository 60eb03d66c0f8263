import Foundation
import Testing

/// `engine: mlx` as a person meets it, on a model that is so small that MLX's processor back end is quick.
@Suite(.enabled(if: Program.path != nil, "the phibatch program is not beside the tests"))
struct EngineChoiceTests {
    /// Runs `body` with a job on the small model, by the engine that its first settings name.
    private func withJob(
        _ engine: String, lines: Int = 2, _ settings: [String] = ["--max-tokens", "2"],
        _ body: (inout DemoJob) throws -> Void
    ) throws {
        let texts = (0..<lines).map { line in
            let ids = (0..<40).map { (line * 131 + $0 * 37) % 1990 + 5 }
            return #"{"id": "n\#(line)", "prompt": \#(ids), "temperature": \#(line % 2)}"#
        }
        let common = ["--engine", engine, "--tokens", "--ignore-eos"]
        var job = try DemoJob(texts, common + settings)
        try PlainModel().write(to: job.folder + "/model")
        job.model = "model"
        try body(&job)
    }

    @Test func aProgramWithoutMLXSaysHowToGetIt() throws {
        try withJob("mlx") { job in
            let files = try job.files
            let run = try job.run(environment: ["PHIBATCH_MLX": job.folder + "/nowhere"])
            #expect(run.status == 69, "\(run.errors)")
            #expect(
                run.errors.contains("there is no such file, and PHIBATCH_MLX names it"), "\(run.errors)")
            #expect(try job.files == files)
            job.settings[1] = "auto"
            let automatic = try job.run(environment: ["PHIBATCH_MLX": "/nowhere"])
            #expect(automatic.status == 0, "\(automatic.errors)")
            #expect(automatic.errors.contains("warning: engine: auto takes the CPU"), "\(automatic.errors)")
            #expect(automatic.errors.contains("PHIBATCH_MLX names it"), "\(automatic.errors)")
        }
    }

    private static var hasMLX: Bool {
        guard let program = Program.path else { return false }
        let folder = URL(filePath: program).resolvingSymlinksInPath().deletingLastPathComponent()
        return FileManager.default.fileExists(atPath: folder.path + "/phibatch-mlx")
    }
    private static let missing: Comment = "MLX is not there; make mlx fetches it, over the network"

    /// Those of this machine, beside the CPU's.
    private static let others = hasMLX ? ["exact", "mlx"] : ["exact"]

    @Test(arguments: others) func resultsOfTwoEnginesAreNotMixed(engine: String) throws {
        try withJob(engine) { job in
            let first = try job.run()
            #expect(first.status == 0, "\(first.errors)")
            job.settings[1] = "cpu"
            let other = try job.run()
            let word = engine == "mlx" ? "engine" : "weights"
            #expect(other.status == 65 && other.errors.contains(word), "\(other.errors)")
            job.settings[1] = engine
            #expect(try job.run().errors.contains("nothing to do"))
        }
    }

    @Test(.enabled(if: hasMLX, missing)) func resultsSayWhatComputedThem() throws {
        try withJob("mlx", ["--max-tokens", "2", "--provenance"]) { job in
            let run = try job.run()
            #expect(run.status == 0, "\(run.errors)")
            let lines = try #require(job.results)
            #expect(lines.allSatisfy { $0.contains(#""engine":"mlx "#) }, "\(lines)")
            let manifest = try String(
                contentsOfFile: job.folder + "/out.jsonl.manifest.json", encoding: .utf8)
            for name in ["engine", "mlx", "device"] {
                #expect(manifest.contains("\"\(name)\": \""), "\(name) in \(manifest)")
            }
            let doctor = try Program.run(["doctor"])
            #expect(!doctor.output.contains("mlx        none"), "\(doctor.output)")
        }
    }
}
