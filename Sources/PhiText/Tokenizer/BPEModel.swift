import JSON

/// Byte-pair encoding of one piece of text, like Hugging Face's `BPE` model.
struct BPEModel: Sendable {
    /// Options of tokenizer.json's `model`, except vocabulary and merges.
    struct Options: Sendable {
        var unknownID: Int32?
        var fusesUnknown = false
        var byteFallback = false
        var ignoresMerges = false
        /// Whether pieces are bytes in `ByteAlphabet` (set by the pre-tokenizer) or text.
        var isByteLevel = false
    }

    let vocabulary: Vocabulary
    let options: Options
    private let merges: MergeTable
    /// Token of each byte's character, or -1.
    private let byteSymbols: FrozenArray<Int32>
    /// Token `<0x..>` of each byte, or -1.
    private let byteTokens: [Int32]
    private let scalars: ScalarTable
    /// Nil if a text can't be cut safely: a merge contains byte tokens or the unknown token.
    private let boundaries: MergeBoundaries?
    /// Whether every text has tokens: no byte or character lacks one.
    let isComplete: Bool
    /// Whether a merge contains the unknown token.
    let mergesUnknown: Bool

    init(
        vocabulary: Vocabulary, merges: [(left: Int32, right: Int32, merged: Int32)], options: Options
    ) {
        self.vocabulary = vocabulary
        self.options = options
        self.merges = MergeTable(merges)
        let byteSymbols = (0..<256).map { vocabulary.id(of: ByteAlphabet.encode(UInt8($0))) ?? -1 }
        self.byteSymbols = FrozenArray(byteSymbols)
        byteTokens =
            options.byteFallback
            ? (0..<256).map { vocabulary.id(of: ByteFallback.name(UInt8($0)).utf8) ?? -1 } : []
        isComplete =
            options.byteFallback && !byteTokens.contains(-1)
            || options.isByteLevel && !byteSymbols.contains(-1)
        mergesUnknown =
            options.unknownID.map { id in merges.contains { $0.left == id || $0.right == id } } ?? false
        guard !options.isByteLevel else {
            scalars = ScalarTable([])
            boundaries = nil
            return
        }
        let scalars = ScalarTable(Self.singleScalars(vocabulary))
        self.scalars = scalars
        var whole = Set(byteTokens)
        if let unknown = options.unknownID { whole.insert(unknown) }
        if merges.contains(where: { whole.contains($0.left) || whole.contains($0.right) }) {
            boundaries = nil
        } else {
            boundaries = MergeBoundaries(
                merges.compactMap { merge in
                    guard let left = vocabulary.scalars(of: merge.left).last,
                        let right = vocabulary.scalars(of: merge.right).first
                    else { return nil }
                    return (scalars[left.value], scalars[right.value])
                })
        }
    }

    private static func singleScalars(_ vocabulary: Vocabulary) -> [(scalar: UInt32, id: Int32)] {
        (0..<Int32(vocabulary.idLimit)).compactMap { id in
            let scalars = vocabulary.scalars(of: id)
            return scalars.first.flatMap { scalars.count == 1 ? ($0.value, id) : nil }
        }
    }

    /// Whether each piece of text has at least one token.
    var givesTokens: Bool { isComplete || options.unknownID != nil }

    // MARK: Encoding

    /// Appends the tokens of the piece `text[start ..< end]`; `ByteBuffer.padding` bytes after it must be readable.
    func encode(
        _ text: UnsafePointer<UInt8>, _ start: Int, _ end: Int, _ scratch: EncodeScratch,
        into output: inout [Int32]
    ) {
        guard end > start else { return }
        if options.isByteLevel {
            encodeBytes(text, start, end, scratch, &output)
        } else if options.ignoresMerges,
            let id = vocabulary.id(of: UnsafeBufferPointer(start: text + start, count: end - start))
        {
            output.append(id)
        } else if let boundaries {
            scratch.withSymbols { encodeCut(text, start, end, boundaries, scratch, &$0, &output) }
        } else {
            scratch.withSymbols { encodeWhole(text, start, end, scratch, &$0, &output) }
        }
    }

    private func encodeWhole(
        _ text: UnsafePointer<UInt8>, _ start: Int, _ end: Int, _ scratch: EncodeScratch,
        _ symbols: inout [Int32], _ output: inout [Int32]
    ) {
        var unknown = PendingUnknown()
        var i = start
        while i < end {
            let (scalar, length) = UTF8Bytes.decode(text, i)
            let id = scalars[scalar]
            if id >= 0 {
                unknown.flush(options, &symbols)
                symbols.append(id)
            } else {
                addMissing(UnsafeBufferPointer(start: text + i, count: length), &unknown, &symbols)
            }
            i += length
        }
        unknown.flush(options, &symbols)
        scratch.merger.merge(symbols, with: merges, into: &output)
    }

