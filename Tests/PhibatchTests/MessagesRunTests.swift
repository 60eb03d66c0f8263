import Foundation
import Testing

/// Conversations to train with, made by the real program.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct MessagesRunTests {
    private struct Line: Decodable {
        struct Message: Codable, Equatable {
            var role: String
            var content: String
        }
        var messages: [Message]
        var topic: String?
    }

    private static let settings = [
        "--max-tokens", "24", "--temperature", "1", "--samples", "2", "--system", "Be brief.", "--prefix",
        "It is ",
        "--keep", "topic", "--max-failures", "2", "--workers", "2", "--checkpoint-interval", "0.05",
    ]
    private static let lines =
        (0..<6).map { "{\"prompt\":\"What is \($0)?\",\"topic\":\"t\($0)\"}" } + [
            #"{"messages":[{"role":"user","content":"A"},{"role":"assistant","content":"B"},"#
                + #"{"role":"user","content":"C"}]}"#, #"{"prompt":[1,2]}"#,
            #"{"prompt":"Too short.","regex":"[a-z]{200}"}"#,
        ]

    private func conversations(_ job: DemoJob) throws -> [Line] {
        try #require(job.results).map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    /// With the answers that results in full have; killed at some time, too.
    @Test func eachAnswerEndsItsConversation() throws {
        struct Whole: Decodable { var text: String? }
        let whole = try DemoJob(Self.lines, Self.settings)
        defer { whole.remove() }
        #expect(try whole.run().status == 0)
        let answers = try #require(whole.results).compactMap {
            try JSONDecoder().decode(Whole.self, from: Data($0.utf8)).text
        }
        let job = try DemoJob(Self.lines, Self.settings + ["--results", "messages"])
        defer { job.remove() }
        let program = try job.start()
        try program.wait(for: "saved tokens") {
            FileManager.default.fileExists(atPath: job.folder + "/out.jsonl.journal.inflight")
        }
        program.send(SIGKILL)
        _ = try program.end()
        let run = try job.run()
        #expect(run.status == 0 && run.errors.contains("4 failed"), "\(run.errors)")
        let lines = try conversations(job)
        #expect(
            lines.count == 14
                && lines.map { $0.messages.last?.content } == answers.prefix(14).map { "It is \($0)" })
        for (place, line) in lines.prefix(12).enumerated() {
            let number = place / 2
            #expect(
                line.messages.dropLast() == [
                    .init(role: "system", content: "Be brief."),
                    .init(role: "user", content: "What is \(number)?"),
                ])
            #expect(line.topic == "t\(number)" && line.messages.last?.role == "assistant")
        }
        #expect(lines.last?.messages.map(\.role) == ["system", "user", "assistant", "user", "assistant"])
        #expect(try job.run().errors.contains("nothing to do"))
        for command in [["verify", "-q", "--sample", "100%"], ["verify", "--file-only"], ["check"]] {
            let said = try Program.run(command + job.arguments(), folder: job.folder)
            #expect(said.status == 0, "\(command): \(said)")
        }
        // The other way is another output.
        let other = try DemoJob.run(job, results: "lean")
        #expect(other.status != 0 && other.errors.contains("output"), "\(other.errors)")
    }
}

extension DemoJob {
    fileprivate static func run(_ job: DemoJob, results: String) throws -> Program.Result {
        var job = job
        job.settings = Array(job.settings.dropLast()) + [results]
        return try job.run()
    }
}
