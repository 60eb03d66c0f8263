import Foundation
import TestSupport

@testable import PhiModel

/// A folder that is gone when the test is.
final class ScratchFolder {
    let path: String
    var url: URL { URL(fileURLWithPath: path) }

    init() throws {
        path = NSTemporaryDirectory() + "phibatch-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    @discardableResult
    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + name))
        return path + "/" + name
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }
}

/// A file for many contents in turn. Foundation waits for the disk on each whole-file write; this does not.
final class RewrittenFile {
    let path: String
    private let handle: FileHandle

    init(in folder: ScratchFolder) throws {
        path = try folder.write("rewritten", "")
        handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }

    func set(_ bytes: [UInt8]) throws {
        try handle.seek(toOffset: 0)
        try handle.write(contentsOf: bytes)
        try handle.truncate(atOffset: UInt64(bytes.count))
    }
}

/// A tensor as a test writes it.
struct TestTensor {
    let name: String
    let type: String
    let shape: [Int]
    let bytes: [UInt8]

    init(_ name: String, _ type: String, _ shape: [Int], _ bytes: [UInt8]) {
        self.name = name
        self.type = type
        self.shape = shape
        self.bytes = bytes
    }

    /// Zeros of the size that type and shape ask for.
    init(zeros name: String, _ type: String, _ shape: [Int]) {
        let size = TensorType(name: type).itemSize ?? 1
        self.init(name, type, shape, [UInt8](repeating: 0, count: shape.reduce(size, *)))
    }
}

enum TestSafetensors {
    static func file(header: String, data: [UInt8] = []) -> [UInt8] {
        withUnsafeBytes(of: UInt64(header.utf8.count).littleEndian) { Array($0) } + Array(header.utf8) + data
    }

    static func file(_ tensors: [TestTensor]) -> [UInt8] {
        var entries = ["\"__metadata__\": {\"format\": \"mlx\"}"]
        var data: [UInt8] = []
        for tensor in tensors {
            let end = data.count + tensor.bytes.count
            entries.append(
                "\"\(tensor.name)\": {\"dtype\": \"\(tensor.type)\", \"shape\": \(tensor.shape), "
                    + "\"data_offsets\": [\(data.count), \(end)]}")
            data += tensor.bytes
        }
        return file(header: "{\(entries.joined(separator: ", "))}", data: data)
    }
}

extension FixedRandom {
    /// Some bytes changed: single ones, runs, or a number of eight bytes.
    mutating func mutated(_ bytes: [UInt8], within count: Int) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &self) {
            let place = Int.random(in: 0..<count, using: &self)
            switch Int.random(in: 0..<4, using: &self) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &self)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 2: bytes[place] = UInt8(ascii: "9")
            default:
                let extremes: [UInt64] = [0, 1, 1 << 31, 1 << 60, 1 << 63, .max, 0x7FFF_FFFF_FFFF_FFFF]
                let number = extremes[Int.random(in: 0..<extremes.count, using: &self)]
                for index in 0..<min(8, bytes.count - place) {
                    bytes[place + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
                }
            }
        }
        return bytes
    }
}
