/// An array of which some pages are in memory and the others in a scratch file. One that fits in memory
/// makes no file.
///
/// Elements that were never set are zero bytes, which must be a valid element.
final class PagedArray<Element: BitwiseCopyable> {
    private static var largestPage: Int { 4096 }
    private static var stride: Int { MemoryLayout<Element>.stride }

    private let scratch: Scratch
    private var file: (any ScratchFile)?
    private let memory: UnsafeMutablePointer<Element>
    /// A page holds this power of two of elements, and stands in the frame of its number modulo the frames.
    private let pageShift: Int
    private let frameMask: Int
    // Not arrays, for the sake of speed.
    /// Each frame's page, or -1.
    private let held: UnsafeMutableBufferPointer<Int>
    private let isChanged: UnsafeMutableBufferPointer<Bool>
    private(set) var count: Int

    init(_ scratch: Scratch, count: Int = 0) {
        self.scratch = scratch
        self.count = count
        let pageLength = min(Self.largestPage / Self.stride, scratch.residentCount / 2)
        pageShift = max(1, pageLength).trailingZeroBitCount
        let frames = scratch.residentCount >> pageShift
        frameMask = frames - 1
        held = .allocate(capacity: frames)
        held.initialize(repeating: -1)
        isChanged = .allocate(capacity: frames)
        isChanged.initialize(repeating: false)
        memory = .allocate(capacity: scratch.residentCount)
    }

    deinit {
        memory.deallocate()
        held.deallocate()
        isChanged.deallocate()
    }

    subscript(index: Int) -> Element {
        get throws(StoreError) {
            precondition(index >= 0 && index < count, "an index within the array")
            return try place(of: index).pointee
        }
    }

    func set(_ index: Int, _ element: Element) throws(StoreError) {
        precondition(index >= 0 && index < count, "an index within the array")
        try put(index, element)
    }

    func append(_ element: Element) throws(StoreError) {
        try put(count, element)
        count += 1
    }

    private func put(_ index: Int, _ element: Element) throws(StoreError) {
        try place(of: index).pointee = element
        isChanged[index >> pageShift & frameMask] = true
    }

    private func place(of index: Int) throws(StoreError) -> UnsafeMutablePointer<Element> {
        let page = index >> pageShift
        let frame = page & frameMask
        if held[frame] != page { try exchange(frame, for: page) }
        return memory + (frame << pageShift + index & (1 << pageShift - 1))
    }

    private func exchange(_ frame: Int, for page: Int) throws(StoreError) {
        let size = Self.stride << pageShift
        let bytes = UnsafeMutableRawBufferPointer(start: memory + frame << pageShift, count: size)
        if isChanged[frame] {
            if file == nil { file = scratch.makeFile() }
            try file?.write(UnsafeRawBufferPointer(bytes), at: held[frame] * size)
            isChanged[frame] = false
        }
        held[frame] = -1
        let known = try file?.read(into: bytes, at: page * size) ?? 0
        for index in known..<size { bytes[index] = 0 }
        held[frame] = page
    }
}
