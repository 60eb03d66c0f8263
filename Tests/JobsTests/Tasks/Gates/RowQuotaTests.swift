import Foundation
import JSON
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// So many accepted rows of each line.
@Suite struct RowQuotaTests {
    @Test func aRowIsNeededIfFewerBeforeItMayBeAccepted() {
        var quota = RowQuota(2, samples: 6)
        func needs() -> [RowQuota.Need] { (6..<12).map { quota.need(of: $0) } }
        #expect(needs() == [.needed, .needed, .open, .open, .open, .open])
        quota.ended(7, isAccepted: true)
        #expect(needs()[2...].allSatisfy { $0 == .open })
        quota.ended(6, isAccepted: false)
        #expect(needs()[2] == .needed && needs()[3] == .open)
        quota.ended(8, isAccepted: true)
        #expect(needs()[3...].allSatisfy { $0 == .notNeeded } && quota.need(of: 0) == .needed)
        for position in 9..<12 { quota.ended(position, isAccepted: false) }
        for position in 12..<18 { quota.ended(position, isAccepted: position == 15) }
        #expect(quota.shortLines == 1 && quota.need(of: 18) == .needed)
    }

    private static let lines = 15
    private static let steps = [
        JobStep.named("question") { step in
            step.settings.prompt = "Ask about {{ topic }}."
            step.settings.samples = 4
        },
        JobStep.named("judge") { step in
            step.settings.prompt = "{{ question.text }}"
            step.settings.choices = ["yes", "no", "perhaps"]
            step.accept = "judge.text == 'yes'"
        },
        JobStep.named("answer") { $0.settings.prompt = "{{ question.text }} {{ judge.text }}" },
    ]

    private func job(
        _ folder: TestFolder, _ change: (inout JobSettings) -> Void = { _ in }
    ) throws -> JobSettings {
        let path = try folder.write(
            (0..<Self.lines).map {
                "{\"id\":\"r\($0)\",\"topic\":\"\(String(repeating: "word ", count: $0 % 7))\($0)\"}\n"
            }
            .joined(), to: "in.jsonl")
        return .test(input: path, steps: Self.steps) { job in
            (job.samples, job.untilPerLine, job.maxTokens) = (2, 2, 16)
            change(&job)
        }
    }

    private static func dropped(_ line: String) throws -> String? {
        try ScriptedRun.row(line).string("dropped")
    }

    /// The first ones that are accepted where all are made are those that are.
    @Test func theRestOfALineIsNotMade() throws {
        let folder = try TestFolder()
        let all = try ScriptedRun.run(job(folder) { $0.untilPerLine = nil }).lines
        var expected: [String] = []
        var (needed, short) = (0, 0)
        for start in stride(from: 0, to: all.count, by: 8) {
            var accepted = 0
            for line in all[start..<start + 8] {
                guard accepted < 2 else {
                    expected.append("until")
                    continue
                }
                expected.append(line)
                needed += 1
                accepted += try Self.dropped(line) == nil ? 1 : 0
            }
            short += accepted < 2 ? 1 : 0
        }
        #expect(expected.contains("until") && short > 0 && short < Self.lines)
        try ScriptedRun.inManyWays(job(folder)) { outcome, lines, _ in
            #expect(outcome.status == .complete && lines.count == 8 * Self.lines)
            let told = try lines.map { try Self.dropped($0) == "until" ? "until" : $0 }
            #expect(told == expected)
            let passed = outcome.statistics.tally[.dropped(by: "until", .notNeeded)] ?? 0
            #expect(passed == 8 * Self.lines - needed)
        }
    }

    @Test func nothingIsComputedInVain() throws {
        let folder = try TestFolder()
        let admissions = try [1, 16].map { workers in
            let model = ScriptedModel()
            let (outcome, _) = try ScriptedRun.run(job(folder) { $0.engine.workers = workers }, model)
            #expect(outcome.statistics.shortLines > 0 && outcome.statistics.shortLines < Self.lines)
            return model.admissions
        }
        #expect(admissions[0] == admissions[1])
        let all = ScriptedModel()
        _ = try ScriptedRun.run(job(folder) { $0.untilPerLine = nil }, all)
        #expect(admissions[0] < all.admissions)
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func stoppedAnywhereTheRowsAreTheSame(seed: UInt64) throws {
        let folder = try TestFolder()
        let job = try job(folder) {
            if seed > 1 { $0.steps[0].distinct = Distinctness("question.text", similarity: 0.5) }
        }
        #expect(try ScriptedRun.stopped(job, seed: seed, steps: 30) == ScriptedRun.run(job).lines)
    }
}
