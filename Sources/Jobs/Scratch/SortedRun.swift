/// Keys and their values in a file, by ascending key. In memory are the first key of each page, and a filter
/// that spares the reading for nearly all keys that aren't there.
final class SortedRun {
    struct Pair: BitwiseCopyable {
        var key: UInt64
        var value: UInt64
    }

    private static let pageLength = 128
    private static let chunkLength = 4096
    private static let stride = MemoryLayout<Pair>.stride

    let count: Int
    private let file: any ScratchFile
    private let firstKeys: [UInt64]
    private let filter: BloomFilter
    private let page = UnsafeMutableBufferPointer<Pair>.allocate(capacity: pageLength)

    private init(file: any ScratchFile, count: Int, firstKeys: [UInt64], filter: BloomFilter) {
        self.file = file
        self.count = count
        self.firstKeys = firstKeys
        self.filter = filter
    }

    deinit { page.deallocate() }

    func value(of key: UInt64) throws(StoreError) -> UInt64? {
        guard filter.mayContain(key) else { return nil }
        // The last page that begins at or before the key.
        var (low, high) = (0, firstKeys.count)
        while low < high {
            let middle = (low + high) / 2
            if firstKeys[middle] <= key { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let pairs = try read((low - 1) * Self.pageLength, into: page)
        return pairs.first { $0.key == key }?.value
    }

    /// - Returns: the pairs from `start` on, as many as `buffer` and the file have.
    private func read(
        _ start: Int, into buffer: UnsafeMutableBufferPointer<Pair>
    ) throws(StoreError) -> UnsafeBufferPointer<Pair> {
        let length = min(buffer.count, count - start)
        let bytes = UnsafeMutableRawBufferPointer(buffer)
        let wanted = UnsafeMutableRawBufferPointer(rebasing: bytes[..<(length * Self.stride)])
        guard try file.read(into: wanted, at: start * Self.stride) == wanted.count else {
            throw StoreError(.io, path: file.path, "became shorter while it was used.")
        }
        return UnsafeBufferPointer(rebasing: buffer[..<length])
    }

    /// A run of the pairs of two, in a file of its own.
    static func merged(_ first: SortedRun, _ second: SortedRun, _ scratch: Scratch) throws(StoreError)
        -> SortedRun
    {
        var writer = Writer(scratch.makeFile(), count: first.count + second.count)
        let (left, right) = (Reader(first), Reader(second))
        var (a, b) = (try left.next(), try right.next())
        while let pair = a ?? b {
            if let other = b, other.key < pair.key {
                try writer.append(other)
                b = try right.next()
            } else {
                try writer.append(pair)
                if a == nil { b = try right.next() } else { a = try left.next() }
            }
        }
        return try writer.finish()
    }

    /// Takes pairs by ascending key.
    struct Writer {
        private let file: any ScratchFile
        private var firstKeys: [UInt64] = []
        private var filter: BloomFilter
        private var waiting: [Pair] = []
        private var written = 0

        init(_ file: any ScratchFile, count: Int) {
            self.file = file
            filter = BloomFilter(count: count)
            firstKeys.reserveCapacity(count / SortedRun.pageLength + 1)
            waiting.reserveCapacity(SortedRun.chunkLength)
        }

        mutating func append(_ pair: Pair) throws(StoreError) {
            if (written + waiting.count) % SortedRun.pageLength == 0 { firstKeys.append(pair.key) }
            filter.insert(pair.key)
            waiting.append(pair)
            if waiting.count == SortedRun.chunkLength { try flush() }
        }

        mutating func finish() throws(StoreError) -> SortedRun {
            try flush()
            return SortedRun(file: file, count: written, firstKeys: firstKeys, filter: filter)
        }

        private mutating func flush() throws(StoreError) {
            let start = written * SortedRun.stride
            try waiting.withUnsafeBufferPointer { (pairs) throws(StoreError) in
                try file.write(UnsafeRawBufferPointer(pairs), at: start)
            }
            written += waiting.count
            waiting.removeAll(keepingCapacity: true)
        }
    }

    /// Goes through a run from its beginning.
    private final class Reader {
        private let run: SortedRun
        private let buffer = UnsafeMutableBufferPointer<Pair>.allocate(capacity: chunkLength)
        private var pairs = UnsafeBufferPointer<Pair>(start: nil, count: 0)
        private var position = 0
        private var readCount = 0

        init(_ run: SortedRun) { self.run = run }

        deinit { buffer.deallocate() }

        func next() throws(StoreError) -> Pair? {
            if position == pairs.count {
                if readCount == run.count { return nil }
                pairs = try run.read(readCount, into: buffer)
                readCount += pairs.count
                position = 0
            }
            position += 1
            return pairs[position - 1]
        }
    }
}
