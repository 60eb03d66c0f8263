import Crypto
import Foundation
import Foundations
import PhiModel

/// The part of a run's fingerprint that a model folder gives.
///
/// Small files are hashed whole. Of a weights file its size, its header (each tensor's name, type,
/// shape and place) and a fixed sample of its data are hashed, so that gigabytes cost milliseconds;
/// weights trained or quantized anew differ nearly everywhere, so a sample finds them. Times and
/// paths don't count: a copied folder is the same model.
public enum ModelFingerprint {
    private static let modelFiles = ["config.json", "generation_config.json", "model.safetensors.index.json"]
    private static let tokenizerFiles = [
        "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
        "chat_template.jinja", "chat_template.json",
    ]
    private static let sampleBlocks = 64
    private static let blockSize = 4096
    private static let maximumHeader = 256 << 20

    /// - Returns: parts of the groups `model` and `tokenizer`, always in the same order.
    /// - Throws: `ModelError` if the folder or a file can't be read, or holds no weights.
    public static func parts(folder: URL) throws -> [(String, String)] { try parts(folder: folder.path) }

    /// As with a URL.
    public static func parts(folder: String) throws -> [(String, String)] {
        let names: [String]
        do {
            names = try Files.names(in: folder)
        } catch {
            throw ModelError(.missing, path: folder, "the model folder cannot be read: \(error.reason).")
        }
        let present = Set(names)
        let weights = names.filter { $0.utf8.reversed().starts(with: ".safetensors".utf8.reversed()) }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        guard !weights.isEmpty else {
            throw ModelError(.missing, path: folder, "the model folder has no *.safetensors file.")
        }
        var parts: [(String, String)] = []
        do {
            for name in modelFiles where present.contains(name) {
                parts.append(("model.\(name)", try wholeFile(Paths.join(folder, name))))
            }
            for name in weights {
                parts.append(("model.\(name)", try weightsFile(Paths.join(folder, name))))
            }
            for name in tokenizerFiles where present.contains(name) {
                parts.append(("tokenizer.\(name)", try wholeFile(Paths.join(folder, name))))
            }
        } catch let error as StoreError {
            throw ModelError(.missing, path: error.path, error.message)
        }
        return parts
    }

    private static func open(_ path: String) throws -> (file: File, size: Int) {
        let file = try File.open(path, .read, in: POSIXFileSystem())
        let info = try file.info()
        guard info.kind == .regular else {
            throw ModelError(.malformed, path: path, "is not a regular file.")
        }
        return (file, info.size)
    }

    private static func wholeFile(_ path: String) throws -> String {
        let (file, size) = try open(path)
        return "\(size) bytes, sha256 \(try hash(file, 0..<size))"
    }

    private static func weightsFile(_ path: String) throws -> String {
        let (file, size) = try open(path)
        var prefix = [UInt8](repeating: 0, count: 8)
        guard try prefix.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) }) == 8 else {
            throw ModelError(.malformed, path: path, "is too short for a safetensors file.")
        }
        let stated = prefix.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard stated <= UInt64(min(size - 8, maximumHeader)) else {
            throw ModelError(
                .malformed, path: path, "its header length (\(stated) bytes) goes beyond the file's end.")
        }
        let dataStart = 8 + Int(stated)
        let header = try hash(file, 8..<dataStart)
        var sample = SHA256()
        for range in sampleRanges(dataStart..<size) { try update(&sample, file, range) }
        let digest = Hexadecimal.text(sample.finalize().prefix(16))
        return "\(size) bytes, header \(header), sampled weights \(digest)"
    }

    /// Evenly spaced blocks, the first and the last included; all of a short file.
    static func sampleRanges(_ data: Range<Int>) -> [Range<Int>] {
        guard data.count > sampleBlocks * blockSize else { return [data] }
        let last = data.count - blockSize
        return (0..<sampleBlocks).map { block in
            let (whole, remainder) = last.quotientAndRemainder(dividingBy: sampleBlocks - 1)
            let start = data.lowerBound + block * whole + block * remainder / (sampleBlocks - 1)
            return start..<start + blockSize
        }
    }

    private static func hash(_ file: File, _ range: Range<Int>) throws -> String {
        var hash = SHA256()
        try update(&hash, file, range)
        return Hexadecimal.text(hash.finalize().prefix(16))
    }

    private static func update(_ hash: inout SHA256, _ file: File, _ range: Range<Int>) throws {
        var buffer = [UInt8](repeating: 0, count: min(range.count, 1 << 20))
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = min(buffer.count, range.upperBound - offset)
            let count = try buffer.withUnsafeMutableBytes { bytes in
                let count = try file.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<wanted]), at: offset)
                hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                return count
            }
            guard count == wanted else {
                throw ModelError(.malformed, path: file.path, "became shorter while it was read.")
            }
            offset += count
        }
    }
}
