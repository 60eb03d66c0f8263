import Essentials
import OperatingSystem

/// A file of the cache with one block of keys and values at the beginning of prompts.
///
/// First comes a head: a text that says whose they are (the model's files by their hashes, the arithmetic, the
/// precision), and all tokens from the beginning of the prompt to the end of the block. Then a checksum of the block,
/// and the block. A reader knows what it needs, so it makes the same head and compares: nothing in the file has to be
/// parsed, and no hash is trusted.
enum PrefixFile {
    static let mark = Array("phibatch kept prefix\n".utf8)
    /// The version of this format. Files of other versions have other names, and go when they are the oldest.
    static let version = 1

    /// - Parameter text: what keys and values depend on beside the tokens.
    static func head(_ text: String, _ tokens: some Collection<Int32>) -> [UInt8] {
        var head = mark + Array(text.utf8)
        head += repeatElement(0, count: head.count.rounded(up: 8) - head.count)
        for number in [UInt64(tokens.count)] { withUnsafeBytes(of: number.littleEndian) { head += $0 } }
        for token in tokens { withUnsafeBytes(of: token.littleEndian) { head += $0 } }
        head += repeatElement(0, count: head.count.rounded(up: 8) - head.count)
        return head
    }

    enum Outcome: Equatable {
        case read
        /// There is no such file any more.
        case absent
        /// What is there can't be used, for this reason.
        case unusable(String)
    }

    /// Reads what `write` has written. What comes into `block` counts only if it is all right, and is zeroed
    /// otherwise.
    static func read(
        _ name: String, in folder: OwnFolder, head: [UInt8], into block: UnsafeMutableRawBufferPointer
    ) -> Outcome {
        do throws(FileFault) {
            let file = try folder.file(name)
            let path = file.path
            let size = head.count + 8 + block.count
            guard try file.state().size == size else { return .unusable("\(path) is not whole") }
            var found = [UInt8](repeating: 0, count: head.count + 8)
            let count = try read(file, into: &found)
            guard count == found.count, found.starts(with: head) else {
                return .unusable("\(path) does not hold what its name says")
            }
            let sum = found.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: head.count, as: UInt64.self)
            }
            let isWhole: Bool
            do throws(FileFault) {
                isWhole = try file.read(into: block, at: found.count) == block.count
            } catch {
                zero(block)
                throw error
            }
            if isWhole, BlockChecksum.of(UnsafeRawBufferPointer(block)) == UInt64(littleEndian: sum) {
                return .read
            }
            zero(block)
            return .unusable("\(path) is damaged")
        } catch {
            return error.isMissing ? .absent : .unusable("\(error.path) \(error.reason)")
        }
    }

    private static func read(_ file: OpenFile, into bytes: inout [UInt8]) throws(FileFault) -> Int {
        var result: Result<Int, FileFault> = .success(0)
        bytes.withUnsafeMutableBytes { bytes in
            do throws(FileFault) { result = .success(try file.read(into: bytes, at: 0)) } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    /// Garbage, in what is free memory again, might be infinite where others expect numbers.
    private static func zero(_ block: UnsafeMutableRawBufferPointer) {
        block.initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// - Throws: `Platform.Failure`.
    static func write(_ block: UnsafeRawBufferPointer, head: [UInt8], to file: Platform.NewFile)
        throws(Platform.Failure)
    {
        try file.resize(head.count + 8 + block.count)
        var head = head
        withUnsafeBytes(of: BlockChecksum.of(block).littleEndian) { head += $0 }
        try file.write(head, at: 0)
        try file.write(block, at: head.count)
    }
}

extension Platform.NewFile {
    func write(_ bytes: [UInt8], at offset: Int) throws(Platform.Failure) {
        var result: Result<Void, Platform.Failure> = .success(())
        bytes.withUnsafeBytes { bytes in
            do throws(Platform.Failure) { try write(bytes, at: offset) } catch { result = .failure(error) }
        }
        try result.get()
    }
}
