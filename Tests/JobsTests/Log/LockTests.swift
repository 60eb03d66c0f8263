import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs
@testable import OperatingSystem

/// Another process that holds a lock as a run does, until it is killed (or this one ends).
private final class OtherProcess {
    let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameter path: of the output.
    init(holding path: String) throws {
        try Data().write(to: URL(fileURLWithPath: path + ".log"))
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c",
            """
            import fcntl, os, sys
            f = open(sys.argv[1], "w")
            fcntl.flock(f, fcntl.LOCK_EX)
            print("ready", flush=True)
            sys.stdin.read()
            """, path + ".log",
        ]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        _ = try output.fileHandleForReading.read(upToCount: 1)
        let holder = OutputLock.Holder(
            pid: process.processIdentifier, host: "there", started: "2001-01-01T00:00:00Z")
        let header = LogHeader(fingerprint: testFingerprint, holder: holder).line + [0x0A]
        try Data(header).write(to: URL(fileURLWithPath: path + ".log"))
    }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit { if process.isRunning { kill() } }
}

@Suite struct LockTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test func aSecondRunIsRefusedAndADeadOnesLockTakenOver() throws {
        let other = try OtherProcess(holding: folder.path("out.jsonl"))
        let pid = other.process.processIdentifier
        let error = #expect(throws: UserError.self) { try openStore(folder) }
        #expect(error?.kind == .locked)
        #expect(error?.message.contains("process \(pid) on there") == true)
        let running = try JobStatus(output: folder.path("out.jsonl"))
        #expect(running.state == .running)
        #expect(running.holder?.pid == pid)
        other.kill()
        #expect(try JobStatus(output: folder.path("out.jsonl")).state == .stopped)
        try TestRun(lines: TestLine.make(2)).run(openStore(folder))
        #expect(try folder.names == ["out.jsonl"])
    }

    /// A process that is just being started has copies of all descriptors until its program is loaded.
    @Test func aCopyOfTheDescriptorDoesNotKeepTheLock() throws {
        let path = folder.path("lock")
        let system = FileSystem.real
        let first = try system.open(path, .createNew())
        #expect(try system.lock(first, exclusive: true))
        let copy = dup(first)
        defer { close(copy) }
        let second = try system.open(path, .readWrite)
        defer { system.close(second) }
        #expect(try !system.lock(second, exclusive: true))
        system.close(first)
        #expect(try system.lock(second, exclusive: true))
    }

    @Test func waitingEndsWhenTheOtherRunDoes() throws {
        let other = try OtherProcess(holding: folder.path("out.jsonl"))
        var asked = 0
        var holder: OutputLock.Holder?
        let waiting: OutputLock.Waiting = (
            { holder = $0 },
            {
                asked += 1
                if asked == 2 { other.kill() }
                return false
            }
        )
        let store = try LogStore(
            output: folder.path("out.jsonl"), fingerprint: testFingerprint, waiting: waiting)
        #expect(asked >= 2)
        #expect(holder?.pid == other.process.processIdentifier)
        try store.suspend()
    }

    @Test func waitingCanBeBrokenOff() throws {
        let other = try OtherProcess(holding: folder.path("out.jsonl"))
        let error = #expect(throws: UserError.self) {
            try LogStore(
                output: folder.path("out.jsonl"), fingerprint: testFingerprint,
                waiting: ({ _ in }, { true }))
        }
        #expect(error?.kind == .interrupted)
        other.kill()
    }

    @Test func aRunHoldsItsLockToTheEnd() throws {
        let store = try openStore(folder)
        let line = TestLine.make(1)[0]
        _ = try store.claim(line.key, position: 0)
        try store.append(line.result, key: line.key, position: 0)
        let error = #expect(throws: UserError.self) { try openStore(folder) }
        #expect(error?.kind == .locked)
        try store.finish(count: 1)
        #expect(try folder.names == ["out.jsonl"])
    }

    /// As on Lustre as it is mounted by default, and many other shared file systems.
    @Test(arguments: [ENOSYS, ENOLCK, EOPNOTSUPP]) func aFileSystemNeedsNoLocks(code: Int32) throws {
        let system = FaultyFileSystem(refusing: [.lock: code])
        let store = try openStore(folder, system: system)
        #expect(store.notes.contains { $0.contains("has no locks") })
        #expect(throws: UserError.self) { try openStore(folder, system: system) }
        #expect(try JobStatus(output: folder.path("out.jsonl"), system: system).state == .running)
        try TestRun(lines: TestLine.make(3)).run(store)
        #expect(try folder.names == ["out.jsonl"])
        // A process that is over leaves its file; of another host's nobody knows.
        func left(_ pid: Int32, _ host: String) throws {
            let text =
                "{\"holder\":{\"pid\":\(pid),\"host\":\"\(host)\",\"started\":\"2026-01-01T00:00:00Z\"}}\n"
            try folder.write(text.utf8, to: "out.jsonl.lock")
        }
        try left(0x7FFF_FFF0, ThisProcess.hostName)
        #expect(try TestRun(lines: TestLine.make(3)).run(openStore(folder, system: system)) == 0)
        try left(1, "elsewhere")
        let error = #expect(throws: UserError.self) { try openStore(folder, system: system) }
        #expect(error?.kind == .locked && error?.message.contains("remove") == true)
    }

    @Test func manyTakeTurns() async throws {
        // Each reads a counter, lets others run and writes it back under the lock; a lost update would show.
        let counter = folder.path("counter")
        try folder.write("0".utf8, to: "counter")
        let paths = try OutputPaths(output: folder.path("o"))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<5 {
                        guard
                            let lock = try? OutputLock(
                                paths, LogHeader(fingerprint: testFingerprint),
                                waiting: ({ _ in }, { false })
                            ),
                            let text = try? String(contentsOfFile: counter, encoding: .utf8),
                            let value = Int(text)
                        else {
                            Issue.record("no lock")
                            return
                        }
                        sched_yield()
                        try? "\(value + 1)".write(toFile: counter, atomically: true, encoding: .utf8)
                        lock.release()
                    }
                }
            }
        }
        #expect(try folder.text("counter") == "20")
    }
}
