import Foundation
import OperatingSystem
import Testing

@testable import PhiModel

/// Whatever is wrong with a file of kept keys and values, it is not used.
@Suite struct PrefixFileTests {
    private static let head = PrefixFile.head("arithmetic 1\nbranch 0\n", Array(3..<70))

    private final class Block {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 64)
        init() { memory.initializeMemory(as: UInt8.self, repeating: 7) }
        deinit { memory.deallocate() }
        var bytes: [UInt8] { Array(memory) }
    }

    private static func write(_ folder: URL) throws -> (path: String, content: [UInt8]) {
        let block = Block()
        for index in block.memory.indices { block.memory[index] = UInt8(truncatingIfNeeded: index * 31 + 1) }
        let path = folder.path + "/kv-1.prefix"
        let file = try Platform.NewFile(path: path)
        try PrefixFile.write(UnsafeRawBufferPointer(block.memory), head: head, to: file)
        return (path, block.bytes)
    }

    private static func read(_ path: String, head: [UInt8], into block: UnsafeMutableRawBufferPointer) throws
        -> PrefixFile.Outcome
    {
        let folder = try OwnFolder(Paths.folder(of: path))
        return PrefixFile.read(
            String(path.split(separator: "/").last ?? ""), in: folder, head: head, into: block)
    }

    @Test func whatWasWrittenIsRead() throws {
        try withTemporaryFolder { folder in
            let (path, content) = try Self.write(folder)
            let block = Block()
            #expect(try Self.read(path, head: Self.head, into: block.memory) == .read)
            #expect(block.bytes == content)
            #expect(try Self.read(path + "x", head: Self.head, into: block.memory) == .absent)
        }
    }

    @Test func everyDamagedByteAndEveryLengthIsSeen() throws {
        try withTemporaryFolder { folder in
            let (path, content) = try Self.write(folder)
            let whole = try Data(contentsOf: URL(filePath: path))
            let file = try FileHandle(forUpdating: URL(filePath: path))
            var wrong: [String] = []
            func check(_ what: String) {
                let block = Block()
                if case .unusable? = try? Self.read(path, head: Self.head, into: block.memory) {
                    // As it was, or zero: never what the file has.
                    if Set(block.bytes).count == 1 { return }
                }
                wrong.append(what)
            }
            for (offset, byte) in whole.enumerated() {
                for (value, ends) in [(byte ^ 1 << (offset % 8), false), (byte, true)] {
                    try file.seek(toOffset: UInt64(offset))
                    try file.write(contentsOf: [value])
                    if !ends { check("byte \(offset)") }
                }
            }
            for count in stride(from: 0, to: whole.count, by: 5) {
                try whole.prefix(count).write(to: URL(filePath: path))
                check("\(count) bytes")
            }
            try (whole + [0]).write(to: URL(filePath: path))
            check("a byte more")
            #expect(wrong.isEmpty)
            try whole.write(to: URL(filePath: path))
            let block = Block()
            #expect(
                try Self.read(path, head: Self.head, into: block.memory) == .read && block.bytes == content)
        }
    }

    @Test func othersFilesAreNotUsed() throws {
        try withTemporaryFolder { folder in
            let (path, _) = try Self.write(folder)
            for head in [
                PrefixFile.head("arithmetic 2\nbranch 0\n", Array(3..<70)),
                PrefixFile.head("arithmetic 1\nbranch 1\n", Array(3..<70)),
                PrefixFile.head("arithmetic 1\nbranch 0\n", Array(3..<69) + [7]),
                PrefixFile.head("arithmetic 1\nbranch 0\n", Array(3..<71)),
            ] {
                let block = Block()
                guard case .unusable = try Self.read(path, head: head, into: block.memory) else {
                    Issue.record("it is used")
                    continue
                }
                #expect(Set(block.bytes) == [7])
            }
            let link = folder.path + "/kv-2.prefix"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
            let inner = folder.path + "/kv-3.prefix"
            try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
            for other in [link, inner] {
                guard case .unusable = try Self.read(other, head: Self.head, into: Block().memory) else {
                    Issue.record("\(other) is used")
                    continue
                }
            }
        }
    }
}
