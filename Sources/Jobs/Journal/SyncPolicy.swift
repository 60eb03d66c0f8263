/// When results are brought to the disk: about once a second, and less often where the disk is so slow
/// that this would cost more than a hundredth of the time.
struct SyncPolicy {
    private var last: Double
    private var interval = 1.0
    private(set) var isPending = false
    private static let longest = 60.0

    init(now: Double) { last = now }

    mutating func written() { isPending = true }

    func isDue(now: Double) -> Bool { isPending && now - last >= interval }

    mutating func synced(from start: Double, to end: Double) {
        isPending = false
        last = end
        interval = min(max(1, (end - start) * 100), Self.longest)
    }
}
