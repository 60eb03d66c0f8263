import JSON

/// Byte-pair encoding of one piece of text, like Hugging Face's `BPE` model. Each byte of a text has a token, which serves
/// characters without one; byte-level BPE drops bytes that have none.
struct BPEModel: Sendable {
    let vocabulary: Vocabulary
    /// Whether pieces are bytes in `ByteAlphabet` (set by the pre-tokenizer) or text.
    let isByteLevel: Bool
    /// Whether a piece that is a token is that token, whatever the merges.
    private let ignoresMerges: Bool
    private let merges: MergeTable
    /// Token of each byte, or -1.
    private let byteTokens: FrozenArray<Int32>
    private let scalars: ScalarTable
    private let boundaries: MergeBoundaries
    /// Whether every text has tokens.
    let isComplete: Bool

    init(
        vocabulary: Vocabulary, merges: [(left: Int32, right: Int32, merged: Int32)], isByteLevel: Bool,
        ignoresMerges: Bool
    ) {
        (self.vocabulary, self.isByteLevel, self.ignoresMerges) = (vocabulary, isByteLevel, ignoresMerges)
        self.merges = MergeTable(merges)
        let byteTokens = Self.byteTokens(vocabulary, isByteLevel: isByteLevel)
        self.byteTokens = FrozenArray(byteTokens)
        isComplete = !byteTokens.contains(-1)
        let scalars = ScalarTable(isByteLevel ? [] : Self.singleScalars(vocabulary))
        self.scalars = scalars
        boundaries = MergeBoundaries(
            isByteLevel
                ? []
                : merges.compactMap { merge in
                    guard let left = vocabulary.scalars(of: merge.left).last,
                        let right = vocabulary.scalars(of: merge.right).first
                    else { return nil }
                    return (scalars[left.value], scalars[right.value])
                })
    }

    /// Returns the token of each byte, -1 for none: its character in byte-level BPE, else `<0x..>`.
    static func byteTokens(_ vocabulary: Vocabulary, isByteLevel: Bool) -> [Int32] {
        (UInt8.min...UInt8.max).map { byte in
            let text = isByteLevel ? ByteAlphabet.encode(byte) : Array(ByteFallback.name(byte).utf8)
            return vocabulary.id(of: text) ?? -1
        }
    }

    private static func singleScalars(_ vocabulary: Vocabulary) -> [(scalar: UInt32, id: Int32)] {
        (0..<Int32(vocabulary.idLimit)).compactMap { id in
            let scalars = vocabulary.scalars(of: id)
            return scalars.first.flatMap { scalars.count == 1 ? ($0.value, id) : nil }
        }
    }

    // MARK: Encoding

    /// Appends the tokens of the piece `text[start ..< end]`; `ByteBuffer.padding` bytes after it must be readable.
    func encode(
        _ text: UnsafePointer<UInt8>, _ start: Int, _ end: Int, _ scratch: EncodeScratch,
        into output: inout [Int32]
    ) {
        guard end > start else { return }
        if isByteLevel {
            encodeBytes(text, start, end, scratch, &output)
        } else if ignoresMerges,
            let id = vocabulary.id(of: UnsafeBufferPointer(start: text + start, count: end - start))
        {
            output.append(id)
        } else {
            scratch.withSymbols { encodeCut(text, start, end, scratch, &$0, &output) }
        }
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
        if ignoresMerges {
            let name = (start..<end).flatMap { ByteAlphabet.encode(text[$0]) }
            if let id = vocabulary.id(of: name) { return output.append(id) }
        }
        for i in start..<end {
            let id = byteTokens[Int(text[i])]
            if id >= 0 { symbols.append(id) }
        }
        scratch.merger.merge(symbols, with: merges, into: &output)
    }

    /// Cuts text wherever no merge can reach across. Ends early with more than `scratch.limit` tokens.
    private func encodeCut(
        _ text: UnsafePointer<UInt8>, _ start: Int, _ end: Int, _ scratch: EncodeScratch,
        _ symbols: inout [Int32], _ output: inout [Int32]
    ) {
        var previous: Int32 = -1
        var cut = start
        var i = start
        while i < end {
            let (scalar, length) = UTF8Bytes.decode(text, i)
            let id = scalars[scalar]
            if id >= 0 {
                if previous >= 0, !boundaries.canMerge(previous, id) {
                    mergeSymbols(text, cut, i, scratch, &symbols, &output)
                    cut = i
                    if output.count > scratch.limit { return }
                }
                symbols.append(id)
            } else {
                mergeSymbols(text, cut, i, scratch, &symbols, &output)
                for place in i..<i + length { output.append(byteTokens[Int(text[place])]) }
                cut = i + length
                if output.count > scratch.limit { return }
            }
            previous = id
            i += length
        }
        mergeSymbols(text, cut, end, scratch, &symbols, &output)
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
