import Foundation
import TestSupport
import Testing

@testable import OperatingSystem

/// Where paths lead, be there anything or not yet.
@Suite struct FileDestinationTests {
    private let temporary: TemporaryFolder
    private let folder: String

    init() throws {
        temporary = try TemporaryFolder()
        folder = try #require(Files.canonicalPath(temporary.path))
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    @Test func linksAndWhatIsNotThereYet() throws {
        try Files.makeFolder(folder + "/there")
        try link(folder + "/l", to: "there/new")
        try link(folder + "/again", to: "l")
        try link(folder + "/below", to: "nowhere")
        try link(folder + "/loop", to: "loop")
        for (path, destination) in [
            ("there", "there"), ("there/.", "there"), ("x", "x"), ("./there/../x", "x"),
            ("l", "there/new"),
            ("again", "there/new"), ("below/o", "nowhere/o"), ("n/../x", "x"), ("n/./x", "n/x"),
            ("loop", "loop"), ("there/", "there"),
        ] {
            #expect(Files.destination(of: folder + "/" + path) == folder + "/" + destination, "\(path)")
        }
        #expect(Files.destination(of: "/") == "/")
        #expect(Paths.isAbsolute(Files.destination(of: "nowhere-at-all")))
    }

    @Test func patternsFitFilesThatAreNotThereYet() throws {
        try Files.makeFolder(folder + "/data")
        try link(folder + "/out", to: "data/o.jsonl")
        for (pattern, path, fits) in [
            ("data/*.jsonl", "data/o.jsonl", true), ("data/*.jsonl", "./data/../data/o.jsonl", true),
            ("data/*.jsonl", "out", true), ("data/*.jsonl", "data/o.txt", false),
            ("*", "data/o.jsonl", false),
            ("data/*", "data/.o", false), ("d*/[a-o].jsonl", "data/o.jsonl", true), ("o*", "out", true),
            ("d*/*", "o.jsonl", false),
        ] {
            #expect(
                Files.pattern(folder + "/" + pattern, fits: folder + "/" + path) == fits,
                "\(pattern), \(path)")
        }
    }
}
