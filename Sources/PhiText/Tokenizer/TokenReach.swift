/// Lower bound of the number of a text's tokens, from its bytes alone: it rejects texts that are far too long before
/// they are tokenized.
struct TokenReach: Sendable {
    /// The most bytes of a text that become one token; nil if any number may.
    private let longest: Double?
    /// Whether an added token takes any amount of white space beside it.
    private let takesSpace: Bool

    /// - Parameter addedLength: bytes of the longest text of `added`.
    init(
        _ model: BPEModel, normalizers: [Normalizer], preTokenizers: [PreTokenizer], added: [AddedToken],
        addedLength: Int
    ) {
        takesSpace = added.contains { $0.lstrip || $0.rstrip }
        let shrinks = normalizers.compactMap(\.shrink)
        guard model.isComplete, shrinks.count == normalizers.count,
            !preTokenizers.contains(where: \.removes)
        else {
            longest = nil
            return
        }
        longest = shrinks.reduce(Double(max(model.longestToken, addedLength))) { $0 * Double($1) }
    }

    /// Whether a text certainly has more tokens than `limit`.
    func exceeds(_ limit: Int, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let longest else { return false }
        // No white space has these bytes.
        let count = takesSpace ? text.count { 0x21...0x7E ~= $0 || $0 >= 0xE4 } : text.count
        return Double(count) / longest > Double(limit)
    }
}

extension BPEModel {
    /// The most bytes of text in one token. A character without its own is one token, or several.
    fileprivate var longestToken: Int {
        (0..<Int32(clamping: vocabulary.idLimit)).reduce(4) { longest, id in
            let text = vocabulary.text(of: id) ?? []
            // In the alphabet of byte-level BPE each character is a byte.
            return max(longest, isByteLevel ? text.count { $0 & 0xC0 != 0x80 } : text.count)
        }
    }
}

extension Normalizer {
    /// The most bytes that can become one; nil if any number may vanish.
    fileprivate var shrink: Int? {
        switch self {
        case .prepend: 1
        case .replace(let literal, let content):
            content.isEmpty ? nil : Swift.max(1, (literal.count + content.count - 1) / content.count)
        // A letter of four bytes becomes one of one byte, and absorbs the marks after it.
        case .composed: 16
        }
    }
}
