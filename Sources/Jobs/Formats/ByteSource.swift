import Essentials
import Faults

/// Bytes of a file or of stdin, as they come: a read returns what is there rather than wait for more. What is packed
/// with gzip is unpacked on the way.
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
    private var gzip: GzipStream?

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
        do {
            if looked == nil { try look() }
            guard let gzip else { return try readPlain(into: buffer) }
            return try gzip.read(into: buffer) { try readPlain(into: $0) }
        } catch let fault as GzipStream.Fault {
            let what: Message =
                switch fault {
                case .damaged: "is damaged: gunzip can't unpack it either."
                case .cut: "ends in the middle of its gzip data. Run the same command again once it is whole."
                case .noMemory: "can't be unpacked: there is no memory."
                }
            throw JobError(.inputOutput, at: name, what)
        }
    }

    /// The first two bytes tell what it is.
    private func look() throws {
        var start: [UInt8] = []
        while start.count < GzipStream.magic.count {
            var more = [UInt8](repeating: 0, count: GzipStream.magic.count - start.count)
            let count = try more.withUnsafeMutableBytes { try readRaw(into: $0) }
            if count == 0 { break }
            start += more[..<count]
        }
        looked = start
        // Cut at its very beginning.
        if start.count < GzipStream.magic.count, GzipStream.magic.starts(with: start),
            name.lowercased().hasSuffix(".gz")
        {
            throw GzipStream.Fault.cut
        }
        if start == GzipStream.magic { gzip = try GzipStream() }
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
            return gzip == nil ? expectedEnd : nil
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
