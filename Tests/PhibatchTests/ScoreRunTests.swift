import Foundation
import Testing

/// Runs of jobs with `task: score` and a real model.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct ScoreRunTests {
    private struct Ranking: Decodable {
        struct Score: Decodable { var logprob: Double }
        var scores: [Score]
        var best: Int
    }

    private func score(_ job: DemoJob, _ more: [String] = []) throws -> Program.Result {
        try RunningProgram(["run", "--task", "score"] + job.arguments(more), folder: job.folder).end()
    }

    private static let lines = [
        ("The capital of France is", [" Paris", " Berlin", " a small banana"]),
        ("Two and two make", [" seven hundred", " four"]),
        ("The opposite of hot is", [" blue sky table", " cold", " hot hot hot"]),
    ].enumerated().map { number, line in
        "{\"id\":\"\(number)\",\"prompt\":\"\(line.0)\",\"completion\":\(line.1)}"
    }

    @Test func theRightAnswerIsRankedFirst() throws {
        let job = try DemoJob(Self.lines, ["--no-chat"])
        defer { job.remove() }
        let result = try score(job)
        #expect(result.status == 0, "\(result.errors)")
        let rankings = try (job.results ?? []).map {
            try JSONDecoder().decode(Ranking.self, from: Data($0.utf8))
        }
        #expect(rankings.map(\.best) == [0, 1, 1])
        #expect(rankings.map(\.scores.count) == [3, 2, 3])
        #expect(result.errors.contains("3 lines: 3 done, 0 failed"), "\(result.errors)")
        let again = try score(job)
        #expect(again.status == 0 && again.errors.contains("nothing to do"), "\(again.errors)")
        // Another task makes other results.
        let other = try job.run()
        #expect(other.status == 65 && other.errors.contains("task"), "\(other.errors)")
    }
}
