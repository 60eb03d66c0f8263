import Foundation
import Testing

/// A folder with the examples of `jobs`, as in a clone in which nothing is done yet. `phibatch` is a command there, and so
/// are small ones of Slurm, Ray, cron and the like; answers are a few tokens.
struct JobsClone {
    static let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    static let stubs = top.path + "/Tests/Jobs"

    /// The last column of the table in jobs/README.md, by the names in the first one.
    static let commands: [(files: String, command: String)] = {
        let page = (try? String(contentsOf: top.appending(path: "jobs/README.md"), encoding: .utf8)) ?? ""
        return page.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: /\| (`.+?) \| .+ \| `(.+)` \|/).map {
                (String($0.1).replacing("`", with: ""), String($0.2).replacing("\\|", with: "|"))
            }
        }
    }()

    let folder: String

    static func with(_ body: (JobsClone) throws -> Void) throws {
        let clone = try JobsClone()
        defer { try? FileManager.default.removeItem(atPath: clone.folder) }
        try body(clone)
    }

    private init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        let files = FileManager.default
        for name in ["models", "samples", "bin"] {
            try files.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
        try files.copyItem(atPath: Self.top.path + "/jobs", toPath: folder + "/jobs")
        for name in try files.contentsOfDirectory(atPath: folder + "/jobs") where name.hasSuffix(".yaml") {
            try edit("jobs/" + name) { $0.replacing(/max_tokens: \d+/, with: "max_tokens: 3") }
        }
        try files.createSymbolicLink(
            atPath: folder + "/models/smollm2-demo", withDestinationPath: try #require(DemoJob.model))
        try files.createSymbolicLink(
            atPath: folder + "/bin/phibatch", withDestinationPath: try #require(Program.path))
        for name in ["reviews", "notices", "personas"] {
            try files.copyItem(
                atPath: Self.top.path + "/samples/\(name).jsonl", toPath: folder + "/samples/\(name).jsonl")
        }
        // Some of each kind that there is: prompts, a chat, one that is broken, one without an id.
        let samples = try DemoJob.samples()
        try (samples.prefix(3) + samples.suffix(3)).map { $0 + "\n" }.joined().write(
            toFile: folder + "/samples/prompts.jsonl", atomically: true, encoding: .utf8)
    }

    func edit(_ name: String, _ change: (String) -> String) throws {
        let path = folder + "/" + name
        try change(String(contentsOfFile: path, encoding: .utf8)).write(
            toFile: path, atomically: true, encoding: .utf8)
    }

    /// A script that stands for the program.
    func replaceProgram(_ script: String) throws {
        let path = folder + "/bin/phibatch"
        try FileManager.default.removeItem(atPath: path)
        try script.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    func shell(_ script: String, _ environment: [String: String] = [:]) throws -> Program.Result {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let surroundings = [
            "PATH": "\(folder)/bin:\(Self.stubs)/bin:\(path)", "PYTHONPATH": Self.stubs + "/python",
            "PYTHONDONTWRITEBYTECODE": "1", "HF_HUB_OFFLINE": "1", "HOME": folder,
        ]
        return try RunningProgram(
            ["-c", script], environment: surroundings.merging(environment) { $1 }, folder: folder,
            program: "/bin/bash"
        ).end()
    }

    /// But for the results' timing.
    func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
            .replacing(/"timing":\{[^{}]*\}/, with: "")
    }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder + "/" + name) }

    /// What a run without shards makes of the demo job.
    func whole() throws -> String {
        let run = try shell("phibatch run -q jobs/demo.yaml --output out/whole.jsonl")
        try #require(run.status == 0, "\(run.errors)")
        return try text("out/whole.jsonl")
    }
}
