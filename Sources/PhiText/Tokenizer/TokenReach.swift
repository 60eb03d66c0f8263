import JSON

/// Bounds the number of a text's tokens from below with one look at its bytes, to reject texts that are too long before
/// tokenizing.
///
/// Each byte of a text belongs to one token. Count 1/n for each byte of a token of n bytes: a byte counts for at least
/// 1/n of the longest token that contains it, so the sum over all bytes is at most the number of tokens.
struct TokenReach: Sendable {
    /// Lower bound of a normalized byte's share; 0 if it may vanish, or be one of any number of bytes in one token.
    private let shares: [Double]
    /// The same for raw text, before added tokens are found and it is normalized.
    private let rawShares: [Double]

    init(
        _ model: BPEModel, normalizers: [Normalizer], preTokenizers: [PreTokenizer], added: [AddedToken],
        addedLength: Int
    ) {
        let longest = Self.longestTokens(model)
        var shares = longest.map { $0 > 0 ? 1 / Double($0) : 0 }
        for byte in 0..<256 where model.mayVanish(UInt8(byte)) { shares[byte] = 0 }
        let least = 1 / Double(max(longest.max() ?? 1, addedLength, 1))
        for step in preTokenizers {
            switch step {
            case .split(_, .removed, _): shares = Array(repeating: 0, count: 256)
            // The mark may be longer than its space.
            case .metaspace: shares[0x20] = min(least, shares[0xE2])
            default: break
            }
        }
        self.shares = shares
        rawShares = Self.rawShares(shares, least, normalizers, added)
    }

    /// Returns, for each byte, the length of the longest token that contains it, in bytes of text; 0 without any.
    private static func longestTokens(_ model: BPEModel) -> [Int] {
        var longest = [Int](repeating: 0, count: 256)
        for id in 0..<Int32(clamping: model.vocabulary.idLimit) {
            model.vocabulary.text(of: id)?.withUnsafeBufferPointer { text in
                if model.options.isByteLevel { return measure(alphabet: text, &longest) }
                for byte in text { longest[Int(byte)] = max(longest[Int(byte)], text.count) }
            }
        }
        // A character without its own token has a token for each byte, or one for all of them.
        for byte in 0..<256 { longest[byte] = max(longest[byte], byte < 0x80 ? 1 : 4) }
        return longest
    }

    /// Measures a token in the alphabet of byte-level BPE, where each character is a byte.
    private static func measure(alphabet text: UnsafeBufferPointer<UInt8>, _ longest: inout [Int]) {
        guard let base = text.baseAddress else { return }
        let count = text.reduce(0) { $0 + ($1 & 0xC0 != 0x80 ? 1 : 0) }
        var i = 0
        while i < text.count {
            let (scalar, length) = UTF8Bytes.decode(base, i)
            i += length
            guard scalar < ByteAlphabet.bytes.count, ByteAlphabet.bytes[Int(scalar)] >= 0 else { continue }
            let byte = Int(ByteAlphabet.bytes[Int(scalar)])
            longest[byte] = max(longest[byte], count)
        }
    }

    private static func rawShares(
        _ normalized: [Double], _ least: Double, _ normalizers: [Normalizer], _ added: [AddedToken]
    ) -> [Double] {
        let nothing = [Double](repeating: 0, count: 256)
        var shrink = 1
        for step in normalizers {
            guard let factor = step.shrink else { return nothing }
            shrink *= factor
        }
        // A vanishing byte may be the result of another byte.
        guard normalizers.isEmpty || !normalized.contains(0), shrink <= 1 << 20 else { return nothing }
        var shares = normalized.map { $0 > 0 ? least / Double(shrink) : 0 }
        if added.contains(where: { $0.lstrip || $0.rstrip }) {
            // Any number of spaces may vanish; these bytes occur in Unicode's White_Space.
            let spaces: [UInt8] = [0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20, 0x80, 0x81, 0x85, 0x9A, 0x9F, 0xA0]
            for byte in spaces + [0xA8, 0xA9, 0xAF, 0xC2, 0xE1, 0xE2, 0xE3] + Array(0x82...0x8A) {
                shares[Int(byte)] = 0
            }
        }
        return shares
    }

    /// Whether a raw text certainly has more tokens than `limit`.
    func exceeds(_ limit: Int, raw text: UnsafeBufferPointer<UInt8>) -> Bool {
        Self.exceeds(limit, text, rawShares)
    }

    /// Whether a normalized text between added tokens certainly has more tokens than `limit`.
    func exceeds(_ limit: Int, normalized text: UnsafeBufferPointer<UInt8>) -> Bool {
        Self.exceeds(limit, text, shares)
    }

    private static func exceeds(
        _ limit: Int, _ text: UnsafeBufferPointer<UInt8>, _ shares: [Double]
    ) -> Bool {
        var counts = [Int](repeating: 0, count: 256)
        counts.withUnsafeMutableBufferPointer { counts in
            for byte in text { counts[Int(byte)] += 1 }
        }
        let paid = zip(counts, shares).reduce(0.0) { $0 + Double($1.0) * $1.1 }
        // The sum is not exact.
        return paid * 0.999_999 > Double(limit)
    }
}

extension BPEModel {
    /// Whether a byte of text may vanish, or be one of any number in one unknown token.
    func mayVanish(_ byte: UInt8) -> Bool {
        if isComplete { return false }
        if options.unknownID != nil, !options.fusesUnknown, !mergesUnknown { return false }
        if options.isByteLevel { return !hasSymbol(ofByte: byte) }
        return byte >= 0x80 || !hasSymbol(ofScalar: UInt32(byte))
    }
}

extension Normalizer {
    /// The most bytes that can become one; nil if any number may vanish.
    var shrink: Int? {
        switch self {
        case .prepend: 1
        case .replaceLiteral(let literal, let content):
            content.isEmpty ? nil : Swift.max(1, (literal.count + content.count - 1) / content.count)
        case .replacePattern: nil
        // A letter of four bytes becomes one of one byte, and absorbs the marks after it.
        case .composed: 16
        }
    }
}
