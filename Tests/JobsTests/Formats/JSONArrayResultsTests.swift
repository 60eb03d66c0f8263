import Foundation
import JSON
import OperatingSystem
import Testing

@testable import Jobs

/// Outputs that are one JSON array.
@Suite struct JSONArrayResultsTests {
    private func open(
        _ folder: TestFolder, errors: String? = nil, restart: Bool = false
    ) throws -> LogStore {
        try openStore(folder, format: ResultFormat.json, errors: errors, restart: restart)
    }

    /// The native lines as elements.
    private func array(_ lines: [TestLine]) throws -> String {
        let native = String(decoding: try TestRun(lines: lines).expected(), as: UTF8.self).split(
            separator: "\n")
        return native.isEmpty ? "[]\n" : "[\n" + native.joined(separator: ",\n") + "\n]\n"
    }

    @Test(arguments: [0, 1, 2, 20])
    func elementsAreNativeLines(count: Int) throws {
        var lines = TestLine.make(count)
        if count > 10 { lines[4].fails = true }
        let folder = try TestFolder()
        let first = try open(folder)
        try TestRun(lines: lines, limit: count / 2).run(first)
        try first.suspend()
        #expect(!folder.has("out.jsonl"))
        try TestRun(lines: lines).run(open(folder))
        #expect(try folder.text("out.jsonl") == array(lines))
        #expect(
            try JSONValue(parsing: folder.bytes("out.jsonl"), limits: .ownLine).kindName == "a list")
        #expect(try folder.faults() == [])
        let again = try open(folder)
        #expect(try TestRun(lines: lines, redoesFailed: false).run(again) == 0)
        #expect(!again.didReplaceOutput && again.notes.isEmpty)
        let status = try JobStatus(output: folder.path("out.jsonl"))
        #expect(status.done == count && status.state == .complete)
    }

    @Test func aStreamHasItsEndOnceItIsComplete() throws {
        let folder = try TestFolder()
        for count in [0, 5] {
            let descriptor = try FileSystem.real.open(folder.path("stream-\(count)"), .createNew())
            let store = StreamStore(
                descriptor: descriptor, fingerprint: testFingerprint, format: ResultFormat.json)
            try TestRun(lines: TestLine.make(count)).run(store)
            #expect(try folder.text("stream-\(count)") == array(TestLine.make(count)))
        }
    }
}
