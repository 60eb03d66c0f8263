import Foundation
import OperatingSystem
import TestSupport
import Testing

struct FilesTests {
    private let temporary: TemporaryFolder
    private var top: String { temporary.path }

    init() throws { temporary = try TemporaryFolder() }

    /// Steps up go where a link leads nowhere else.
    @Test func pathsAreJoinedShortly() throws {
        try Files.makeFolder(top + "/jobs/more")
        try FileManager.default.createSymbolicLink(atPath: top + "/link", withDestinationPath: "jobs/more")
        for (folder, name, expected) in [
            ("/jobs", "../out/a", "/out/a"), ("/jobs/more", "../../a", "/a"),
            ("/jobs/more/", ".././../a", "/a"),
            ("/jobs", ".//..//a", "/a"), ("/jobs", "./a", "/jobs/a"), ("/jobs", "a/../b", "/jobs/a/../b"),
            ("/link", "../a", "/link/../a"), ("/none", "../a", "/none/../a"), ("/jobs", "..", "/jobs/.."),
            ("/jobs", "..a/b", "/jobs/..a/b"),
        ] {
            #expect(Files.joined(top + folder, name) == top + expected, "\(folder) \(name)")
        }
        for (folder, name, expected) in [(".", "../a", "../a"), ("..", "../a", "../../a"), ("", "a", "a")] {
            #expect(Files.joined(folder, name) == expected)
        }
        #expect(Files.joined(top + "/jobs", "/a/../b") == "/a/../b")
        // Bytes that are no UTF-8 stay what they are.
        let odd = String(pathBytes: [0x61, 0xFF])
        #expect(Files.joined(top + "/jobs", "../" + odd).pathBytes == (top + "/").pathBytes + [0x61, 0xFF])
    }

    @Test func namesOfAnyBytes() throws {
        // Its name is not UTF-8.
        let folder = Paths.join(top, String(pathBytes: [0x66, 0xFF]))
        try Files.makeFolder(Paths.join(folder, "deep/er"))
        let name = String(pathBytes: [0x61, 0xE9, 0x2E, 0xFE])
        let path = Paths.join(folder, name)
        try Files.replaceContents(of: path, with: [1, 2, 3])
        #expect(try Files.contents(of: path) == [1, 2, 3])
        #expect(try Files.contents(of: path, limit: 2) == [1, 2])
        #expect(Files.kind(of: path) == .regular && Files.kind(of: folder) == .folder)
        #expect(try Files.names(in: folder).sorted() == [name, "deep"].sorted())
        let canonical = try #require(Files.canonicalPath(path))
        #expect(canonical.utf8.elementsEqual(path.utf8) || canonical.hasSuffix(name))
        // The repaired name is another one.
        let repaired = Paths.join(folder, String(decoding: name.pathBytes, as: UTF8.self))
        #expect(Files.kind(of: repaired) == nil)
        #expect(Files.identity(of: path) == Files.identity(of: Paths.join(folder, "deep/../\(name)")))
    }

    @Test func failuresSayWhy() {
        #expect(throws: SystemError.self) { try Files.names(in: "/no/such/folder") }
        let failure = #expect(throws: SystemError.self) { try Files.contents(of: "/no/such/file") }
        #expect(failure?.isNotFound == true && failure?.reason.isEmpty == false)
        let above = #expect(throws: SystemError.self) { try Files.makeFolder("/dev/null/folder") }
        #expect(above?.reason == "Not a directory")
    }
}
