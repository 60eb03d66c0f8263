/// A block of floats or bytes that grows with the largest step.
package final class Buffer<Element: BitwiseCopyable> {
    private var memory: PageMemory?
    package private(set) var pointer = nowhere.assumingMemoryBound(to: Element.self)
    private var capacity = 0

    package init() {}

    /// Makes room for `count` elements. Growing loses the content.
    /// - Throws: `UserError` of kind `resources`.
    package func reserve(_ count: Int) throws(UserError) {
        if count <= capacity { return }
        (memory, capacity) = (nil, 0)
        pointer = nowhere.assumingMemoryBound(to: Element.self)
        let memory = try PageMemory(count: count * MemoryLayout<Element>.stride)
        pointer = memory.base.bindMemory(to: Element.self, capacity: count)
        (self.memory, capacity) = (memory, count)
    }
}

/// Address of buffers of no elements.
private nonisolated(unsafe) let nowhere = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
