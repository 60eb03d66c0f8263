import Foundation
import Testing

@testable import ModelHub

/// Files of the cache against the hashes they are named by.
@Suite struct SnapshotCheckTests {
    private let temporary: TemporaryFolder
    private var folder: String { temporary.path }
    private var snapshot: String { "\(folder)/models--o--n/snapshots/\(TestHub.commit)" }
    private var blobs: String { "\(folder)/models--o--n/blobs" }

    init() throws { temporary = try TemporaryFolder() }

    private func add(_ name: String, _ content: String, as hash: String) throws {
        try FileManager.default.createDirectory(atPath: snapshot, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: blobs, withIntermediateDirectories: true)
        try Data(content.utf8).write(to: URL(filePath: "\(blobs)/\(hash)"))
        try FileManager.default.createSymbolicLink(
            atPath: "\(snapshot)/\(name)", withDestinationPath: "../../blobs/\(hash)")
    }

    @Test func verdicts() throws {
        let large = String(repeating: "weights ", count: 300_000)
        let (sha256, git) = (TestHub.sha256(Array(large.utf8)), TestHub.git(Array("{}".utf8)))
        try add("a.safetensors", large, as: sha256)
        try add("b.json", "{}", as: git)
        try add("c.json", "{ }", as: String(git.reversed()))
        try add("d.safetensors", large + "!", as: String(sha256.reversed()))
        try add("e.json", "{}", as: "a-mirrors-own-tag")
        try add("f.json", "{}", as: String(repeating: "0", count: 40))
        try FileManager.default.removeItem(atPath: "\(blobs)/\(String(repeating: "0", count: 40))")
        try Data("mine".utf8).write(to: URL(filePath: "\(snapshot)/g.txt"))

        let found = try #require(HubCache.verdicts(on: snapshot, threads: 3))
        #expect(
            found.map(\.name) == [
                "a.safetensors", "b.json", "c.json", "d.safetensors", "e.json", "f.json", "g.txt",
            ])
        let verdicts = found.map(\.verdict)
        #expect(verdicts[0] == .right && verdicts[1] == .right)
        for (number, words) in [(2, "another hash"), (3, "another hash"), (5, "not there")] {
            guard case .wrong(let reason) = verdicts[number] else {
                Issue.record("\(found[number].name) passes")
                continue
            }
            #expect(reason.contains(words))
        }
        #expect(verdicts[4] == .unknown && verdicts[6] == .unknown)
    }

    @Test func otherFoldersHaveNoHashes() throws {
        #expect(HubCache.verdicts(on: folder) == nil)
        #expect(HubCache.verdicts(on: "\(folder)/nowhere") == nil)
    }
}
