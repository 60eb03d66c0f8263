import OperatingSystem

/// A file of packed weights in the cache, mapped.
///
/// It begins with a head: a text that describes the content (the hashes of the model's files, and the plan), a checksum
/// for each chunk of the plan, and a checksum of the head itself. From the next page on, the matrices follow as the
/// plan places them. A reader makes the same text and compares, so nothing has to be parsed. Checking all weights costs
/// almost nothing, as the first step reads them anyway. They were checked to be finite when they were packed.
final class WeightFile: Sendable {
    /// Beginning of each of these files, complete or not.
    static let mark = Array("phibatch packed weights\n".utf8)

    /// Content of a file.
    struct Contents {
        let plan: WeightPlan
        fileprivate let text: [UInt8]
        /// Range of the checksums in the head.
        fileprivate let checksums: Range<Int>
        fileprivate let headSize: Int
        var fileSize: Int { headSize + plan.count }

        /// - Parameter source: identifies the model's files.
        init(_ plan: WeightPlan, from source: String) {
            self.plan = plan
            let text = "layout \(PackedMatrix.layoutVersion)\n" + source + plan.description
            self.text = WeightFile.mark + Array(text.utf8)
            let begin = self.text.count.rounded(up: 8)
            checksums = begin..<begin + 8 * plan.chunks.count
            headSize = (checksums.upperBound + 8).rounded(up: 4096)
        }
    }

    private let file: MappedFile
    /// The packed matrices, valid as long as this object.
    nonisolated(unsafe) let base: UnsafeRawPointer

    /// - Returns: nil if the file isn't complete, or has other contents.
    init?(_ open: File, contents: Contents, pool: ComputePool) {
        guard open.begins(with: Self.mark), let file = try? MappedFile(open), file.count == contents.fileSize,
            let start = file.bytes.baseAddress
        else { return nil }
        self.file = file
        let offset = contents.headSize
        base = start + offset
        let bytes = file.bytes
        let chunks = contents.plan.chunks
        func word(_ offset: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        guard bytes.prefix(contents.text.count).elementsEqual(contents.text),
            word(contents.checksums.upperBound)
                == BlockChecksum.of(
                    UnsafeRawBufferPointer(rebasing: bytes[..<contents.checksums.upperBound]))
        else { return nil }
        let isDamaged = Mutex(false)
        pool.run(chunks.count) { number in
            let range = chunks[number].bytes
            let chunk = UnsafeRawBufferPointer(
                rebasing: bytes[offset + range.lowerBound..<offset + range.upperBound])
            Memory.expectReads(chunk)
            if BlockChecksum.of(chunk) != word(contents.checksums.lowerBound + 8 * number) {
                isDamaged.withLock { $0 = true }
            }
        }
        if isDamaged.withLock({ $0 }) { return nil }
    }

    /// Packs the weights into a new file, a chunk at a time.
    /// - Throws: `SystemError`; as `LinearTensors.pack`.
    static func write(_ contents: Contents, to file: File, pool: ComputePool) throws {
        let chunks = contents.plan.chunks
        let checksums = Mutex([UInt64](repeating: 0, count: chunks.count))
        try file.resize(to: contents.fileSize)
        try pool.runThrowing(chunks.count) { number in
            let range = chunks[number].bytes
            let out = UnsafeMutablePointer<UInt8>.allocate(capacity: range.count)
            defer { out.deallocate() }
            try contents.plan.pack(chunks[number], into: out)
            let bytes = UnsafeRawBufferPointer(start: out, count: range.count)
            let checksum = BlockChecksum.of(bytes)
            checksums.withLock { $0[number] = checksum }
            try file.write(bytes, at: contents.headSize + range.lowerBound)
        }
        var head = contents.text
        head += repeatElement(0, count: contents.checksums.lowerBound - head.count)
        for checksum in checksums.withLock({ $0 }) { withUnsafeBytes(of: checksum) { head += $0 } }
        let own = head.withUnsafeBytes { BlockChecksum.of($0) }
        withUnsafeBytes(of: own) { head += $0 }
        try head.withUnsafeBytes { try file.write($0, at: 0) }
    }
}
