import Foundation
import OperatingSystem
import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct CheckpointStatusTests {
    @Test func statusFromBeginningToEnd() throws {
        var lines = TestLine.make(10)
        lines[3].fails = true
        let folder = try TestFolder()
        let output = folder.path("out.jsonl")
        #expect(try JobStatus(output: output).state == .notStarted)
        let store = try openStore(folder)
        let start = Date().timeIntervalSince1970 - 100
        store.progress = JobProgress(
            startedAt: start, resultsTotal: 10, doneThisRun: 5, completionTokensThisRun: 500)
        try TestRun(lines: lines, limit: 6).run(store)
        let running = try JobStatus(output: output)
        #expect(running.state == .running)
        #expect(running.holder?.pid == ThisProcess.id)
        #expect(running.done == 6)
        try store.suspend()
        let stopped = try JobStatus(output: output)
        #expect(stopped.state == .stopped)
        #expect(stopped.failed == 1)
        #expect(stopped.completionTokens == 35)
        #expect(stopped.inFlight == 2)
        #expect(stopped.inFlightTokens == 6)
        #expect(stopped.progress?.resultsTotal == 10)
        // Saved at some time between the start and now.
        let elapsed = Date().timeIntervalSince1970 - start
        #expect((500 / elapsed...5).contains(stopped.tokensPerSecond ?? 0))
        #expect((5 / elapsed...0.05).contains(stopped.resultsPerSecond ?? 0))
        var log = try folder.bytes("out.jsonl.log")
        log[40] ^= 1
        try folder.write(log, to: "out.jsonl.log")
        #expect(try JobStatus(output: output).done == 6, "a damaged first line hides nothing")
        try TestRun(lines: lines).run(openStore(folder))
        let complete = try JobStatus(output: output)
        #expect(complete.state == .complete)
        #expect(complete.done == 10)
        #expect(complete.failed == 1)
        #expect(complete.completionTokens == 63)
        #expect(try folder.names == ["out.jsonl"])
    }
}

@Suite struct CheckpointStreamTests {
    private func stream(_ folder: TestFolder, heldLimit: Int = 64 << 20) throws -> (StreamStore, File) {
        let system = FileSystem.real
        let descriptor = try system.open(folder.path("stream"), .createNew())
        let store = StreamStore(descriptor: descriptor, fingerprint: testFingerprint, heldLimit: heldLimit)
        return (store, try File.open(folder.path("stream"), .read, in: system))
    }

    @Test func resultsComeInInputOrderAndAsSoonAsTheyCan() throws {
        let lines = TestLine.make(5)
        let folder = try TestFolder()
        let (store, _) = try stream(folder, heldLimit: 1)
        for (position, line) in lines.enumerated() {
            #expect(try store.claim(line.key, position: position) == .new)
        }
        var counts: [Int] = []
        for position in [1, 0, 4, 2, 3] {
            #expect(store.positionLimit ?? 0 > 0)
            try store.append(
                lines[position].result, key: lines[position].key, position: position)
            counts.append(try folder.bytes("stream").count { $0 == 0x0a })
        }
        #expect(counts == [0, 2, 2, 3, 5])
        try store.finish(count: 5)
        #expect(try folder.bytes("stream") == TestRun(lines: lines).expected(), "the same bytes as in a file")
    }

    @Test func heldResultsStopNewPositions() throws {
        let lines = TestLine.make(5)
        let (store, _) = try stream(try TestFolder(), heldLimit: 100)
        for (position, line) in lines.enumerated() { _ = try store.claim(line.key, position: position) }
        #expect(store.positionLimit == .max)
        try store.append(lines[2].result, key: lines[2].key, position: 2)
        #expect(store.positionLimit == 1)
        try store.append(lines[0].result, key: lines[0].key, position: 0)
        #expect(store.positionLimit == 2)
        try store.append(lines[1].result, key: lines[1].key, position: 1)
        #expect(store.positionLimit == .max)
    }

    /// A pipe that its writer must not block takes a part at a time.
    @Test func shortWritesGoOn() throws {
        let lines = TestLine.make(2000)
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        #expect(fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
        let reading = pipe.fileHandleForReading.fileDescriptor
        let read = Ahead("reads") { try Files.contents(of: reading) }
        let store = StreamStore(descriptor: descriptor, fingerprint: testFingerprint)
        try TestRun(lines: lines).run(store)
        try pipe.fileHandleForWriting.close()
        #expect(try read.value() == TestRun(lines: lines).expected())
    }
}
