/// Growable bytes with padding, so that eight bytes can be read at any position.
final class ByteBuffer {
    /// Bytes that may be read (not written) after the end.
    static let padding = 32
    /// Capacity beyond which a buffer gives its memory back.
    private static let keptCapacity = 1 << 20

    private(set) var base: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity = 4096

    init() {
        base = .allocate(capacity: capacity + Self.padding)
        base.initialize(repeating: 0, count: capacity + Self.padding)
    }

    deinit { base.deallocate() }

    var all: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: base, count: count) }

    func removeAll() {
        count = 0
        if capacity > Self.keptCapacity { resize(to: 4096) }
    }

    func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        reserve(bytes.count)
        (base + count).update(from: source, count: bytes.count)
        count += bytes.count
    }

    func append(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { append($0) } }

    @inline(__always)
    func append(_ byte: UInt8) {
        if count == capacity { reserve(1) }
        base[count] = byte
        count += 1
    }

    private func reserve(_ extra: Int) {
        if count + extra > capacity { resize(to: max(count + extra, 2 * capacity)) }
    }

    private func resize(to newCapacity: Int) {
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity + Self.padding)
        larger.initialize(repeating: 0, count: newCapacity + Self.padding)
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
        capacity = newCapacity
    }
}
