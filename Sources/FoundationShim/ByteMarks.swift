/// Searches for marks in text (a slash, a quote, an equals sign) by bytes, like other programs. In Swift's strings a
/// slash followed by a combining accent is another Character, which `split`, `firstIndex` and `replacing` don't find.
extension StringProtocol where UTF8View: BidirectionalCollection, UTF8View.SubSequence == Substring.UTF8View {
    /// Returns the parts between marks.
    /// - Parameter max: the most splits; the rest is one part.
    package func split(at mark: Unicode.Scalar, max: Int = .max, keepingEmpty: Bool = false) -> [Substring] {
        utf8.split(separator: UInt8(ascii: mark), maxSplits: max, omittingEmptySubsequences: !keepingEmpty)
            .map { Substring($0) }
    }

    package func firstIndex(at mark: Unicode.Scalar) -> Index? { utf8.firstIndex(of: UInt8(ascii: mark)) }
    package func lastIndex(at mark: Unicode.Scalar) -> Index? { utf8.lastIndex(of: UInt8(ascii: mark)) }
    package func has(_ mark: Unicode.Scalar) -> Bool { utf8.contains(UInt8(ascii: mark)) }

    /// Returns the text before the first of these marks; all of it if there is none.
    package func prefix(until marks: Unicode.Scalar...) -> Substring {
        let bytes = marks.map { UInt8(ascii: $0) }
        return Substring(utf8.prefix { !bytes.contains($0) })
    }

    /// Replaces each `text` by another text.
    package func replacing(each text: StaticString, with other: String) -> String {
        String(decoding: Array(utf8).replacing(Array("\(text)".utf8), with: Array(other.utf8)), as: UTF8.self)
    }
}
