import Foundation
import OperatingSystem
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Whatever has the name of one of our files and isn't ours is left as it is.
@Suite struct RunFileTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static let lines = TestLine.make(3)
    private static let names = [
        "log", "phibatch-new", "phibatch-log", "phibatch-first",
    ].map { "out.jsonl." + $0 }

    private func refused(_ folder: TestFolder, _ what: String) throws {
        let before = try folder.names
        for restart in [false, true] {
            let error = #expect(throws: UserError.self, "\(what)") {
                try openStore(folder, restart: restart)
            }
            #expect(error?.kind == .mismatch, "\(what): \(error.debugDescription)")
            #expect(
                error?.message.contains("left as it is; move it away") == true, "\(error.debugDescription)")
            #expect(error?.place == folder.path(what), "\(what)")
        }
        #expect(try folder.names == before, "\(what)")
    }

    @Test(arguments: names) func foreignFilesStay(name: String) throws {
        for text in ["precious", "{\"sum\":\"x", "{\"id\":1}\n"] {
            // A draft of ours may begin so.
            if name.contains("phibatch"), text.hasPrefix("{") { continue }
            let folder = try TestFolder()
            try folder.write(text.utf8, to: name)
            try refused(folder, name)
            #expect(try folder.text(name) == text)
        }
    }

    @Test func anEmptyLogStays() throws {
        try folder.write([], to: "out.jsonl.log")
        try refused(folder, "out.jsonl.log")
    }

    @Test(arguments: names) func linksAreNotFollowed(name: String) throws {
        try folder.write("precious".utf8, to: "target")
        for target in ["target", "nowhere"] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path(name), withDestinationPath: target)
            try refused(folder, name)
            #expect(try folder.text("target") == "precious" && !folder.has("nowhere"))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path(name)) == target)
            try FileManager.default.removeItem(atPath: folder.path(name))
        }
    }

    @Test(arguments: names) func foldersAndPipesStay(name: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder.path(name), withIntermediateDirectories: false)
        try refused(folder, name)
        try FileManager.default.removeItem(atPath: folder.path(name))
        #expect(mkfifo(folder.path(name), 0o600) == 0)
        try refused(folder, name)
    }

    /// A link to a log that is ours is a link all the same.
    @Test func aLinkToALogIsNotFollowed() throws {
        try TestRun(lines: Self.lines, limit: 2).stop(openStore(folder))
        let bytes = try folder.bytes("out.jsonl.log")
        try FileManager.default.moveItem(
            atPath: folder.path("out.jsonl.log"), toPath: folder.path("elsewhere"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("out.jsonl.log"), withDestinationPath: "elsewhere")
        try refused(folder, "out.jsonl.log")
        #expect(try folder.bytes("elsewhere") == bytes)
        #expect(throws: UserError.self) { try JobStatus(output: folder.path("out.jsonl")) }
    }

    @Test func whatAKilledRunLeftIsRemoved() throws {
        let left: [(String, String)] = [
            ("phibatch-new", ""), ("phibatch-new", "{\"id\":\"a\",\"in"), ("phibatch-new", "{\"i"),
            ("phibatch-new", "\0\0\0\0"), ("phibatch-log", "{\"sum\":\"00"), ("phibatch-log", ""),
            ("phibatch-first", ""), ("phibatch-first", "{\"sum\":\""),
        ]
        for (name, text) in left {
            let folder = try TestFolder()
            try folder.write(text.utf8, to: "out.jsonl." + name)
            try TestRun(lines: Self.lines).run(openStore(folder))
            #expect(try folder.names == ["out.jsonl"], "\(name): \(text)")
        }
    }

    /// Somebody removed the log of a run that is alive.
    @Test func aDraftThatARunIsWritingStays() throws {
        let system = FileSystem.real
        for name in ["phibatch-new", "phibatch-log", "phibatch-first"] {
            let folder = try TestFolder()
            let file = try File.draft(folder.path("out.jsonl." + name), in: system)
            let error = #expect(throws: UserError.self) { try openStore(folder) }
            #expect(error?.kind == .locked, "\(name): \(error.debugDescription)")
            #expect(try file.isInPlace())
        }
    }

    /// What comes to stand in our places while the run goes on is nobody's to replace.
    @Test(arguments: ["out.jsonl", "out.jsonl.log"])
    func whatAppearsMeanwhileStays(name: String) throws {
        let store = try openStore(folder)
        try? FileManager.default.removeItem(atPath: folder.path(name))
        try folder.write("precious".utf8, to: name)
        let error = #expect(throws: UserError.self) { try TestRun(lines: Self.lines).run(store) }
        #expect(error?.kind == .io && error?.place == folder.path(name), "\(error.debugDescription)")
        try store.suspend()
        #expect(try folder.text(name) == "precious")
        try FileManager.default.removeItem(atPath: folder.path(name))
        try TestRun(lines: Self.lines).run(openStore(folder))
        #expect(try folder.names == ["out.jsonl"])
    }

    @Test func anOutputThatIsExchangedMeanwhileStays() throws {
        try TestRun(lines: Self.lines).run(openStore(folder))
        let edited = TestLine.make(3, "edited")
        let store = try openStore(folder)
        // Another file of that name; the old one stays, so that its number is not given again.
        try FileManager.default.moveItem(atPath: folder.path("out.jsonl"), toPath: folder.path("old"))
        try folder.write("precious".utf8, to: "out.jsonl")
        #expect(throws: UserError.self) { try TestRun(lines: edited).run(store) }
        try store.suspend()
        #expect(try folder.text("out.jsonl") == "precious")
    }

    @Test func setAsideLogsReplaceNothing() throws {
        for _ in 1...2 {
            try TestRun(lines: Self.lines, limit: 1).stop(openStore(folder))
            // Even a link that leads nowhere holds its name.
            if !folder.has("out.jsonl.old-2.log") {
                try? FileManager.default.createSymbolicLink(
                    atPath: folder.path("out.jsonl.old-1.log"), withDestinationPath: "nowhere")
            }
            try openStore(folder, restart: true).suspend()
        }
        let link = folder.path("out.jsonl.old-1.log")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "nowhere")
        #expect(folder.has("out.jsonl.old-2.log") && folder.has("out.jsonl.old-3.log"))
    }
}