    private func encodeBytes(
        _ text: UnsafePointer<UInt8>, _ start: Int, _ end: Int, _ scratch: EncodeScratch,
        _ output: inout [Int32]
    ) {
        let count = end - start
        guard count <= PieceCache.maxBytes else {
            return scratch.withSymbols { mergeBytes(text, start, end, scratch, &$0, &output) }
        }
        let key = scratch.cache.key(text + start, count: count)
        if scratch.cache.find(key, into: &output) { return }
        let before = output.count
        scratch.withSymbols { mergeBytes(text, start, end, scratch, &$0, &output) }
        scratch.cache.store(key, output[before...])
    }

    private func mergeBytes(
        _ text: UnsafePointer<UInt8>, _ start: Int, _ end: Int, _ scratch: EncodeScratch,
        _ symbols: inout [Int32], _ output: inout [Int32]
    ) {
        if options.ignoresMerges {
            let name = (start..<end).flatMap { ByteAlphabet.encode(text[$0]) }
            if let id = vocabulary.id(of: name) { return output.append(id) }
        }
        var unknown = PendingUnknown()
        for i in start..<end {
            let id = byteSymbols[Int(text[i])]
            if id >= 0 {
                unknown.flush(options, &symbols)
                symbols.append(id)
            } else {
                ByteAlphabet.encode(text[i]).withUnsafeBufferPointer {
                    addMissing($0, &unknown, &symbols)
                }
            }
        }
        unknown.flush(options, &symbols)
        scratch.merger.merge(symbols, with: merges, into: &output)
    }

    /// Cuts text wherever no merge can reach across; unknown characters are in no merge. Ends early with more than
    /// `scratch.limit` tokens.
    private func encodeCut(
        _ text: UnsafePointer<UInt8>, _ start: Int, _ end: Int, _ boundaries: MergeBoundaries,
        _ scratch: EncodeScratch, _ symbols: inout [Int32], _ output: inout [Int32]
    ) {
        var unknown = PendingUnknown()
        var previous: Int32 = -1
        var cut = start
        var i = start
        while i < end {
            let (scalar, length) = UTF8Bytes.decode(text, i)
            let id = scalars[scalar]
            if id >= 0 {
                if previous < 0 {
                    unknown.flush(options, &output)
                } else if !boundaries.canMerge(previous, id) {
                    mergeSymbols(text, cut, i, scratch, &symbols, &output)
                    cut = i
                    if output.count > scratch.limit { return }
                }
                symbols.append(id)
            } else {
                mergeSymbols(text, cut, i, scratch, &symbols, &output)
                addMissing(UnsafeBufferPointer(start: text + i, count: length), &unknown, &output)
                cut = i + length
                if output.count > scratch.limit { return }
            }
            previous = id
            i += length
        }
        mergeSymbols(text, cut, end, scratch, &symbols, &output)
        unknown.flush(options, &output)
    }

    /// Merges `symbols` of `text[start ..< end]`, and empties them.
    @inline(__always)
    private func mergeSymbols(
        _ text: UnsafePointer<UInt8>, _ start: Int, _ end: Int, _ scratch: EncodeScratch,
        _ symbols: inout [Int32], _ output: inout [Int32]
    ) {
        defer { symbols.removeAll(keepingCapacity: true) }
        switch symbols.count {
        case 0: return
        case 1: output.append(symbols[0])
        case _ where end - start <= PieceCache.maxBytes:
            let key = scratch.cache.key(text + start, count: end - start)
            if scratch.cache.find(key, into: &output) { return }
            let before = output.count
            scratch.merger.merge(symbols, with: merges, into: &output)
            scratch.cache.store(key, output[before...])
        default: scratch.merger.merge(symbols, with: merges, into: &output)
        }
    }

    // MARK: Characters without a token

    /// An unknown token whose end is open, so that a run of unknown characters can become one token.
    private struct PendingUnknown {
        var isPending = false

        @inline(__always)
        mutating func flush(_ options: Options, _ symbols: inout [Int32]) {
            guard isPending, let id = options.unknownID else { return }
            isPending = false
            symbols.append(id)
        }
    }

    /// Adds byte tokens if all exist, else the unknown token, else nothing (like Hugging Face, where byte tokens also
    /// overtake a pending unknown token).
    private func addMissing(
        _ character: UnsafeBufferPointer<UInt8>, _ unknown: inout PendingUnknown,
        _ symbols: inout [Int32]
    ) {
        if options.byteFallback, character.allSatisfy({ byteTokens[Int($0)] >= 0 }) {
            for byte in character { symbols.append(byteTokens[Int(byte)]) }
        } else if options.unknownID != nil {
            if !options.fusesUnknown { unknown.flush(options, &symbols) }
            unknown.isPending = true
        }
    }
}

/// Tokens `<0x00>` to `<0xFF>`.
enum ByteFallback {
    static func name(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return "<0x\(digits.count < 2 ? "0" : "")\(digits)>"
    }

    /// Returns the byte of such a token.
    static func byte(_ text: [UInt8]) -> UInt8? {
        guard text.count == 6, text.starts(with: [0x3C, 0x30, 0x78]), text[5] == 0x3E else { return nil }
        var value: UInt8 = 0
        for digit in text[3..<5] {
            guard let digit = Character(Unicode.Scalar(digit)).hexDigitValue else { return nil }
            value = value << 4 | UInt8(digit)
        }
        return value
    }
}
