import Foundation
import OperatingSystem
import Testing

@testable import BatchPipeline
@testable import Jobs

/// What a new output has of the one in whose place it is put.
@Suite struct OutputPlaceTests {
    private static let lines = TestLine.make(3)
    private static let edited = TestLine.make(3, "edited")
    private static let system = FileSystem.real

    private func info(_ folder: TestFolder, _ name: String = "out.jsonl") throws -> FileInfo {
        try Self.system.info(folder.path(name))
    }

    private func folderWithOutput(mode: mode_t) throws -> TestFolder {
        let folder = try TestFolder()
        try TestRun(lines: Self.lines).run(openStore(folder, prunes: true))
        #expect(chmod(folder.path("out.jsonl"), mode) == 0)
        return folder
    }

    @Test(arguments: [0o600, 0o640, 0o644, 0o666, 0o444, 0o604, 0o660, 0o755] as [mode_t])
    func permissionsAreKept(mode: mode_t) throws {
        let folder = try folderWithOutput(mode: mode)
        let store = try openStore(folder, prunes: true)
        #expect(store.notes.isEmpty, "\(store.notes)")
        try TestRun(lines: Self.edited, limit: 3).run(store)
        for name in ["out.jsonl.log"] {
            let own = try info(folder, name).mode
            #expect(own & 0o077 & ~UInt32(mode) == 0 && own & 0o600 == 0o600, "\(name): \(own)")
        }
        try store.finish(count: Self.edited.count)
        #expect(try info(folder).mode == UInt32(mode))
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: Self.edited).expected())
    }

    @Test func anEarlierLogIsClosedWithItsOutput() throws {
        let folder = try folderWithOutput(mode: 0o644)
        try TestRun(lines: Self.edited, limit: 1).stop(openStore(folder, prunes: true))
        #expect(chmod(folder.path("out.jsonl.log"), 0o666) == 0)
        #expect(chmod(folder.path("out.jsonl"), 0o600) == 0)
        let second = try openStore(folder, prunes: true)
        #expect(try info(folder, "out.jsonl.log").mode == 0o600)
        try second.suspend()
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away")) func ownersAreKept() throws {
        let folder = try folderWithOutput(mode: 0o640)
        #expect(chown(folder.path("out.jsonl"), 12, 34) == 0)
        let store = try openStore(folder, prunes: true)
        #expect(store.notes.isEmpty, "\(store.notes)")
        try TestRun(lines: Self.edited, limit: 3).run(store)
        // Its group is another one.
        #expect(try info(folder, "out.jsonl.log").mode == 0o600)
        try store.finish(count: Self.edited.count)
        let new = try info(folder)
        #expect(new.user == 12 && new.group == 34 && new.mode == 0o640)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func anOwnerThatCannotBeKeptIsSaidFirst() throws {
        let folder = try folderWithOutput(mode: 0o4660)
        #expect(chown(folder.path("out.jsonl"), 12, 34) == 0 && chmod(folder.path("out.jsonl"), 0o4660) == 0)
        let store = try openStore(folder, prunes: true, system: FaultyFileSystem(refusing: [.owner: EPERM]))
        let note = try #require(store.notes.first)
        #expect(note.contains("user 12, but 0; its group 34, but"), "\(note)")
        #expect(note.contains("permissions 4660, but 600"))
        try TestRun(lines: Self.edited).run(store)
        // Neither the other group nor the other user gets what theirs had.
        #expect(try info(folder).mode == 0o600)
    }

    @Test func whatCannotBeKeptAnyMoreIsAnError() throws {
        let folder = try folderWithOutput(mode: 0o600)
        let store = try openStore(folder, prunes: true)
        #expect(chmod(folder.path("out.jsonl"), 0o640) == 0)
        // The run goes by what it saw: 600.
        try TestRun(lines: Self.edited).run(store)
        #expect(try info(folder).mode == 0o600)
    }

    @Test func anotherNameIsSaidFirst() throws {
        let folder = try folderWithOutput(mode: 0o644)
        #expect(link(folder.path("out.jsonl"), folder.path("second")) == 0)
        let store = try openStore(folder, prunes: true)
        #expect(store.notes.first?.contains("2 names (hard links)") == true, "\(store.notes)")
        try store.suspend()
    }

    @Test func attributesAreKept() throws {
        let folder = try folderWithOutput(mode: 0o644)
        func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["python3", "-c", "import os, sys; " + program] + arguments
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            let text = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: text, as: UTF8.self))
        }
        let path = folder.path("out.jsonl")
        guard try run("os.setxattr(sys.argv[1], 'user.note', b'mine')", [path]).status == 0 else {
            print("skipped: no extended attributes in \(folder.url.path), or no Python on this system")
            return
        }
        let store = try openStore(folder, prunes: true)
        #expect(store.notes.isEmpty, "\(store.notes)")
        try TestRun(lines: Self.edited).run(store)
        let kept = try run("print(os.getxattr(sys.argv[1], 'user.note').decode())", [path])
        #expect(kept.output == "mine\n")
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: Self.edited).expected())
    }

    /// As in a sticky folder with somebody else's output.
    @Test(arguments: [EPERM, EACCES, EROFS, EBUSY]) func aPlaceThatCannotBeTakenIsFoundFirst(
        code: Int32
    ) throws {
        let folder = try folderWithOutput(mode: 0o644)
        let before = try folder.bytes("out.jsonl")
        let error = #expect(throws: UserError.self) {
            try openStore(folder, prunes: true, system: FaultyFileSystem(refusing: [.probe: code]))
        }
        #expect(
            error?.kind == .cannotWrite && error?.message.contains(SystemError(code: code).reason) == true)
        #expect(error?.message.contains("can't be replaced") == true, "\(error.debugDescription)")
        #expect(try folder.names == ["out.jsonl"] && folder.bytes("out.jsonl") == before)
    }

    @Test func aProbeChangesNothing() throws {
        let folder = try folderWithOutput(mode: 0o644)
        let before = try info(folder)
        try Self.system.checkReplaceable(folder.path("out.jsonl"))
        #expect(try info(folder) == before)
        // Neither does it remove an empty folder.
        try Self.system.unlink(folder.path("out.jsonl"))
        try Files.makeFolder(folder.path("empty"))
        #expect(throws: SystemError.self) { try Self.system.checkReplaceable(folder.path("empty")) }
        #expect(folder.has("empty"))
    }

    /// All names beside the output must fit too, which is found before the work.
    @Test func aNameThatIsTooLongIsFoundFirst() throws {
        let folder = try TestFolder()
        let longest = 255 - ".phibatch-first".utf8.count
        for (length, fits) in [(longest, true), (longest + 1, false)] {
            let name = String(repeating: "x", count: length)
            let open = { try LogStore(output: folder.path(name), fingerprint: testFingerprint) }
            if fits {
                try TestRun(lines: Self.lines).run(open())
                #expect(try folder.names == [name])
            } else {
                let error = #expect(throws: UserError.self) { try open() }
                #expect(error?.kind == .cannotWrite, "\(error.debugDescription)")
            }
        }
    }
}
