import Foundation
import JSON
import OperatingSystem
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct LogDamageTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private let lines = TestLine.make(6)

    /// A log that holds all results, and no output yet.
    private func log(of lines: [TestLine]) throws -> [UInt8] {
        let folder = try TestFolder()
        try TestRun(lines: lines, limit: lines.count).stop(openStore(folder))
        return try folder.bytes("out.jsonl.log")
    }

    /// Offsets after the whole lines of results.
    private static func resultEnds(_ log: ArraySlice<UInt8>) -> [Int] {
        let end = Array("\"run\":\"\(testFingerprint.digest)\"}\n".utf8)
        return log.indices.filter { log[..<$0].suffix(end.count).elementsEqual(end) }
            + (log.suffix(end.count).elementsEqual(end) ? [log.endIndex] : [])
    }

    @Test func tornAnywhereItIsTakenUp() throws {
        let whole = try log(of: lines)
        let expected = try TestRun(lines: lines).expected()
        // As much as it takes to know it for ours.
        let least = "{\"sum\":\"0123456789abcdef\",\"phibatch_log\":".utf8.count
        for length in 0..<least {
            try folder.write(whole[..<length], to: "out.jsonl.log")
            let error = #expect(throws: UserError.self) { try openStore(folder) }
            #expect(error?.kind == .mismatch && error?.message.contains("not made by phibatch") == true)
            #expect(try folder.bytes("out.jsonl.log") == Array(whole[..<length]))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["out.jsonl.log"])
        }
        for length in least...whole.count {
            try folder.write(whole[..<length], to: "out.jsonl.log")
            let store = try openStore(folder)
            let wholeRecords = Self.resultEnds(whole[..<length]).count
            #expect(try TestRun(lines: lines).run(store) == lines.count - wholeRecords)
            #expect(try folder.bytes("out.jsonl") == expected, "cut at \(length)")
            try folder.removeOutput()
        }
    }

    @Test(arguments: [UInt8(1), 0x2a, 0x80]) func damageAnywhereCostsOneResult(mask: UInt8) throws {
        let whole = try log(of: lines)
        let expected = try TestRun(lines: lines).expected()
        for position in whole.indices {
            var bytes = whole
            bytes[position] ^= mask
            try folder.write(bytes, to: "out.jsonl.log")
            let store = try openStore(folder)
            let made = try TestRun(lines: lines).run(store)
            #expect(made <= 1, "damaged at \(position)")
            // Only a line feed can be damaged without loss.
            #expect(!store.notes.isEmpty || made == 0 && whole[position] == 0x0a)
            #expect(try folder.bytes("out.jsonl") == expected, "damaged at \(position)")
            try folder.removeOutput()
        }
    }

    @Test func strayLineFeedsAndGarbageArePassedOver() throws {
        let whole = try log(of: lines)
        let expected = try TestRun(lines: lines).expected()
        var generator = FixedRandom(7)
        for _ in 0..<300 {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                let position = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[position] = 0x0a
                case 1: bytes.insert(contentsOf: [0x0a, 0x0a, 0x7b, 0x22], at: position)
                case 2: bytes.removeSubrange(position..<min(bytes.count, position + 40))
                default:
                    bytes.insert(contentsOf: bytes[position..<min(bytes.count, position + 300)], at: position)
                }
            }
            try folder.write(bytes, to: "out.jsonl.log")
            try TestRun(lines: lines).run(openStore(folder))
            #expect(try folder.bytes("out.jsonl") == expected)
            try FileManager.default.removeItem(atPath: folder.path("out.jsonl"))
        }
    }

    @Test func damageIsCountedByLines() throws {
        var bytes = try log(of: lines)
        let feeds = bytes.indices.filter { bytes[$0] == 0x0a }
        bytes[feeds[1] - 40] ^= 1
        bytes[feeds[3] - 40] = 0x0a  // makes two of it
        try folder.write(bytes, to: "out.jsonl.log")
        let store = try openStore(folder)
        #expect(store.notes.count == 1)
        #expect(store.notes.first?.contains("3 damaged lines") == true, "\(store.notes)")
        try store.suspend()
        #expect(try openStore(folder).notes.isEmpty, "told once")
        #expect(try TestRun(lines: lines).run(openStore(folder)) == 2)
    }

    @Test func damageWhileTheRunUsesTheLogIsFoundAtTheEnd() throws {
        let store = try openStore(folder)
        try TestRun(lines: lines, limit: lines.count).run(store)
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: folder.path("out.jsonl.log")))
        let last = try #require(try Self.resultEnds(folder.bytes("out.jsonl.log")[...]).last)
        try handle.seek(toOffset: UInt64(last - 60))
        try handle.write(contentsOf: Data([0]))
        try handle.close()
        #expect {
            try store.finish(count: lines.count)
        } throws: {
            ($0 as? UserError)?.kind == .io
        }
        #expect(!folder.has("out.jsonl"))
        let again = try openStore(folder)
        #expect(try TestRun(lines: lines).run(again) == 1)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
    }

    @Test func anOutputThatIsNotOursIsLeftAlone() throws {
        let text = "{\"name\":\"mine\"}\nnot even JSON"
        try folder.write(text.utf8, to: "out.jsonl")
        #expect {
            try openStore(folder)
        } throws: {
            ($0 as? UserError)?.kind == .mismatch
        }
        #expect(try folder.text("out.jsonl") == text)
        #expect(try folder.names == ["out.jsonl"])
        let store = try openStore(folder, restart: true)
        #expect(try folder.text("out.jsonl") == text)
        try TestRun(lines: lines).run(store)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
    }

    @Test func checksumIsCRC64XZ() {
        let check = Array("123456789".utf8)
        #expect(check.withUnsafeBytes { Checksum.crc64($0) } == 0x995d_c9bb_df19_39fa)
        #expect([UInt8]().withUnsafeBytes { Checksum.crc64($0) } == 0)
    }

    @Test func longLinesAreReadWholeAndOverlongOnesSteppedOver() throws {
        let long = [UInt8](repeating: 0x61, count: 5_000_000)
        try folder.write(Array("a\n".utf8) + long + Array("\nb\n\nc".utf8), to: "text")
        let file = try File.open(folder.path("text"), .read, in: .real)
        var seen: [String] = []
        func scan(limit: Int) throws -> Int {
            seen = []
            return try file.forEachLine(maximumLength: limit) {
                seen.append("\($0.offset) \($0.bytes.count) \($0.isWhole)")
                return true
            }
        }
        #expect(try scan(limit: 1 << 30) == 5_000_006)
        #expect(seen == ["0 1 true", "2 5000000 true", "5000003 1 true", "5000005 0 true"])
        #expect(try scan(limit: 1 << 20) == 5_000_006)
        #expect(seen.count == 4)
        #expect(seen[1].hasPrefix("2 ") && seen[1].hasSuffix("false"))
        #expect(seen[2...] == ["5000003 1 true", "5000005 0 true"])
    }
}
