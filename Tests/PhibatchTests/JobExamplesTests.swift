import Foundation
import Testing

/// The examples in `jobs` run as they stand, where what they need is there.
@Suite(.enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct JobExamplesTests {
    private static let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A folder with the examples, in which `phibatch` is a command; answers are a few tokens.
    private func clone() throws -> String {
        let folder = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        let files = FileManager.default
        for name in ["models", "samples", "bin"] {
            try files.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
        try files.copyItem(atPath: Self.top.path + "/jobs", toPath: folder + "/jobs")
        for name in try files.contentsOfDirectory(atPath: folder + "/jobs") where name.hasSuffix(".yaml") {
            let path = folder + "/jobs/" + name
            try String(contentsOfFile: path, encoding: .utf8).replacing(
                /max_tokens: \d+/, with: "max_tokens: 3"
            )
            .write(toFile: path, atomically: true, encoding: .utf8)
        }
        try files.createSymbolicLink(
            atPath: folder + "/models/smollm2-demo", withDestinationPath: try #require(DemoJob.model))
        try files.createSymbolicLink(
            atPath: folder + "/bin/phibatch", withDestinationPath: try #require(Program.path))
        try files.copyItem(
            atPath: Self.top.path + "/samples/reviews.jsonl", toPath: folder + "/samples/reviews.jsonl")
        try DemoJob.samples().prefix(5).map { $0 + "\n" }.joined().write(
            toFile: folder + "/samples/prompts.jsonl", atomically: true, encoding: .utf8)
        return folder
    }

    private func shell(
        _ script: String, in folder: String, _ environment: [String: String] = [:]
    ) throws -> Program.Result {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let surroundings = ["PATH": folder + "/bin:" + path, "HF_HUB_OFFLINE": "1", "HOME": folder]
        return try RunningProgram(
            ["-c", script], environment: surroundings.merging(environment) { $1 }, folder: folder,
            program: "/bin/bash"
        ).end()
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8).replacing(/"timing":\{[^{}]*\}/, with: "")
    }

    @Test func twoStepsWithMake() throws {
        let folder = try clone()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let made = try shell("make -f jobs/pipeline.mk && make -q -f jobs/pipeline.mk", in: folder)
        #expect(made.status == 0, "\(made.output) \(made.errors)")
        let judged = try text(folder + "/out/judged.jsonl").split(separator: "\n")
        #expect(judged.count == 5 && judged.allSatisfy { $0.contains("\"question\":") })
    }

    /// Whatever the model makes of the notices, it is JSON that follows the schema.
    @Test func dataFromText() throws {
        let folder = try clone()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.copyItem(
            atPath: Self.top.path + "/samples/notices.jsonl", toPath: folder + "/samples/notices.jsonl")
        let run = try shell("phibatch run -q jobs/extract.yaml --max-tokens 80", in: folder)
        #expect(run.status == 0, "\(run.errors)")
        let results = try String(contentsOfFile: folder + "/out/notices.jsonl", encoding: .utf8)
        let texts = try results.split(separator: "\n").map { line in
            let result = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(result?["text"] as? String) + "\n"
        }
        try texts.joined().write(toFile: folder + "/texts", atomically: true, encoding: .utf8)
        let judged = try shell("phibatch schema jobs/notice.schema.json --check texts", in: folder)
        #expect(judged.status == 0 && judged.output.contains("8 follow it, 0 do not"), "\(judged.output)")
        let short = try shell("phibatch run -q jobs/extract.yaml --output out/short.jsonl", in: folder)
        #expect(short.status == 3, "three tokens are too few")
        let changed = try shell(
            "sed -i s/60/61/ jobs/notice.schema.json; phibatch status jobs/extract.yaml --max-tokens 80",
            in: folder)
        #expect(changed.output.contains("schema"), "\(changed.output) \(changed.errors)")
    }

    @Test func textsAreSortedIntoClasses() throws {
        let folder = try clone()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let run = try shell("phibatch run jobs/classify.yaml", in: folder)
        #expect(run.status == 0, "\(run.errors)")
        let lines = try text(folder + "/out/classified.jsonl").split(separator: "\n")
        #expect(
            lines.count == 6 && lines.allSatisfy { $0.contains(/"probabilities":\{"positive":[\d.e-]+,"neg/) }
        )
    }

    /// One of the tasks is killed and requeued.
    @Test func anArrayOfSlurm() throws {
        let folder = try clone()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let start = """
            task() { SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 bash jobs/slurm-array.sh; }
            task 1 & first=$!; task 2 & second=$!; wait $first $second
            timeout -s KILL 0.05 env SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 bash jobs/slurm-array.sh
            task 3 && task 4 && phibatch merge out/demo.jsonl --shards 4
            """
        let tasks = try shell(start, in: folder)
        #expect(tasks.status == 0, "\(tasks.errors)")
        let merged = try text(folder + "/out/demo.jsonl")
        let whole = try shell("phibatch run -q jobs/demo.yaml --output out/whole.jsonl", in: folder)
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(try text(folder + "/out/whole.jsonl") == merged)
    }

    @Test func linesOfCronSystemdAndKubernetes() throws {
        let folder = try clone()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/phibatch", withDestinationPath: folder)
        let cron = try text(folder + "/jobs/crontab")
        let command = try #require(cron.firstMatch(of: /\n\*\/10 \* \* \* \* (.+)/)).1
        #expect(try shell(String(command), in: folder).status == 0)
        let service = try text(folder + "/jobs/phibatch.service")
        let start = try #require(service.firstMatch(of: /ExecStart=(.+)/)).1
        #expect(try shell(String(start), in: folder).status == 0)
        let pod = try text(folder + "/jobs/kubernetes.yaml")
        let words = try #require(pod.firstMatch(of: /command: \[(.+)\]/)).1.replacing(",", with: "")
        for index in 0..<4 {
            let run = try shell(
                String(words), in: folder, ["JOB_COMPLETION_INDEX": "\(index)", "JOB_COMPLETIONS": "4"])
            #expect(run.status == 0, "\(run.errors)")
        }
        #expect(FileManager.default.fileExists(atPath: folder + "/out/demo.jsonl.shard-4-of-4"))
    }
}
