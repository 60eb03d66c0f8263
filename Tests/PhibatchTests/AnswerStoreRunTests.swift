import Foundation
import Testing

@testable import Jobs

/// Answers that the real program takes from a folder.
@Suite(.enabled(if: Program.path != nil, "the program is not there"))
struct AnswerStoreRunTests {
    private static func job(_ lines: [String], _ more: String...) throws -> DemoJob {
        try bare(lines, ["--max-tokens", "9", "--answers", "store"] + more)
    }

    private static func bare(_ lines: [String], _ settings: [String]) throws -> DemoJob {
        var job = try DemoJob(lines, ["--threads", "1"] + settings)
        job.model = job.folder + "/model"
        try PlainModel().write(to: job.model)
        return job
    }

    private static let lines = (0..<12).map(line)

    private static func line(_ number: Int) -> String {
        "{\"id\":\"l\(number)\",\"prompt\":[\((0..<20).map { "\(3 + ($0 * 29 + number) % 1900)" }.joined(separator: ","))]}"
    }

    private func segments(_ job: DemoJob) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: job.folder + "/store").sorted()
    }

    @Test(arguments: ["0", "0.8"]) func aSecondRunTakesThem(temperature: String) throws {
        let job = try Self.job(Self.lines, "--temperature", temperature)
        defer { job.remove() }
        let first = try job.run()
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.errors.contains("answers: 0 taken from store, 12 added to it"), "\(first.errors)")
        let results = try #require(job.results)
        let files = try segments(job)
        #expect(files.count == 1 && results.count == 12)
        // What else a job says makes no difference, nor how it is run.
        let second = try job.run(["--restart", "--workers", "1", "--metrics-file", "numbers"])
        #expect(second.errors.contains("answers: 12 taken from store, 0 added to it"), "\(second.errors)")
        #expect(job.results == results)
        let numbers = try String(contentsOfFile: job.folder + "/numbers", encoding: .utf8)
        #expect(numbers.contains("\nphibatch_answers_taken{job=\"out.jsonl\"} 12\n"), "\(numbers)")
        let third = try job.run(["--restart", "--tokens"])
        #expect(third.errors.contains("answers: 12 taken from store, 0 added to it"), "\(third.errors)")
        // Another arithmetic, another answer.
        let other = try job.run(["--restart", "--kv", "f16"])
        #expect(other.errors.contains("answers: 0 taken from store, 12 added to it"), "\(other.errors)")
        #expect(try segments(job).count == 2 && Set(segments(job)).isSuperset(of: files))
    }

    /// The records of all segments that are whole.
    private func records(in folder: String) throws -> [AnswerRecord] {
        var records: [AnswerRecord] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let file = try File.open(folder + "/" + name, .readOwn, in: POSIXFileSystem())
            _ = try AnswerSegment.scan(file, from: AnswerSegment.head.count) { entry in
                let record = try? AnswerSegment.record(in: file, at: entry.offset)
                #expect(record != nil, "\(name), \(entry.offset)")
                if let record { records.append(record) }
            }
        }
        return records
    }

    /// Runs at once, on inputs of which each has lines of the others', one killed and taken up again.
    @Test func processesShareAFolder() throws {
        let jobs = try [0..<150, 60..<210, 120..<270].map {
            try Self.bare($0.map(Self.line), ["--max-tokens", "100", "--temperature", "0.8", "--tokens"])
        }
        defer { for job in jobs { job.remove() } }
        let store = jobs[0].folder + "/store"
        let expected = try jobs.map { job in
            #expect(try job.run().status == 0)
            return try #require(job.results)
        }
        let more = ["--answers", store, "--checkpoint-interval", "0"]
        // The first is the slowest, so that it is killed under way.
        let runs = try zip(jobs, ["1", "8", "32"]).map {
            try $0.start(more + ["--restart", "--workers", $1])
        }
        let journal = URL(filePath: jobs[0].folder + "/out.jsonl.journal")
        try runs[0].wait(for: "results") {
            (try? Data(contentsOf: journal).count { $0 == AnswerSegment.lineFeed }) ?? 0 > 20
        }
        runs[0].send(SIGKILL)
        #expect(try runs[0].end().status == SIGKILL)
        #expect(FileManager.default.fileExists(atPath: journal.path))
        let ends = try [jobs[0].run(more)] + runs.dropFirst().map { try $0.end() }
        #expect(ends.allSatisfy { $0.status == 0 }, "\(ends.map(\.errors))")
        #expect(jobs.map(\.results) == expected)
        // Two may have computed the same at the same time.
        let answers = try Dictionary(grouping: records(in: store), by: \.key)
        #expect(answers.values.allSatisfy { same in same.allSatisfy { $0 == same[0] } })
        // What the killed one hadn't written yet is computed once more, if nobody else has; then all is there.
        let missing = 270 - answers.count
        #expect((0..<30).contains(missing))
        for missing in [missing, 0] {
            for (job, (lines, lost)) in zip(jobs, zip(expected, [missing, 0, 0])) {
                let again = try job.run(more + ["--restart"])
                let told = "answers: \(150 - lost) taken from \(store), \(lost) added to it"
                #expect(again.errors.contains(told), "\(again.errors)")
                #expect(job.results == lines)
            }
        }
    }

    /// Who knows how a record is written can make one that no model has made.
    @Test func verifyFindsForgedAnswers() throws {
        let job = try Self.job(Self.lines, "--tokens")
        defer { job.remove() }
        #expect(try job.run().status == 0)
        let honest = try #require(job.results)
        let path = try job.folder + "/store/" + #require(try segments(job).first)
        var forged = try #require(try records(in: job.folder + "/store").first)
        forged.outcome.tokens[3] = forged.outcome.tokens[3] == 7 ? 8 : 7
        let others = try records(in: job.folder + "/store").dropFirst().map(\.line)
        let lines = ([forged.line] + others).map { $0 + [AnswerSegment.lineFeed] }
        try Data(AnswerSegment.head + lines.joined()).write(to: URL(filePath: path))
        func run() throws -> String { try job.run(["--restart"]).errors }
        func verify() throws -> Program.Result {
            try RunningProgram(["verify"] + job.arguments() + ["--sample", "100%"], folder: job.folder).end()
        }
        #expect(try run().contains("answers: 12 taken from store, 0 added to it"))
        #expect(job.results != honest)
        let found = try verify()
        #expect(found.status == 1)
        #expect(
            found.errors.contains(
                "store: the answer \(forged.key) is not what the model gives, and is removed"),
            "\(found.errors)")
        #expect(found.output.contains("answers in store: 12 checked, 1 differ"), "\(found.output)")
        #expect(try run().contains("answers: 11 taken from store, 1 added to it"))
        #expect(job.results == honest)
        let fine = try verify()
        #expect(fine.status == 0, "\(fine.errors)")
        #expect(fine.output.contains("answers in store: 12 checked, 0 differ"), "\(fine.output)")
    }

    /// Whoever made an answer: that the model gives it is shown without the store.
    @Test func verifyComputes() throws {
        let job = try Self.job(Self.lines)
        defer { job.remove() }
        #expect(try job.run().status == 0)
        let files = try segments(job)
        let verified = try RunningProgram(["verify"] + job.arguments(), folder: job.folder).end()
        #expect(verified.status == 0, "\(verified.errors)")
        #expect(!verified.errors.contains("taken from"), "\(verified.errors)")
        #expect(verified.output.contains("answers in store: 10 checked, 0 differ"), "\(verified.output)")
        #expect(try segments(job) == files)
    }

    @Test func whatIsNoFolderIsRefused() throws {
        let job = try Self.job(Self.lines)
        defer { job.remove() }
        try Data().write(to: URL(filePath: job.folder + "/store"))
        let run = try job.run()
        #expect(run.status == 65 && run.errors.contains("store: is not a folder"), "\(run.errors)")
    }
}
