import OperatingSystem

/// How much memory scratch files may take in all where the disk has no room for them.
final class ScratchMemory: @unchecked Sendable {
    /// Of the whole process: room for some ten million results.
    static let shared = ScratchMemory(limit: 1 << 30)

    private let limit: Int
    private let lock = Lock()
    /// Guarded by `lock`.
    private var taken = 0

    init(limit: Int) { self.limit = limit }

    /// - Returns: false if that would be too much.
    func take(_ count: Int) -> Bool {
        lock.withLock {
            guard taken + count <= limit else { return false }
            taken += count
            return true
        }
    }

    func give(back count: Int) { lock.withLock { taken -= count } }

    /// - Parameter cause: why the disk doesn't take it; nil where there is no file.
    func exhausted(path: String, _ cause: StoreError?) -> StoreError {
        let size = limit >> 20 > 0 ? "\(limit >> 20) MB" : "\(limit) bytes"
        guard let cause else {
            return StoreError(
                .io, path: path,
                "holds \(size) of what is known of the lines, which is the most. Give the program a cache "
                    + "folder (PHIBATCH_CACHE).")
        }
        return StoreError(
            .io, path: cause.path,
            "\(cause.message) In its place memory holds \(size), which is the most.", code: cause.code)
    }
}
