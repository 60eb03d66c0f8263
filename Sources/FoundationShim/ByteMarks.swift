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

extension UnsafeRawBufferPointer {
    /// Returns the offset of the first `byte`.
    package func offset(of byte: UInt8) -> Int? {
        guard let start = baseAddress, let hit = memchr(start, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(hit) - start
    }

    /// Returns the offset of the first occurrence of a text from `start` on.
    package func offset(of text: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        guard let first = text.first, let bytes = text.baseAddress, let base = baseAddress else {
            return text.isEmpty ? start : nil
        }
        var start = start
        while start + text.count <= count,
            let hit = memchr(base + start, Int32(first), count - text.count - start + 1)
        {
            let found = UnsafeRawPointer(hit) - base
            if memcmp(hit, bytes, text.count) == 0 { return found }
            start = found + 1
        }
        return nil
    }

    package func offset(of text: StaticString, from start: Int = 0) -> Int? {
        let text = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return offset(of: text, from: start)
    }
}
