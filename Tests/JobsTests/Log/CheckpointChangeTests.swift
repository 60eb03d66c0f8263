import Foundation
import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Settings that change while results are there.
@Suite struct CheckpointChangeTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private let lines = TestLine.make(6)
    private let other = RunFingerprint([("model.config.json", "7 bytes"), ("job.seed", "18")])
    private let third = RunFingerprint([("model.config.json", "7 bytes"), ("job.seed", "19")])

    /// The digest that each result of the output names.
    private func runs(_ folder: TestFolder) throws -> [String] { try folder.runs() }

    @Test func whereNothingIsDoneNewSettingsAreTaken() throws {
        let store = try openStore(folder)
        var failing = lines
        for index in failing.indices { failing[index].fails = true }
        try TestRun(lines: failing, limit: 1).run(store)
        try store.suspend()
        #expect(folder.isOpen)
        let again = try openStore(folder, fingerprint: other)
        #expect(again.notes.count == 1)
        #expect(try TestRun(lines: lines).run(again) == 6)
        #expect(try runs(folder) == Array(repeating: other.digest, count: 6))
        #expect(try folder.names == ["out.jsonl"])
    }

    /// A finished output, and lines that are added under other settings, twice.
    @Test func keptResultsNameTheirRun() throws {
        try TestRun(lines: Array(lines.prefix(3))).run(openStore(folder))
        let store = try openStore(folder, fingerprint: other, ifChanged: .keep)
        #expect(store.notes.contains { $0.contains("job.seed: 17 -> 18") }, "\(store.notes)")
        #expect(try TestRun(lines: Array(lines.prefix(5))).run(store) == 2)
        let (first, second) = (testFingerprint.digest, other.digest)
        #expect(try runs(folder) == [first, first, first, second, second])
        // The same again needs no word, and has nothing to do.
        let same = try openStore(folder, fingerprint: other)
        #expect(try TestRun(lines: Array(lines.prefix(5))).run(same) == 0)
        #expect(!same.didReplaceOutput)
        #expect(throws: UserError.self) { try openStore(folder, fingerprint: third) }
        #expect(try TestRun(lines: lines).run(openStore(folder, fingerprint: third, ifChanged: .keep)) == 1)
        #expect(try runs(folder) == [first, first, first, second, second, third.digest])
        let settings = OutputLog.header(of: folder.path("out.jsonl"))
        #expect(settings?.run(first) == testFingerprint && settings?.run(second) == other)
        #expect(try folder.faults() == [])
    }

    /// A run that was broken off goes on under other settings, and is broken off again.
    @Test func anUnfinishedRunGoesOnUnderOtherSettings() throws {
        try TestRun(lines: lines, limit: 2).stop(openStore(folder))
        #expect(throws: UserError.self) { try openStore(folder, fingerprint: other) }
        try TestRun(lines: lines, limit: 2).stop(openStore(folder, fingerprint: other, ifChanged: .keep))
        // The log is this run's now, and tells of the earlier one.
        let rest = try openStore(folder, fingerprint: other)
        #expect(try TestRun(lines: lines).run(rest) == 2)
        #expect(try runs(folder).count { $0 == testFingerprint.digest } == 2)
        #expect(try runs(folder).count { $0 == other.digest } == 4)
        #expect(try folder.names == ["out.jsonl"])
    }

    @Test func restartBeginsAgainIfSomethingHasChanged() throws {
        try TestRun(lines: lines).run(openStore(folder))
        #expect(try TestRun(lines: lines).run(openStore(folder, ifChanged: .restart)) == 0)
        #expect(
            try TestRun(lines: lines).run(openStore(folder, fingerprint: other, ifChanged: .restart)) == 6)
        #expect(try folder.names == ["out.jsonl"], "the same answers are the same file")
        try TestRun(lines: lines, limit: 2).stop(openStore(folder, fingerprint: third, ifChanged: .restart))
        #expect(try TestRun(lines: lines).run(openStore(folder, ifChanged: .restart)) == 6)
        #expect(try runs(folder) == Array(repeating: testFingerprint.digest, count: 6))
        #expect(folder.has("out.jsonl.old-1.log"))
    }

    /// Kept results in front of others: any of them may be of another run.
    @Test func aMixedOutputBeginsAgainToo() throws {
        try TestRun(lines: Array(lines.prefix(3))).run(openStore(folder))
        try TestRun(lines: Array(lines.prefix(3))).run(
            openStore(folder, fingerprint: other, ifChanged: .keep))
        // Nothing was to do, so nothing has changed.
        #expect(try TestRun(lines: Array(lines.prefix(3))).run(openStore(folder)) == 0)
        try TestRun(lines: lines).run(openStore(folder, fingerprint: other, ifChanged: .keep))
        #expect(throws: UserError.self) { try openStore(folder) }
        #expect(try TestRun(lines: lines).run(openStore(folder, ifChanged: .restart)) == 6)
        #expect(try runs(folder) == Array(repeating: testFingerprint.digest, count: 6))
    }

    /// However the keeping of an unfinished run is broken off, nothing is lost.
    @Test func aFaultWhileTheLogGetsItsNewHeaderLosesNothing() throws {
        try TestRun(lines: lines, limit: 3).stop(openStore(folder))
        let files = try ["out.jsonl.log"].map { ($0, try folder.bytes($0)) }
        let counting = FaultyFileSystem()
        try openStore(folder, fingerprint: other, ifChanged: .keep, system: counting).suspend()
        for number in 0..<counting.calls.count {
            let folder = try TestFolder()
            for (name, bytes) in files { try folder.write(bytes, to: name) }
            let faulty = FaultyFileSystem(failing: number, with: .error(5), lasts: true)
            try? openStore(folder, fingerprint: other, ifChanged: .keep, system: faulty).suspend()
            #expect(
                try TestRun(lines: lines).run(openStore(folder, fingerprint: other, ifChanged: .keep)) == 3,
                "call \(number)")
        }
    }
}
