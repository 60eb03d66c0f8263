import Foundation
import Testing

/// What an output came from, written down and compared, through the real program.
@Suite(.enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct ManifestTests {
    private static let lines = ["a", "b"].map { #"{"id": "\#($0)", "prompt": "Say \#($0)."}"# }

    private func job(_ more: [String] = []) throws -> DemoJob {
        try DemoJob(Self.lines, ["--max-tokens", "3"] + more)
    }

    private func command(_ name: String, _ job: DemoJob, _ more: [String] = []) throws -> Program.Result {
        try Program.run([name] + job.arguments(more), folder: job.folder)
    }

    private func text(_ job: DemoJob, _ name: String) throws -> String {
        try String(contentsOfFile: job.folder + "/" + name, encoding: .utf8)
    }

    @Test func itSaysWhatTheOutputCameFrom() throws {
        let job = try job(["--provenance"])
        defer { job.remove() }
        #expect(try job.run().status == 0)
        let data = Data(try text(job, "out.jsonl.manifest.json").utf8)
        let manifest = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        func sum(_ file: String) throws -> String {
            let sum = try RunningProgram([file], folder: job.folder, program: "/usr/bin/sha256sum").end()
            return String(sum.output.prefix(64))
        }
        func object(_ name: String) -> [String: Any] { manifest[name] as? [String: Any] ?? [:] }
        let input = try #require((manifest["input"] as? [[String: Any]])?.first)
        #expect(input["file"] as? String == "in.jsonl")
        if FileManager.default.isExecutableFile(atPath: "/usr/bin/sha256sum") {
            #expect(try input["sha256"] as? String == sum("in.jsonl"))
            #expect(try object("output")["sha256"] as? String == sum("out.jsonl"))
        }
        let made = object("made_with")
        let weights = (made["model"] as? [String: String])?["model.safetensors"]
        #expect(weights?.contains("sha256 ") == true)
        #expect((made["job"] as? [String: String])?["max_tokens"] == "3")
        #expect(object("counts")["results"] as? Int == 2)
        #expect(try text(job, "out.jsonl").contains(manifest["run"] as? String ?? "?"))
    }

    @Test func verifyReadsIt() throws {
        let job = try job()
        defer { job.remove() }
        let early = try command("manifest", job)
        #expect(early.status == 65 && early.errors.contains("run the job first"), "\(early.errors)")
        #expect(try job.run().status == 0)
        let written = try command("manifest", job)
        #expect(written.status == 0 && written.output == "out.jsonl.manifest.json\n", "\(written.errors)")
        let right = try command("verify", job, ["--sample", "1", "-q"])
        #expect(right.status == 0 && right.output.contains("as the manifest says"), "\(right.errors)")
        // A line at the input's end leaves each result as it was.
        let input = try text(job, "in.jsonl")
        try (input + #"{"id": "c", "prompt": "Say c."}"# + "\n").write(
            toFile: job.folder + "/in.jsonl", atomically: true, encoding: .utf8)
        let longer = try command("verify", job, ["--sample", "1", "-q"])
        #expect(longer.status == 1 && longer.errors.contains("in.jsonl is not as it was"), "\(longer.errors)")
        let stale = try command("manifest", job)
        #expect(stale.status == 65 && stale.errors.contains("out of date"), "\(stale.errors)")
        try input.write(toFile: job.folder + "/in.jsonl", atomically: true, encoding: .utf8)
        let other = try command("verify", job, ["--sample", "1", "-q", "--seed", "5"])
        #expect(other.status == 1 && other.errors.contains("job.seed was "), "\(other.errors)")
    }

    @Test func anothersFileIsNoManifest() throws {
        let job = try job(["--provenance"])
        defer { job.remove() }
        try "mine".write(
            toFile: job.folder + "/out.jsonl.manifest.json", atomically: true, encoding: .utf8)
        let run = try job.run()
        #expect(run.status == 73 && run.errors.contains("is no manifest of phibatch"), "\(run.errors)")
        #expect(try text(job, "out.jsonl.manifest.json") == "mine")
        let stream = try Program.run(
            ["run", "--model", job.model, "--input", "in.jsonl", "--output", "-", "--provenance"],
            folder: job.folder)
        #expect(stream.status == 64 && stream.errors.contains("provenance needs"), "\(stream.errors)")
    }
}
