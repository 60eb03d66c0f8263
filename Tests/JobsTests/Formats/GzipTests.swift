import Foundation
import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs
@testable import OperatingSystem

/// Inputs packed with gzip, as gzip(1) and Python write them.
@Suite struct GzipTests {
    private static func bytes(_ base64: String) -> [UInt8] { Array(Data(base64Encoded: base64) ?? Data()) }
    /// Two lines, and one.
    private static let first = bytes(
        "H4sIAAAAAAACA6tWKijKzy0oUbJSUMrPS1Wq5apGEikpzweKAAAXk5YbJAAAAA==")
    private static let second = bytes("H4sIAAAAAAACA6tWKijKzy0oUbJSUCrJKEpNVarlAgDe1JdXFAAAAA==")

    /// As one member without compression.
    static func packed(_ text: some StringProtocol) -> [UInt8] {
        func little(_ value: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let bytes = Array(text.utf8)
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0xedb8_8320 : 0) }
        }
        let (count, header) = (UInt32(bytes.count), [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff] as [UInt8])
        return header + [1] + little(count, 2) + little(~count, 2) + bytes + little(~crc, 4)
            + little(count, 4)
    }

    private func prompts(
        _ bytes: [UInt8], name: String = "in.jsonl.gz", chunk: Int = 4096, warnings: Int = 0
    ) throws -> [JSONValue?] {
        let folder = try TestFolder()
        try folder.write(bytes, to: name)
        var reader = InputReader(paths: [folder.path(name)], chunkSize: chunk)
        var all: [JSONValue?] = []
        while let record = try reader.next() { all.append(try record.content().fields["prompt"]) }
        #expect(reader.warnings.count == warnings)
        #expect(reader.warnings.allSatisfy { $0.contains("\(name) has bytes after the end") })
        return all
    }

    /// Issue 59, 16: zeros, as on a tape, and whatever else comes after the end is left out with a warning; what begins as
    /// more of the same is read, or damaged.
    @Test func bytesAfterTheEndAreWarnedOf() throws {
        let (all, last) = (Self.first + Self.second, Array(Self.second.suffix(3)))
        for rest in [[0], [0, 0, 0], [1, 2, 3], Array("garbage".utf8), [0, 0, 7], [0x1f, 0x1f]] as [[UInt8]] {
            #expect(try prompts(all + rest, warnings: 1) == ["one", "two", "three"], "\(rest)")
        }
        #expect(try prompts(Self.first + [0, 0] + Self.second) == ["one", "two", "three"])
        for rest in [[0x1f], [0, 0x1f, 0x8b], [0x1f, 0x8b] + last] as [[UInt8]] {
            #expect(throws: UserError.self) { try prompts(all + rest) }
        }
        // Never in a file of ours.
        let folder = try TestFolder()
        try folder.write(all + [1], to: "out")
        #expect(throws: UserError.self) {
            try File.textIfPresent(folder.path("out"))
        }
    }

    /// Issue 59, 16: frames that are passed over, before the first one and between two.
    @Test(.enabled(if: (try? ZstdCodec(packs: false)) != nil, "libzstd is not there"))
    func skippableFramesArePassedOver() throws {
        func frame(_ prompt: String) -> [UInt8] {
            let text = Array("{\"prompt\":\"\(prompt)\"}\n".utf8)
            return [0x28, 0xb5, 0x2f, 0xfd, 0x20, UInt8(text.count), UInt8(text.count << 3 | 1), 0, 0] + text
        }
        func skipped(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
            [0x50 | number, 0x2a, 0x4d, 0x18, UInt8(bytes.count), 0, 0, 0] + bytes
        }
        for chunk in [1, 4096] {
            let found = try prompts(
                skipped(0, Array("hello".utf8)) + frame("one") + skipped(15, []) + frame("two"),
                name: "in.jsonl.zst", chunk: chunk)
            #expect(found == ["one", "two"])
        }
        for rest in [[0, 0], [9, 9, 9, 9, 9], [0x28, 0xb5, 0x2f, 0xfe]] as [[UInt8]] {
            #expect(try prompts(frame("one") + rest, name: "in.jsonl.zst", warnings: 1) == ["one"])
        }
        #expect(throws: UserError.self) {
            try prompts(frame("one") + [0x28, 0xb5], name: "in.jsonl.zst")
        }
    }

    @Test(arguments: [1, 7, 4096])
    func linesAreUnpacked(chunk: Int) throws {
        #expect(try prompts(Self.first, chunk: chunk) == ["one", "two"])
        #expect(
            try prompts(Self.first + Self.second, chunk: chunk) == ["one", "two", "three"], "two members")
        #expect(try prompts(Self.first, name: "whatever") == ["one", "two"], "known by its bytes")
        #expect(try prompts(Self.first, name: "in.TXT.gz").count == 2)
    }

    @Test func tooShortToBePackedIsALine() throws {
        #expect(throws: LineError.self) { try prompts([0x1f], name: "in.jsonl") }
    }
}
