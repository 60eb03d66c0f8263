import Foundation
import OperatingSystem
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Each call that the store makes fails in turn, once or from then on (as if the process had died
/// there); whatever happens, the next run ends with the output of an undisturbed one.
@Suite struct FileSystemFaultTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// What is there before the faulty run.
    enum Start: CaseIterable { case nothing, begun, output, outputAndBegun }

    private static let lines = TestLine.make(8)
    private static var edited: [TestLine] {
        var edited = lines
        edited[2].content = "edited"
        edited[5].content = "edited too"
        edited.swapAt(0, 7)
        return edited
    }

    private func prepare(_ start: Start) throws -> TestFolder {
        let folder = try TestFolder()
        switch start {
        case .nothing: break
        case .begun: try TestRun(lines: Self.edited, limit: 5).stop(openStore(folder))
        case .output: try TestRun(lines: Self.lines).run(openStore(folder))
        case .outputAndBegun:
            try TestRun(lines: Self.lines).run(openStore(folder))
            try TestRun(lines: Self.edited, limit: 1).stop(openStore(folder))
        }
        if start == .begun {
            // A torn line too.
            try folder.write(
                try folder.bytes("out.jsonl.log") + Array("{\"sum\":\"00".utf8), to: "out.jsonl.log")
        }
        return folder
    }

    /// Runs to the end or to the first error, which is then handled as a runner does.
    private func attempt(
        _ folder: TestFolder, _ system: FaultyFileSystem
    ) -> (any Error)? {
        do {
            let store = try openStore(folder, system: system)
            do {
                try TestRun(lines: Self.edited).run(store)
            } catch {
                try store.suspend()
                return error
            }
            return nil
        } catch {
            return error
        }
    }

    private static let faults: [(FaultyFileSystem.Fault, Bool)] = [
        (.error(ENOSPC), false), (.error(EIO), false), (.error(EACCES), false), (.error(EIO), true),
        (.error(ENOSPC), true), (.error(EINTR), false), (.short, false), (.short, true),
    ]

    @Test(arguments: Start.allCases.map { ($0, true) } + [(.output, false)])
    func everyCallFailingInTurn(start: Start, hasSecondNames: Bool) throws {
        let expected = try TestRun(lines: Self.edited).expected()
        let before = try prepare(start)
        let old = before.has("out.jsonl") ? try before.bytes("out.jsonl") : nil
        let counting = FaultyFileSystem(hasSecondNames: hasSecondNames)
        let prepared = try prepare(start)
        #expect(attempt(prepared, counting) == nil)
        #expect(counting.calls.count > 20)
        var errors = 0
        for number in counting.calls.indices {
            for (fault, lasts) in Self.faults {
                let what: Comment = "call \(number) (\(counting.calls[number])), \(fault), lasting: \(lasts)"
                let folder = try TestFolder()
                for name in try before.names + ["out.jsonl.log"] where before.has(name) {
                    try folder.write(try before.bytes(name), to: name)
                }
                let system = FaultyFileSystem(
                    failing: number, with: fault, lasts: lasts, hasSecondNames: hasSecondNames)
                let error = attempt(folder, system)
                if fault == .short || fault == .error(EINTR) { #expect(error == nil, what) }
                if let error {
                    errors += 1
                    let error = try #require(error as? UserError, what)
                    #expect((error.place ?? "").hasPrefix(folder.url.path), what)
                    #expect(!error.message.isEmpty, what)
                    if case .error(let code) = fault {
                        #expect(error.message.contains(SystemError(code: code).reason), what)
                        #expect(error.code == code, what)
                    }
                    #expect([.cannotWrite, .io].contains(error.kind), what)
                }
                // The output is the old one or the new one, and never anything else.
                if folder.has("out.jsonl") {
                    let bytes = try folder.bytes("out.jsonl")
                    #expect(bytes == expected || bytes == old, what)
                    if error == nil { #expect(bytes == expected, what) }
                } else {
                    #expect(old == nil && error != nil, what)
                }
                // From the moment the new one is in place, the old one is under its other name.
                func kept() throws -> [String] { try folder.names.filter { $0.contains(".old-") } }
                if let old, try folder.bytes("out.jsonl") != old {
                    #expect(try kept().contains { try folder.bytes($0) == old }, what)
                }
                try TestRun(lines: Self.edited).run(openStore(folder))
                #expect(try folder.bytes("out.jsonl") == expected, what)
                if let old { #expect(try kept().contains { try folder.bytes($0) == old }, what) }
                // A copy that was broken off can't be told from a file of someone else's.
                if hasSecondNames { #expect(try kept() == (old == nil ? [] : ["out.jsonl.old-1"]), what) }
                #expect(try folder.names == ["out.jsonl"] + kept(), what)
            }
        }
        #expect(errors > counting.calls.count)
    }

    @Test func resultsHandedOverBeforeAFullDiskAreKept() throws {
        // The disk is full at some append: what was appended before must not be made again.
        let probe = FaultyFileSystem()
        #expect(attempt(try TestFolder(), probe) == nil)
        let appends = probe.calls.indices.filter { probe.calls[$0] == .write }.dropFirst(2)
        let call = try #require(appends.dropFirst(4).first)
        #expect(attempt(folder, FaultyFileSystem(failing: call, with: .error(ENOSPC), lasts: true)) != nil)
        let store = try openStore(folder)
        #expect(try TestRun(lines: Self.edited).run(store) < Self.edited.count - 1)
    }

    @Test func afterAnErrorTheStoreTakesNothingMore() throws {
        let probe = FaultyFileSystem()
        let undisturbed = try openStore(folder, system: probe)
        let opening = probe.calls.count
        try undisturbed.suspend()
        let store = try openStore(folder, system: FaultyFileSystem(failing: opening, with: .error(EIO)))
        let key = Self.lines[0].key
        _ = try store.claim(key, position: 0)
        let first = #expect(throws: UserError.self) {
            try store.append(Self.lines[0].result, key: key, position: 0)
        }
        let second = #expect(throws: UserError.self) { try store.sync() }
        #expect(first == second)
        try store.suspend()
    }

    @Test func aFolderThatIsNotThereOrNotWritable() throws {
        let missing = #expect(throws: UserError.self) {
            try LogStore(output: folder.path("no/out.jsonl"), fingerprint: testFingerprint)
        }
        #expect(missing?.kind == .cannotWrite)
        #expect(missing?.description.contains("no/out.jsonl") == true)
        let notFile = #expect(throws: UserError.self) {
            try LogStore(output: folder.url.path, fingerprint: testFingerprint)
        }
        #expect(notFile?.kind == .cannotWrite)
        let device = #expect(throws: UserError.self) {
            try LogStore(output: "/dev/null", fingerprint: testFingerprint)
        }
        #expect(device?.kind == .cannotWrite)
    }

    @Test func aFolderThatGoesAwayIsNoticedAtTheNextSync() throws {
        let store = try openStore(folder)
        let line = Self.lines[0]
        _ = try store.claim(line.key, position: 0)
        try store.append(line.result, key: line.key, position: 0)
        try FileManager.default.removeItem(at: folder.url)
        let error = #expect(throws: UserError.self) { try store.sync() }
        #expect(error?.kind == .io)
        try store.suspend()
    }

    @Test func filesHaveTheUsersMask() throws {
        let plain = folder.path("plain")
        #expect(FileManager.default.createFile(atPath: plain, contents: nil))
        try TestRun(lines: Self.lines).run(openStore(folder))
        let mode =
            try FileManager.default.attributesOfItem(atPath: folder.path("out.jsonl"))[.posixPermissions]
            as? Int
        let usual = try FileManager.default.attributesOfItem(atPath: plain)[.posixPermissions] as? Int
        #expect(mode == usual)
    }

    @Test func syncsAreGroupedByTheirCost() {
        var policy = SyncPolicy(now: 0)
        #expect(!policy.isDue(now: 100))
        policy.written()
        #expect(!policy.isDue(now: 0.9))
        #expect(policy.isDue(now: 1))
        policy.synced(from: 1, to: 1.5)
        policy.written()
        #expect(!policy.isDue(now: 40))
        #expect(policy.isDue(now: 51.5))
        policy.synced(from: 60, to: 70)
        policy.written()
        #expect(policy.isDue(now: 130))
    }
}
