import CPhiKernels

/// What this machine can do at most, measured now: no forward pass can be faster.
public struct MachineLimits: Sendable {
    /// Integer multiply-adds a second of all threads, on registers.
    public var multiplyAddsPerSecond: Double
    /// Bytes read a second by all threads, from memory.
    public var bytesPerSecond: Double

    /// Takes about a second.
    public static func measure(kernels: Kernels, threads: Int) -> MachineLimits {
        let pool = ComputePool(threads: threads)
        let memory = PageMemory(count: threads << 28)
        memory.base.initializeMemory(as: UInt8.self, repeating: 1, count: memory.count)
        nonisolated(unsafe) let base = memory.base.assumingMemoryBound(to: UInt8.self)
        let table = kernels.table
        // Reads first: they take longer, and by their end both the threads and the clock are awake.
        let bytes = best(Double(threads << 28)) {
            pool.run(threads) { part in _ = table.probe_reads(base + (part << 28), 1 << 28) }
        }
        // In many parts, so that a thread that is held up leaves its share to the others.
        let (rounds, parts) = (1 << 14, 64 * threads)
        let perRound = Double(table.probe_products(1))
        let products = best(perRound * Double(rounds * parts)) {
            pool.run(parts) { _ in _ = table.probe_products(rounds) }
        }
        return MachineLimits(multiplyAddsPerSecond: products, bytesPerSecond: bytes)
    }

    /// The highest rate of some runs.
    private static func best(_ amount: Double, _ body: () -> Void) -> Double {
        (0..<12).map { _ in
            let start = ContinuousClock.now
            body()
            return amount / (ContinuousClock.now - start).seconds
        }.max() ?? 0
    }
}
