/// An immutable table for the innermost loops: one pointer, without bounds checks in release.
///
/// Indices must come from our own tables, never unchecked from a file or a text.
package final class FrozenArray<Element: BitwiseCopyable & Sendable>: Sendable {
    // C memory, never written after init.
    package nonisolated(unsafe) let base: UnsafePointer<Element>
    package let count: Int

    package init(_ elements: [Element]) {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(1, elements.count))
        _ = memory.initialize(from: elements)
        // `allocate` returns a base address for any capacity above 0.
        base = UnsafePointer(memory.baseAddress.unsafelyUnwrapped)
        count = elements.count
    }

    deinit { base.deallocate() }

    @inline(__always)
    subscript(i: Int) -> Element {
        assert(i >= 0 && i < count)
        return base[i]
    }
}
