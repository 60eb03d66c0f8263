import Foundation
import OperatingSystem
import Testing

@testable import BatchPipeline
@testable import Jobs

/// The names of all files of a run are told apart before it begins.
@Suite struct FileNamesTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func job(_ folder: TestFolder, _ input: [String], _ output: String) -> JobSettings {
        var job = JobSettings()
        job.inputPatterns = input.map(folder.path)
        (job.model, job.output) = ("m", folder.path(output))
        job.findInputs()
        return job
    }

    private func problem(_ jobs: JobSettings..., metrics: String? = nil) -> String? {
        let error = #expect(throws: UserError.self) {
            var names = FileNames()
            if let metrics { try names.add(metrics: metrics) }
            for job in jobs { try names.add(job) }
        }
        return error?.description
    }

    @Test func metricsDontOverwriteFailedLines() throws {
        try folder.write("{}".utf8, to: "in")
        var job = job(folder, ["in"], "out")
        job.errors = folder.path("E")
        #expect(problem(job, metrics: folder.path("E"))?.contains("the metrics file") == true)
        for name in ["in", "out", "out.log", "./out"] {
            #expect(problem(job, metrics: folder.path(name)) != nil, "\(name)")
        }
        var names = FileNames()
        try names.add(metrics: folder.path("m"))
        try names.add(job)
        for other in ["out", "out.lock", "in"] {
            job.errors = folder.path(other)
            #expect(problem(job) != nil, "\(other)")
        }
        job.errors = nil
        job.provenance = true
        #expect(problem(job, metrics: folder.path("out.manifest.json")) != nil)
    }

    /// A link that leads to where another job's output will be.
    @Test func linksToFilesThatAreNotThereYet() throws {
        try folder.write("{}".utf8, to: "in")
        let files = FileManager.default
        try files.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "deep/o")
        try files.createSymbolicLink(atPath: folder.path("again"), withDestinationPath: "./link")
        try files.createSymbolicLink(atPath: folder.path("folder"), withDestinationPath: "deep")
        let first = job(folder, ["in"], "deep/o")
        for name in ["link", "again", "folder/o", "deep/../deep/o"] {
            let found = problem(first, job(folder, ["in"], name))
            #expect(
                found?.contains("of another job of this run") == true, "\(name): \(found ?? "")")
        }
        var names = FileNames()
        try names.add(first)
        try names.add(job(folder, ["in"], "p"))
        try names.add(job(folder, ["in"], "deep/other"))
        try files.createSymbolicLink(atPath: folder.path("loop"), withDestinationPath: "loop")
        #expect(throws: UserError.self) { try names.add(job(folder, ["in"], "loop")) }
    }

    @Test func filesBesideAnOutputAreNoOutputs() throws {
        try folder.write("{}".utf8, to: "in")
        for end in ["lock", "log", "phibatch-log", "phibatch-new"] {
            let (one, other) = (job(folder, ["in"], "o"), job(folder, ["in"], "o." + end))
            #expect(problem(one, other) != nil && problem(other, one) != nil, "\(end)")
        }
    }

    @Test func aJobReadsNothingThatAnotherOneWrites() throws {
        try Files.makeFolder(folder.path("data"))
        for name in ["in", "o", "data/in"] { try folder.write("{}".utf8, to: name) }
        let first = job(folder, ["in"], "o")
        #expect(problem(first, job(folder, ["o"], "p"))?.contains("of another job of this run") == true)
        #expect(problem(job(folder, ["o"], "p"), first)?.contains("of another job of this run") == true)
        // A pattern that will find the output of another job, once that is there.
        let pattern = job(folder, ["data/*"], "data/p")
        let other = job(folder, ["in"], "data/o")
        #expect(problem(pattern, other)?.contains("the pattern of the input fits") == true)
        #expect(problem(other, pattern)?.contains("the pattern of the input fits") == true)
        #expect(problem(pattern, metrics: folder.path("data/m")) != nil)
        var names = FileNames()
        try names.add(pattern)
        try names.add(job(folder, ["in", "data/in"], "q"))
    }

    @Test func filesThatSettingsComeFrom() throws {
        try folder.write("{}".utf8, to: "in")
        try folder.write("{{ prompt }}".utf8, to: "prompt")
        try folder.write("{}".utf8, to: "schema")
        let options = WrittenSetting.all([
            "model": ["m"], "input": [folder.path("in")], "prompt_file": [folder.path("prompt")],
            "schema": [folder.path("schema")],
        ])
        for name in ["prompt", "schema"] {
            let error = #expect(throws: UserError.self) {
                try JobSettings.load(
                    file: nil, options: options + WrittenSetting.all(["output": [folder.path(name)]]))
            }
            #expect(error?.message.contains("would overwrite the \(name)") == true, "\(name)")
        }
    }

    @Test func aPatternLeavesOutWhatTheJobWrites() throws {
        for name in ["a.jsonl", "b.jsonl", "out.jsonl2", "out.jsonl.mine"] {
            try folder.write("{}".utf8, to: name)
        }
        let inputs = ["a.jsonl", "b.jsonl", "out.jsonl.mine", "out.jsonl2"].map(folder.path)
        #expect(job(folder, ["*"], "out.jsonl").input == inputs)
        let own = [
            "", ".lock", ".log", ".manifest.json", ".old-1",
            ".old-2.log", ".phibatch-new", ".shard-1-of-2", ".shard-2-of-2.log",
        ]
        for end in own { try folder.write("{}".utf8, to: "out.jsonl" + end) }
        try folder.write("".utf8, to: "failed")
        #expect(link(folder.path("out.jsonl"), folder.path("twin")) == 0)
        var job = job(folder, ["*"], "out.jsonl")
        job.errors = folder.path("failed")
        job.findInputs()
        #expect(job.input == inputs)
        #expect(
            Set(job.inputsLeftOut)
                == Set((own.map { "out.jsonl" + $0 } + ["failed", "twin"]).map(folder.path)))
        try job.checkFiles()
        job.selection = .shard(index: 0, count: 2)
        job.chooseShardOutput()
        job.findInputs()
        #expect(job.input == inputs)
        // By a name, it is refused.
        #expect(problem(self.job(folder, ["a.jsonl", "out.jsonl"], "out.jsonl")) != nil)
        // Nothing else is left.
        let alone = try TestFolder()
        try alone.write("{}".utf8, to: "o")
        let error = #expect(throws: UserError.self) {
            try JobSettings.load(
                file: nil,
                options: WrittenSetting.all([
                    "model": ["m"], "input": [alone.path("*")], "output": [alone.path("o")],
                ]))
        }
        #expect(error?.message.contains("only files that the job itself writes") == true)
    }
}
