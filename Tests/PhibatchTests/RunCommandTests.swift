import BatchPipeline
import Foundation
import Testing

@Suite(.enabled(if: Program.path != nil, "the phibatch program is not beside the tests"))
struct RunCommandTests {
    private let scratch: ScratchFolder
    private var folder: String { scratch.path }

    init() throws {
        scratch = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder + "/model", withIntermediateDirectories: true)
        try write("{\"prompt\":\"hi\"}\n", to: "in.jsonl")
        try write("model: model\ninput: in.jsonl\noutput: new/out.jsonl\n", to: "job.yaml")
    }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
    }

    private var files: [String] {
        get throws { try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() }
    }

    @Test(arguments: [
        (["job.yaml", "--max-token", "5"], 64, "Did you mean '--max-tokens'?"),
        (["job.yaml", "--max-tokens=0"], 64, "--max-tokens must be"),
        (["job.yaml", "--errors", "x", "--output", "-"], 65, "errors needs two files"),
        (["job.yaml", "--errors", "in.jsonl"], 65, "would overwrite the input"),
        (["job.yaml", "--limit", "2", "--shard", "1/2"], 64, "--limit can't be combined with shard"),
        (["--", "--x"], 66, "--x: there is no such job file."),
        ([], 64, "model is missing"),
        (["in.jsonl"], 64, "Is this the input? phibatch run --model MODEL --input in.jsonl"),
        (["bad.yaml"], 65, "bad.yaml:2: unknown key \"modle\". Did you mean model?"),
        (["job.yaml", "--prompt", "{{ oops"], 65, "prompt template"),
        (["job.yaml", "-i", "none.jsonl"], 66, "none.jsonl: there is no such input file."),
        (["job.yaml", "--input", "model"], 66, "model: is a folder"),
        (["job.yaml", "-o", "model"], 73, "model: is a folder"),
        (["job.yaml", "--output", "in.jsonl/out"], 73, "in.jsonl: is not a folder"),
        (["job.yaml", "--output", "in.jsonl"], 65, "overwrite the input"),
        (["job.yaml", "-m", "none"], 69, "none: there is no such folder, and no such model."),
        (["job.yaml"], 69, "model: is no model folder: it has no config.json."),
    ])
    func badJobsNeverStart(arguments: [String], status: Int32, message: String) throws {
        try write("input: in.jsonl\nmodle: x\n", to: "bad.yaml")
        let before = try files
        let result = try Program.run(["run"] + arguments, folder: folder)
        #expect(result.status == status, "\(result.errors)")
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(result.output.isEmpty)
        #expect(result.errors.split(separator: "\n").count == 1, "one message: \(result.errors)")
        #expect(try files == before, "nothing is written")
    }

    @Test func helpNamesEverySetting() throws {
        let help = try Program.run(["run", "--help-hidden"]).output
        for key in JobKey.all(in: .option) {
            let way = key.form == .flag ? "/--no-\(key.optionName)" : " <\(key.placeholder)>"
            #expect(help.contains(key.option + way), "\(key.name)")
        }
        for command in ["run", "status", "verify", "redo"] {
            let help = try Program.run([command, "-h"]).output
            #expect(help.split(separator: "\n").count <= 60 && help.contains("EXAMPLE"), "\(command)")
            #expect(!help.contains("--top-p") && help.contains("phibatch help"), "\(command)")
        }
        #expect(try Program.run(["--help"]).output.contains("EXIT CODES"))
    }
}
