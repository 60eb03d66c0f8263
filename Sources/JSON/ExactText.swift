import FoundationShim

/// A string compared by its bytes, as names in JSON are; Swift compares strings up to normalization.
package struct ExactText: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (a: ExactText, b: ExactText) -> Bool {
        let count = a.text.utf8.count
        guard count == b.text.utf8.count else { return false }
        let isSame = a.text.utf8.withContiguousStorageIfAvailable { a in
            b.text.utf8.withContiguousStorageIfAvailable { b in
                guard let a = a.baseAddress, let b = b.baseAddress else { return true }
                return memcmp(a, b, count) == 0
            }
        }
        return (isSame ?? nil) ?? a.text.utf8.elementsEqual(b.text.utf8)
    }

    /// Order by code points, which is also that of the bytes.
    package static func < (a: ExactText, b: ExactText) -> Bool {
        a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}
