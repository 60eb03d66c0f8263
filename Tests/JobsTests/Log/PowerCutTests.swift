import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Disk of which each change is noted, so that it can be made as it may be when the power goes after any of them.
final class PowerCutDisk {
    enum Change {
        case make(String, Int32)
        case open(String, Int32)
        case write(Int32, Int, [UInt8])
        case truncate(Int32, Int)
        case sync(Int32)
        case rename(String, String)
        case unlink(String)
        case link(String, String)
    }

    /// What becomes of bytes that were not synced, and of names that no folder was synced with.
    enum Loss: CaseIterable {
        case bytes, zeros, half, firstBlock, names
    }

    private struct Node {
        var now: [UInt8] = []
        var synced: [UInt8] = []
    }

    var changes: [Change] = []
    private let folder: String
    private let start: [String: [UInt8]]

    init(_ folder: TestFolder) throws {
        self.folder = folder.url.path
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        start = try Dictionary(uniqueKeysWithValues: names.map { (folder.path($0), try folder.bytes($0)) })
    }

    /// The files by their names, after so many changes.
    func files(after count: Int, _ loss: Loss) -> [String: [UInt8]] {
        var nodes = start.values.map { Node(now: $0, synced: $0) }
        var names = Dictionary(uniqueKeysWithValues: zip(start.keys, nodes.indices))
        var durable = names
        var open: [Int32: Int] = [:]
        for change in changes.prefix(count) {
            switch change {
            case .make(let path, let descriptor):
                nodes.append(Node())
                if !path.isEmpty { names[path] = nodes.count - 1 }
                open[descriptor] = nodes.count - 1
            case .open(let path, let descriptor): open[descriptor] = path == folder ? -1 : names[path]
            case .write(let descriptor, let offset, let bytes):
                guard let node = open[descriptor], node >= 0 else { continue }
                let end = offset + bytes.count
                if nodes[node].now.count < end {
                    nodes[node].now += [UInt8](repeating: 0, count: end - nodes[node].now.count)
                }
                nodes[node].now.replaceSubrange(offset..<end, with: bytes)
            case .truncate(let descriptor, let size):
                if let node = open[descriptor] { nodes[node].now = Array(nodes[node].now.prefix(size)) }
            case .sync(let descriptor):
                guard let node = open[descriptor] else { continue }
                if node < 0 { durable = names } else { nodes[node].synced = nodes[node].now }
            case .rename(let from, let to):
                names[to] = names[from]
                names[from] = nil
            case .unlink(let path): names[path] = nil
            case .link(let path, let name): names[name] = names[path]
            }
        }
        return (loss == .names ? durable : names).mapValues { Self.content(nodes[$0], loss) }
    }

    private static func content(_ node: Node, _ loss: Loss) -> [UInt8] {
        let more = node.now.count - node.synced.count
        guard node.now != node.synced, more >= 0 else { return node.synced }
        switch loss {
        case .bytes, .names: return node.synced
        case .zeros: return node.synced + [UInt8](repeating: 0, count: more)
        case .half: return Array(node.now.prefix(node.synced.count + more / 2))
        case .firstBlock:
            let lost = min(node.now.count, 4096)
            return node.synced.isEmpty
                ? [UInt8](repeating: 0, count: lost) + node.now[lost...] : Array(node.now)
        }
    }
}

/// The power goes after any change of a file: the same command goes on to the same bytes, and what a run has said that it
/// has done is there.
@Suite struct PowerCutTests {
    private static let lines = TestLine.make(9)
    private static var edited: [TestLine] {
        var edited = lines
        // Several blocks long.
        edited[2].content = String(repeating: "edited ", count: 1500)
        edited.swapAt(0, 7)
        return edited
    }

    @Test(arguments: [false, true]) func afterAnyChangeTheRunGoesOn(hasOutput: Bool) throws {
        let folder = try TestFolder()
        if hasOutput { try TestRun(lines: Self.lines).run(openStore(folder)) }
        let expected = try TestRun(lines: Self.edited).expected()
        let disk = try PowerCutDisk(folder)
        let system = FaultyFileSystem()
        system.disk = disk
        // Stopped in the middle, and taken up.
        try TestRun(lines: Self.edited, limit: hasOutput ? 1 : 4).stop(openStore(folder, system: system))
        try TestRun(lines: Self.edited).run(openStore(folder, system: system))
        for count in 0...disk.changes.count {
            for loss in PowerCutDisk.Loss.allCases {
                let what: Comment = "after change \(count) of \(disk.changes.count), \(loss) lost"
                let after = try TestFolder()
                for (path, bytes) in disk.files(after: count, loss) {
                    try after.write(bytes, to: URL(filePath: path).lastPathComponent)
                }
                if count == disk.changes.count {
                    #expect(try after.bytes("out.jsonl") == expected, what)
                }
                try TestRun(lines: Self.edited).run(openStore(after))
                #expect(try after.bytes("out.jsonl") == expected, what)
            }
        }
    }
}
