import Essentials
import Faults

/// Bytes of a file or of stdin, as they come: a read returns what is there rather than wait for more. What is packed
/// with gzip or zstd is unpacked on the way.
package final class ByteSource {
    let name: String
    private let system: any FileSystem
    private let descriptor: Int32
    private let isOurs: Bool
    /// Where a regular file ended when it was opened, and where we are.
    private var expectedEnd: Int?
    private var position = 0
    /// Bytes that were read to see what they are.
    private var looked: [UInt8]?
    private var unpacking: (packing: Packing, unpacker: Unpacker)?

    /// - Parameter path: a file, or `-` for stdin.
    /// - Throws: `JobError` of kind `missingInput`.
    package init(path: String, system: any FileSystem = POSIXFileSystem()) throws {
        self.system = system
        isOurs = path != "-"
        name = isOurs ? path : "stdin"
        let (descriptor, name) = (isOurs ? try Self.open(path, in: system) : 0, name)
        self.descriptor = descriptor
        let info = try Self.attempt(name, .missingInput) { () throws(SystemError) in
            try system.retrying { () throws(SystemError) in try system.info(descriptor) }
        }
        if info.kind == .folder { throw JobError(.missingInput, at: name, "is a folder, not a file.") }
        guard info.kind == .regular else { return }
        expectedEnd = info.size
        position = try Self.attempt(name, .missingInput) { () throws(SystemError) in
            try system.retrying { () throws(SystemError) in try system.position(descriptor) }
        }
    }

    private static func open(_ path: String, in system: any FileSystem) throws(JobError) -> Int32 {
        try attempt(path, .missingInput) { () throws(SystemError) in
            try system.retrying { () throws(SystemError) in try system.open(path, .readStream) }
        }
    }

    private static func attempt<T>(
        _ name: String, _ kind: JobError.Kind, _ call: () throws(SystemError) -> T
    ) throws(JobError) -> T {
        do {
            return try call()
        } catch {
            throw JobError(kind, at: name, "can't be read: \(ErrorCode.text(error.code)).")
        }
    }

    deinit { if isOurs { system.close(descriptor) } }

    /// - Returns: how many bytes were read; 0 at the end.
    /// - Throws: `JobError` of kind `inputOutput`.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        if looked == nil { try look() }
        guard let (packing, unpacker) = unpacking else { return try readPlain(into: buffer) }
        return try Self.unpacking(name, packing) {
            try unpacker.read(into: buffer) { try readPlain(into: $0) }
        }
    }

    private static func unpacking<T>(_ name: String, _ packing: Packing, _ work: () throws -> T) throws -> T {
        do {
            return try work()
        } catch let fault as PackingFault {
            throw JobError(.inputOutput, at: name, fault.text(of: packing))
        }
    }

    /// The first bytes tell what it is. No more are waited for than it takes to say so.
    /// - Throws: `JobError` where what unpacks it is not there.
    package func look() throws {
        var start: [UInt8] = []
        while let packing = Packing.allCases.first(where: { $0.magic.starts(with: start) }) {
            if start == packing.magic { break }
            var next: UInt8 = 0
            let count = try withUnsafeMutableBytes(of: &next) { try readRaw(into: $0) }
            if count == 0 { break }
            start.append(next)
        }
        looked = start
        if let packing = Packing(start: start) {
            unpacking = (packing, try Self.unpacking(name, packing) { try Unpacker(packing) })
        } else if let packing = Packing(name: name.lowercased()),
            packing.magic.starts(with: start)
        {
            // Cut at its very beginning.
            throw JobError(.inputOutput, at: name, PackingFault.cut.text(of: packing))
        }
    }

    private func readPlain(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard let looked, !looked.isEmpty, !buffer.isEmpty else { return try readRaw(into: buffer) }
        let count = min(looked.count, buffer.count)
        buffer.copyBytes(from: looked[..<count])
        self.looked = Array(looked[count...])
        return count
    }

    private func readRaw(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = try Self.attempt(name, .inputOutput) { () throws(SystemError) in
            try system.retrying { () throws(SystemError) in try system.read(descriptor, into: buffer) }
        }
        position += count
        if count == 0, let expectedEnd, position < expectedEnd {
            throw JobError(
                .inputOutput, at: name,
                "became shorter while it was read: it had \(expectedEnd) bytes and ends at \(position) "
                    + "now. Run the same command again once it is whole; what is done is kept.")
        }
        return count
    }

    /// How many bytes there are, where they can be read from anywhere; nil of a stream, and of what is packed.
    var size: Int? {
        get throws {
            if looked == nil { try look() }
            return unpacking == nil ? expectedEnd : nil
        }
    }

    /// - Throws: `JobError` of kind `inputOutput`, also if the file doesn't reach so far.
    func bytes(in range: Range<Int>) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        try bytes.withUnsafeMutableBytes { buffer in
            var done = 0
            while done < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                let position = range.lowerBound + done
                let count = try Self.attempt(name, .inputOutput) { () throws(SystemError) in
                    try system.retrying { () throws(SystemError) in
                        try system.read(descriptor, into: rest, at: position)
                    }
                }
                guard count > 0 else {
                    throw JobError(.inputOutput, at: name, "ends before byte \(range.upperBound).")
                }
                done += count
            }
        }
        return bytes
    }

    /// Everything, but no more than `limit` bytes.
    package func readAll(limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < limit {
            let count = try chunk.withUnsafeMutableBytes { try read(into: $0) }
            if count == 0 { break }
            bytes += chunk[..<min(count, limit - bytes.count)]
        }
        return bytes
    }
}
