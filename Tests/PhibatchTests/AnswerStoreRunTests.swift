import Foundation
import Testing

/// Answers that the real program takes from a folder.
@Suite(.enabled(if: Program.path != nil, "the program is not there"))
struct AnswerStoreRunTests {
    private static func job(_ lines: [String], _ more: String...) throws -> DemoJob {
        var job = try DemoJob(lines, ["--threads", "1", "--max-tokens", "9", "--answers", "store"] + more)
        job.model = job.folder + "/model"
        try PlainModel().write(to: job.model)
        return job
    }

    private static let lines = (0..<12).map { number in
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

    /// Whoever made an answer: that the model gives it is shown without the store.
    @Test func verifyComputes() throws {
        let job = try Self.job(Self.lines)
        defer { job.remove() }
        #expect(try job.run().status == 0)
        let files = try segments(job)
        let verified = try RunningProgram(["verify"] + job.arguments(), folder: job.folder).end()
        #expect(verified.status == 0, "\(verified.errors)")
        #expect(!verified.errors.contains("taken from"), "\(verified.errors)")
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
