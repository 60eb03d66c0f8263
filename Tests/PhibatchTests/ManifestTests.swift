import Foundation
import PhiModel
import Testing

@testable import BatchPipeline
@testable import Jobs

/// What an output came from, written down and compared, through the real program.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
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
        #expect(
            try FinishedOutput(job.folder + "/out.jsonl")?.header.fingerprint.digest == manifest["run"]
                as? String)
    }

    @Test func verifyReadsIt() throws {
        let job = try job()
        let early = try command("verify", job, ["--manifest"])
        #expect(early.status == 65 && early.errors.contains("run the job first"), "\(early.errors)")
        #expect(try job.run().status == 0)
        let written = try command("verify", job, ["--manifest"])
        #expect(written.status == 0 && written.output == "out.jsonl.manifest.json\n", "\(written.errors)")
        let right = try command("verify", job, ["--sample", "1", "-q"])
        #expect(right.status == 0 && right.output.contains("as the manifest says"), "\(right.errors)")
        // A line at the input's end leaves each result as it was.
        let input = try text(job, "in.jsonl")
        try (input + #"{"id": "c", "prompt": "Say c."}"# + "\n").write(
            toFile: job.folder + "/in.jsonl", atomically: true, encoding: .utf8)
        let longer = try command("verify", job, ["--sample", "1", "-q"])
        #expect(longer.status == 1 && longer.errors.contains("in.jsonl is not as it was"), "\(longer.errors)")
        let stale = try command("verify", job, ["--manifest"])
        #expect(stale.status == 65 && stale.errors.contains("out of date"), "\(stale.errors)")
        try input.write(toFile: job.folder + "/in.jsonl", atomically: true, encoding: .utf8)
        let other = try command("verify", job, ["--sample", "1", "-q", "--seed", "5"])
        #expect(other.status == 1 && other.errors.contains("job.seed was "), "\(other.errors)")
    }

    @Test func anothersFileIsNoManifest() throws {
        let job = try job(["--provenance"])
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

    /// What a manifest may lie in, one member after the other.
    @Test func eachMemberIsComparedOrNamed() throws {
        let job = try job(["--provenance"])
        #expect(try job.run().status == 0)
        let settings = try job.loadedSettings()
        let check = try OutputCheck(settings, output: settings.output, errors: settings.errors)
        let path = OutputPaths.manifest(of: settings.output)
        let honest = try String(contentsOfFile: path, encoding: .utf8)
        func comparison(_ text: String) throws -> Manifest.Comparison {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let manifest = try #require(try Manifest(ofOutput: settings.output))
            return try manifest.comparison(
                with: settings, check, made: settings.runFingerprint(cache: .standard()))
        }
        let fine = try comparison(honest)
        // What the run took is there on some machines, and never compared.
        #expect(fine.differences.isEmpty && fine.unseen.allSatisfy { $0.text.hasPrefix("energy") }, "\(fine)")
        let measured = try Manifest(settings, cache: .standard(), energy: 12.34567)
        try measured.put(besideOutput: settings.output)
        #expect(measured.json["energy"] == ["joules_per_1000_tokens": .double(12.346)])
        // It stays with the output that it was taken for.
        let again = try Manifest(settings, cache: .standard())
        #expect(again.json.indentedText == measured.json.indentedText)
        #expect(
            try comparison(again.json.indentedText).unseen.map(\.text) == [
                "energy.joules_per_1000_tokens (nothing here to compare it with)"
            ])
        func edited(_ old: Regex<Substring>, _ new: String, after start: String = "") throws -> String {
            let from =
                start.isEmpty ? honest.startIndex : try #require(honest.firstRange(of: start)).upperBound
            let place = try #require(honest[from...].firstRange(of: old), "\(start)")
            return honest.replacingCharacters(in: place, with: new)
        }
        let lies: [(String, String)] = [
            (try edited(/"bytes": \d+/, "\"bytes\": 1", after: "\"output\""), "output.bytes was 1"),
            (
                try edited(/"sha256": "../, "\"sha256\": \"zz", after: "\"output\""),
                "out.jsonl is not as it was"
            ),
            (try edited(/"bytes": \d+/, "\"bytes\": 1", after: "\"input\""), "input[0].bytes was 1"),
            (try edited(/"run": "[^"]*"/, "\"run\": \"1-2-3\""), "run was 1-2-3"),
            (try edited(/"program": "[^"]*"/, "\"program\": \"other 1\""), "program was other 1"),
            (try edited(/"seed": "[^"]*"/, "\"seed\": \"9\""), "made_with.job.seed was 9"),
            (try edited(/"counts": \{[^}]*\}/, "\"count\": 2"), "counts.results is missing"),
            (
                try edited(/"counts":/, "\"some_results_made_with\": [{}], \"counts\":"),
                "some_results_made_with.count is there"
            ),
        ]
        for (text, said) in lies {
            let found = try comparison(text).differences
            #expect(found.contains { $0.text.contains(said) }, "\(said): \(found)")
        }
        for (text, said) in [
            (
                try edited(/"program": "[^"]*"/, "\"program\": \"phibatch 99.0\""),
                "program (it says phibatch 99.0"
            ),
            (try edited(/"counts":/, "\"license\": \"MIT\", \"counts\":"), "license (nothing here"),
            (
                try edited(/"bytes":/, "\"lines\": 5, \"bytes\":", after: "\"output\""),
                "output.lines (nothing"
            ),
        ] {
            let found = try comparison(text)
            #expect(found.differences.isEmpty && found.unseen.contains { $0.text.contains(said) }, "\(found)")
        }
        // A member twice is read by nobody.
        try (try edited(/"counts":/, "\"run\": \"\", \"counts\":")).write(
            toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: UserError.self) { try Manifest(ofOutput: settings.output) }

        try (try edited(/"counts":/, "\"license\": \"MIT\", \"counts\":")).write(
            toFile: path, atomically: true, encoding: .utf8)
        let named = try command("verify", job, ["--sample", "1", "-q"])
        #expect(named.status == 0 && named.output.contains("the manifest's license"), "\(named)")
    }
}
