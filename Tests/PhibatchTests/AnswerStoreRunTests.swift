import Foundation
import Testing

@testable import Jobs

/// Answers that the real program takes from a folder.
@Suite(.enabled(if: Program.path != nil, "the program is not there"))
struct AnswerStoreRunTests {
    private static func job(_ lines: [String], _ more: String...) throws -> DemoJob {
        var job = try DemoJob(
            lines, ["--threads", "1", "--max-tokens", "9", "--answers", "store"] + more)
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

    /// The records of all segments that are whole.
    private func records(in folder: String) throws -> [AnswerRecord] {
        var records: [AnswerRecord] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let file = try File.open(folder + "/" + name, .readOwn, in: POSIXFileSystem())
            try LineScanner(file: file).forEachLine(from: AnswerStore.head.count) { line in
                let record = AnswerRecord(line.bytes)
                #expect(record != nil, "\(name), \(line.offset)")
                if let record { records.append(record) }
                return true
            }
        }
        return records
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
        let lines = ([forged.line] + others).map { $0 + [0x0A] }
        try Data(AnswerStore.head + lines.joined()).write(to: URL(filePath: path))
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
}
