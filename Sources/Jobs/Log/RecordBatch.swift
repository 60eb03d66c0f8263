/// Lines that are wanted in another order than they lie in their files: so many at a time as fit a buffer
/// of bounded size, read in the order they lie and in large pieces.
final class RecordBatch {
    private struct Wanted {
        var entry: ResultIndex.Entry
        /// Offset of its line in `bytes`.
        var start: Int
        var end: Int { entry.offset + Int(entry.length) }
    }

    /// Bytes between two lines that are read along, as that is quicker than another call.
    private static let gapLimit = 8 << 10
    private static let pieceLimit = 1 << 20

    private let log: File?
    private let output: File?
    private let countLimit: Int
    private let byteLimit: Int
    private var wanted: [Wanted] = []
    /// The lines in the order they are wanted.
    private var bytes: [UInt8] = []
    private var byteCount = 0
    private var piece: [UInt8] = []

    /// - Parameter countLimit: at most so many lines are held, and 256 bytes for each.
    init(log: File?, output: File?, countLimit: Int = 1 << 14) {
        self.log = log
        self.output = output
        self.countLimit = countLimit
        byteLimit = countLimit << 8
    }

    func hasRoom(for entry: ResultIndex.Entry) -> Bool {
        wanted.isEmpty || wanted.count < countLimit && byteCount + Int(entry.length) <= byteLimit
    }

    func add(_ entry: ResultIndex.Entry) {
        wanted.append(Wanted(entry: entry, start: byteCount))
        byteCount += Int(entry.length)
    }

    /// Reads all that was added, hands each line over in the order of adding, and forgets them.
    func forEachLine(_ body: (ResultIndex.Entry, UnsafeRawBufferPointer) throws -> Void) throws {
        if bytes.count < byteCount { bytes = [UInt8](repeating: 0, count: byteCount) }
        try read(wanted.filter { !$0.entry.isInOutput }, from: log)
        try read(wanted.filter(\.entry.isInOutput), from: output)
        try bytes.withUnsafeBytes { bytes in
            for line in wanted {
                let range = line.start..<line.start + Int(line.entry.length)
                try body(line.entry, UnsafeRawBufferPointer(rebasing: bytes[range]))
            }
        }
        wanted.removeAll(keepingCapacity: true)
        byteCount = 0
        // One long line shall not swell all that follows.
        if bytes.count > byteLimit { bytes = [] }
    }

    private func read(_ lines: [Wanted], from file: File?) throws {
        guard let file, !lines.isEmpty else { return }
        let lines = lines.sorted { $0.entry.offset < $1.entry.offset }
        var first = 0
        while first < lines.count {
            let start = lines[first].entry.offset
            var end = lines[first].end
            var next = first + 1
            while next < lines.count, lines[next].entry.offset - end <= Self.gapLimit,
                lines[next].end - start <= Self.pieceLimit
            {
                end = lines[next].end
                next += 1
            }
            try read(lines[first..<next], within: start..<end, from: file)
            first = next
        }
    }

    private func read(_ lines: ArraySlice<Wanted>, within range: Range<Int>, from file: File) throws {
        if lines.count == 1, let line = lines.first {
            return try bytes.withUnsafeMutableBytes { bytes in
                try fill(bytes[line.start..<line.start + range.count], from: file, at: range.lowerBound)
            }
        }
        if piece.isEmpty { piece = [UInt8](repeating: 0, count: Self.pieceLimit) }
        try piece.withUnsafeMutableBytes { piece in
            try fill(piece[..<range.count], from: file, at: range.lowerBound)
            bytes.withUnsafeMutableBytes { bytes in
                for line in lines {
                    let start = line.entry.offset - range.lowerBound
                    let length = Int(line.entry.length)
                    UnsafeMutableRawBufferPointer(rebasing: bytes[line.start..<line.start + length])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: piece[start..<start + length]))
                }
            }
        }
    }

    private func fill(
        _ bytes: Slice<UnsafeMutableRawBufferPointer>, from file: File, at offset: Int
    ) throws {
        let bytes = UnsafeMutableRawBufferPointer(rebasing: bytes)
        guard try file.read(into: bytes, at: offset) == bytes.count else {
            throw UserError(
                .io, at: file.path, "became shorter while it was read; run the same command again.")
        }
    }
}
