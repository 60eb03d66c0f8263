import Foundation
import OperatingSystem
import TestSupport
import Testing

struct OpenFolderTests {
    private let temporary: TemporaryFolder
    private var top: String { temporary.path }

    init() throws { temporary = try TemporaryFolder() }

    private func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: top + "/" + name)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test func filesAreMadeBelow() throws {
        let folder = try OpenFolder(top, mode: 0o700)
        try folder.write("one", to: "a/b/c")
        try folder.write("two", to: "a/b/c")
        try folder.link("a/link", to: "b/c")
        try folder.link("a/link", to: "b/d")
        try folder.rename("a/b/c", to: "x/d")
        #expect(try Files.contents(of: top + "/x/d") == Array("two".utf8))
        #expect(try Files.linkTarget(of: top + "/a/link") == "b/d")
        #expect(try Files.names(in: top + "/a").sorted() == ["b", "link"])
        #expect(try mode("a") == 0o700 && mode("x") == 0o700 && mode("x/d") == 0o600)
    }

    @Test func noLinkIsFollowed() throws {
        try Files.makeFolder(top + "/elsewhere")
        try Files.replaceContents(of: top + "/elsewhere/file", with: [1])
        let folder = try OpenFolder(top + "/cache")
        try folder.link("out", to: "../elsewhere")
        try folder.link("file", to: "../elsewhere/file")
        for name in ["out/a", "out/file", "out/a/b", "../elsewhere/a", "/a", "", "a/../../elsewhere/a"] {
            #expect(throws: SystemError.self, "\(name)") { try folder.write("x", to: name) }
            #expect(throws: SystemError.self, "\(name)") { try folder.link(name, to: "x") }
            #expect(throws: SystemError.self, "\(name)") { try folder.folder(name) }
            #expect(throws: SystemError.self, "\(name)") { try folder.file(name) }
        }
        #expect(throws: SystemError.self) { try folder.file("file") }
        // What is replaced is the link.
        try folder.write("x", to: "file")
        #expect(try Files.names(in: top + "/elsewhere") == ["file"])
        #expect(try Files.contents(of: top + "/elsewhere/file") == [1])
    }
}
