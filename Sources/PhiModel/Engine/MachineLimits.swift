import CPhiKernels

/// What this machine can do at most at the moment: no forward pass can be faster.
public struct MachineLimits: Sendable {
    /// Integer multiply-adds a second of all threads, on registers.
    public var multiplyAddsPerSecond = 0.0
    /// Bytes read a second by all threads, from memory.
    public var bytesPerSecond = 0.0

    public init() {}

    /// The higher of each.
    public func max(_ other: MachineLimits) -> MachineLimits {
        var most = self
        most.multiplyAddsPerSecond = Swift.max(multiplyAddsPerSecond, other.multiplyAddsPerSecond)
        most.bytesPerSecond = Swift.max(bytesPerSecond, other.bytesPerSecond)
        return most
    }
}

/// Measures the limits; again and again, since a machine that is shared has others a minute later.
public final class LimitProbe {
    private let kernels: PhiKernels
    private let pool: ComputePool
    private let memory: PageMemory
    private static let bytesPerThread = 1 << 28

    public init(kernels: Kernels, threads: Int) {
        self.kernels = kernels.table
        pool = ComputePool(threads: threads)
        memory = PageMemory(count: pool.threads * Self.bytesPerThread)
        memory.base.initializeMemory(as: UInt8.self, repeating: 1, count: memory.count)
    }

    /// Bytes read in some seconds.
    public struct Reading: Sendable {
        public var bytes = 0
        public var seconds = 0.0

        public init() {}

        public var perSecond: Double { seconds > 0 ? Double(bytes) / seconds : 0 }
        public static func += (sum: inout Reading, more: Reading) {
            sum.bytes += more.bytes
            sum.seconds += more.seconds
        }
    }

    /// Reads all of its memory once, which takes some hundredths of a second.
    public func read() -> Reading {
        nonisolated(unsafe) let base = memory.base.assumingMemoryBound(to: UInt8.self)
        let size = Self.bytesPerThread
        let start = ContinuousClock.now
        pool.run(pool.threads) { part in _ = kernels.probe_reads(base + part * size, size) }
        var reading = Reading()
        reading.bytes = pool.threads * size
        reading.seconds = (ContinuousClock.now - start).seconds
        return reading
    }

    /// Takes some tenths of a second.
    public func measure() -> MachineLimits {
        // Reads first: they take longer, and by their end both the threads and the clock are awake.
        let reads = (0..<7).map { _ in read().perSecond }.max() ?? 0
        // In many parts, so that a thread that is held up leaves its share to the others.
        let (rounds, parts) = (1 << 14, 64 * pool.threads)
        let perRound = Double(kernels.probe_products(1))
        let products = best(perRound * Double(rounds * parts)) {
            pool.run(parts) { _ in _ = kernels.probe_products(rounds) }
        }
        var limits = MachineLimits()
        limits.multiplyAddsPerSecond = products
        limits.bytesPerSecond = reads
        return limits
    }

    /// The highest rate of some runs.
    private func best(_ amount: Double, _ body: () -> Void) -> Double {
        (0..<7).map { _ in
            let start = ContinuousClock.now
            body()
            return amount / (ContinuousClock.now - start).seconds
        }.max() ?? 0
    }
}
