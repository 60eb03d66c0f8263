/// Marks in text (a slash, a quote, an equals sign), found by bytes, as every other program finds them. To Swift's strings a
/// slash that has an accent after it is another Character, which `split`, `firstIndex` and `replacing` pass over.
extension StringProtocol where UTF8View: BidirectionalCollection, UTF8View.SubSequence == Substring.UTF8View {
    /// Parts between marks.
    /// - Parameter max: of the splits; all after these is one part.
    package func split(at mark: Unicode.Scalar, max: Int = .max, keepingEmpty: Bool = false) -> [Substring] {
        utf8.split(separator: UInt8(ascii: mark), maxSplits: max, omittingEmptySubsequences: !keepingEmpty)
            .map { Substring($0) }
    }

    package func firstIndex(at mark: Unicode.Scalar) -> Index? { utf8.firstIndex(of: UInt8(ascii: mark)) }
    package func lastIndex(at mark: Unicode.Scalar) -> Index? { utf8.lastIndex(of: UInt8(ascii: mark)) }
    package func has(_ mark: Unicode.Scalar) -> Bool { utf8.contains(UInt8(ascii: mark)) }

    /// The text before the first of these marks; all of it if there is none.
    package func prefix(until marks: Unicode.Scalar...) -> Substring {
        let bytes = marks.map { UInt8(ascii: $0) }
        return Substring(utf8.prefix { !bytes.contains($0) })
    }

    /// The same with another text in the place of each `text`.
    package func replacing(each text: StaticString, with other: String) -> String {
        String(decoding: Array(utf8).replacing(Array("\(text)".utf8), with: Array(other.utf8)), as: UTF8.self)
    }
}
