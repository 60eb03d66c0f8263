import Foundation
import OperatingSystem
import Testing

@testable import BatchPipeline
@testable import Jobs

/// What is looked at before a run begins.
@Suite struct PreflightTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func job(_ input: [String], _ output: String) -> JobSettings {
        var job = JobSettings()
        (job.model, job.input, job.output) = ("m", input, output)
        return job
    }

    @Test(arguments: ["", ".log", ".lock", ".phibatch-new", ".phibatch-log", ".phibatch-first"])
    func anInputWithANameOfOursIsRefused(suffix: String) throws {
        let input = try folder.write("{}", to: "in" + suffix)
        // Under another name of the same file too.
        #expect(link(input, folder.path("hard")) == 0)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("soft"), withDestinationPath: "in" + suffix)
        for name in [
            "in" + suffix, "hard", "soft", "./in" + suffix, "../\(folder.url.lastPathComponent)/soft",
        ] {
            let error = #expect(throws: UserError.self) {
                try job([folder.path(name)], folder.path("in")).checkFiles()
            }
            #expect(error?.kind == .badJob && error?.place == folder.path(name))
            #expect(error?.message.contains("Name another output") == true)
        }
        try job([folder.path("hard")], folder.path("out")).checkFiles()
    }

    /// Issue 59, 5: all fields have columns where the input's files name them; what has results' own names is left out.
    @Test func keepAllGoesIntoCSVWhereColumnsAreKnown() throws {
        let folder = try TestFolder()
        try folder.write("id,topic,prompt_tokens,text\n\n1\n1,x,3,y\n".utf8, to: "a.csv")
        try folder.write("id\textra\n2\tz\n".utf8, to: "b.tsv")
        try folder.write("{\"prompt\":\"a\"}".utf8, to: "in.jsonl")
        func columns(_ names: [String], _ change: (inout JobSettings) throws -> Void = { _ in }) throws
            -> [String]?
        {
            var job = job(names.map(folder.path), folder.path("out.csv"))
            job.keep = .all
            try change(&job)
            job.chooseOutputFormat()
            try job.checkOutputFormat(file: nil)
            let names = job.outputFormat.layout.dropLast().split(separator: ",")
            return names.drop { $0 != "error_message" }.dropFirst().map(String.init)
        }
        #expect(try columns(["a.csv", "b.tsv"]) == ["topic", "extra"])
        #expect(try columns([]) { ($0.rows, $0.pick) = (3, [try Pick("tone", of: ["kind"])]) } == ["tone"])
        for names in [["a.csv", "in.jsonl"], ["in.jsonl"]] {
            let error = #expect(throws: UserError.self) { try columns(names) }
            #expect(error?.message.contains("(--keep NAME)") == true, "\(names)")
        }
        #expect(throws: UserError.self) { try columns(["a.csv"]) { $0.awaitsInput = true } }
    }

    /// Whoever reads a file goes by its name.
    @Test(arguments: ["out.jsonl.xz", "Out.CSV.BZ2", "out.avro", "out.parquet.gz", "out.xlsx"])
    func anOutputIsWhatItsNameSays(name: String) throws {
        try folder.write("{\"prompt\":\"a\"}".utf8, to: "in.jsonl")
        let input = [folder.path("in.jsonl")]
        var shard = job(input, folder.path(name))
        shard.selection = .shard(index: 0, count: 2)
        shard.chooseShardOutput()
        var errors = job(input, folder.path("out.jsonl"))
        errors.errors = folder.path(name)
        for job in [job(input, folder.path(name)), shard, errors] {
            let error = #expect(throws: UserError.self) { try job.checkFiles() }
            #expect(error?.kind == .badJob && error?.message.contains("JSON lines, or") == true)
        }
    }

    @Test func failedLinesHaveTheFormatThatTheirNameSays() throws {
        try folder.write("{\"prompt\":\"a\"}".utf8, to: "in.jsonl")
        func check(_ output: String, _ errors: String, _ change: (inout JobSettings) -> Void = { _ in })
            throws
        {
            var job = job([folder.path("in.jsonl")], folder.path(output))
            job.errors = folder.path(errors)
            change(&job)
            job.chooseOutputFormat()
            try job.checkFiles()
        }
        for (output, errors) in [
            ("o.jsonl", "e.csv"), ("o.csv", "e.jsonl"), ("o.csv", "e.tsv"), ("o", "e.csv"),
        ] {
            let error = #expect(throws: UserError.self) { try check(output, errors) }
            #expect(error?.message.contains("in the output's format") == true)
        }
        for (output, errors) in [("o.jsonl", "e.jsonl"), ("o.CSV", "e.csv"), ("o.csv", "e"), ("o", "e.txt")] {
            try check(output, errors)
        }
        try check("o.csv", "e.jsonl") {
            ($0.outputFormat, $0.outputFormatFollowsInput) = (.jsonl, false)
        }
    }

    @Test func otherNamesAreNotOurs() throws {
        for name in ["in.tmp", "in.journal.tmp", "in.jsonl", "in.old"] {
            try folder.write("{}".utf8, to: name)
            try job([folder.path(name)], folder.path("in")).checkFiles()
        }
    }

    @Test func outputsThatAreNoFiles() throws {
        try folder.write("{}".utf8, to: "in")
        for output in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/stderr"] {
            let error = #expect(throws: UserError.self) {
                try job([folder.path("in")], output).checkFiles()
            }
            #expect(error?.kind == .cannotWrite && error?.message.contains("give - as output") == true)
            #expect(throws: UserError.self) {
                try FileManager.default.createSymbolicLink(
                    atPath: folder.path("stream"), withDestinationPath: output)
                defer { try? FileManager.default.removeItem(atPath: folder.path("stream")) }
                try job([folder.path("in")], folder.path("stream")).checkFiles()
            }
        }
        for output in [folder.url.path, folder.url.path + "/Y/", "/", ".", "..", "/dev/null"] {
            let error = #expect(throws: UserError.self) {
                try job([folder.path("in")], output).checkFiles()
            }
            #expect(error?.kind == .cannotWrite, "\(output)")
        }
    }

    @Test func pathsOfOneCharacter() throws {
        try folder.write("{}".utf8, to: "in")
        for output in ["X", "é", "n/o.jsonl", "n/deep/er/o", "Y//o"] {
            let job = job([folder.path("in")], folder.url.path + "/" + output)
            try job.checkFiles()
            try job.makeOutputFolder()
            #expect(Files.kind(of: Paths.folder(of: job.output)) == .folder)
        }
        // Relative ones, which nothing is written for here.
        for output in ["X", "é", "./X", "nowhere-\(UUID().uuidString)/o"] {
            try job([folder.path("in")], output).checkFiles()
        }
    }

    @Test func jobFilesAndTheirPaths() throws {
        // In a folder whose name is not UTF-8.
        let odd = Paths.join(folder.url.path, String(pathBytes: [0x64, 0xFF]))
        try Files.makeFolder(odd)
        let file = Paths.join(odd, "j")
        // A character that stands for a byte inside is one of its own in a job file.
        let text = "model: m\ninput: [in, \"~x\", /a/b]\noutput: \"o\u{10FEFF}\"\n"
        try Files.replaceContents(of: file, with: Array(text.utf8))
        let job = try JobSettings.load(file: file)
        #expect(job.model.pathBytes == odd.pathBytes + "/m".utf8)
        #expect(
            job.input.map(\.pathBytes) == [
                odd.pathBytes + "/in".utf8, odd.pathBytes + "/~x".utf8, Array("/a/b".utf8),
            ])
        #expect(job.output.pathBytes == odd.pathBytes + "/o\u{10FEFF}".utf8)
        #expect(throws: UserError.self) {
            try JobSettings.load(file: file, options: WrittenSetting.all(["output": [file]]))
        }
        let nul = #expect(throws: UserError.self) {
            try JobSettings.parse("model: m\ninput: x\noutput: \"a\\u0000b\"")
        }
        #expect(nul?.message.contains("character 0") == true, "\(nul.debugDescription)")
    }

    @Test func optionsThatAreNotUTF8() throws {
        let odd = String(pathBytes: [0x61, 0xFF])
        let options = WrittenSetting.all(["model": [odd], "input": [odd + "2"], "output": [odd + "3"]])
        let job = try JobSettings.load(file: nil, options: options)
        #expect(job.model == odd && job.input == [odd + "2"] && job.output == odd + "3")
        let error = #expect(throws: UserError.self) {
            try JobSettings.load(file: nil, options: options + WrittenSetting.all(["prompt": [odd]]))
        }
        #expect(error?.kind == .usage && error?.message.contains("UTF-8") == true)
        // A character from where bytes are kept inside comes as its bytes, as the program's own arguments do.
        let own = "\u{10FEFF}"
        let accent = try JobSettings.load(
            file: nil,
            options: WrittenSetting.all([
                "model": ["m"], "input": ["i"], "output": ["\u{301}o"],
                "prompt": [String(pathBytes: Array(own.utf8))],
            ]))
        #expect(accent.output.utf8.elementsEqual("\u{301}o".utf8))
        #expect(accent.prompt == own)
    }

    /// A whole run where neither folder nor output nor the link's target is UTF-8.
    @Test func aRunWithNamesOfAnyBytes() throws {
        let odd = Paths.join(folder.url.path, String(pathBytes: [0x64, 0xFF]))
        try Files.makeFolder(odd)
        let target = String(pathBytes: [0x6F, 0xFE, 0x80])
        let link = Paths.join(odd, "link")
        #expect(symlink(target.cPath, link.cPath) == 0)
        let lines = TestLine.make(20)
        func open() throws -> LogStore {
            try LogStore(output: link, fingerprint: testFingerprint)
        }
        let store = try open()
        try TestRun(lines: lines, limit: 7).run(store)
        try store.suspend()
        #expect(try JobStatus(output: link).done == 7)
        try TestRun(lines: lines).run(open())
        #expect(try Files.names(in: odd).sorted() == ["link", target, target + ".log"].sorted())
        #expect(try Files.contents(of: Paths.join(odd, target)) == TestRun(lines: lines).expected())
        #expect(Files.isLink(link))
    }
}
