import CPhiKernels
import FoundationShim

/// Current limits of this machine: no forward pass can be faster.
package struct MachineLimits: Sendable {
    /// Integer multiply-adds a second by all threads, on registers.
    package var multiplyAddsPerSecond = 0.0
    /// Bytes a second read from memory by all threads.
    package var bytesPerSecond = 0.0

    package init() {}

    /// Returns the higher of each.
    package func max(_ other: MachineLimits) -> MachineLimits {
        var most = self
        most.multiplyAddsPerSecond = Swift.max(multiplyAddsPerSecond, other.multiplyAddsPerSecond)
        most.bytesPerSecond = Swift.max(bytesPerSecond, other.bytesPerSecond)
        return most
    }
}

/// Measures the limits, repeatedly, as those of a shared machine change within minutes.
package final class LimitProbe {
    private let kernels: PhiKernels
    private let pool: ComputePool
    private let memory: PageMemory
    private static let bytesPerThread = 1 << 28
    /// Parts of each thread's memory, read in turn so that none is in a cache.
    private static let parts = 8
    private var part = 0

    /// - Throws: `UserError` of kind `resources`.
    package convenience init(kernels: Kernels, threads: Int) throws {
        try self.init(kernels, ComputePool(threads: threads))
    }

    /// Uses existing threads.
    /// - Throws: `UserError` of kind `resources`.
    init(_ kernels: Kernels, _ pool: ComputePool) throws {
        self.kernels = kernels.table
        self.pool = pool
        memory = try PageMemory(count: pool.width * Self.bytesPerThread)
        memory.base.initializeMemory(as: UInt8.self, repeating: 1, count: memory.count)
    }

    /// Returns the bytes a second of reading a part of its memory, which takes one or two milliseconds.
    package func read() -> Double {
        part = (part + 1) % Self.parts
        let size = Self.bytesPerThread / Self.parts
        return read(size, from: part * size)
    }

    private func read(_ size: Int, from offset: Int) -> Double {
        nonisolated(unsafe) let base = memory.base.assumingMemoryBound(to: UInt8.self) + offset
        let start = ContinuousClock.now
        pool.run(pool.width) { thread in
            _ = kernels.probe_reads(base + thread * Self.bytesPerThread, size)
        }
        return Double(pool.width * size) / (ContinuousClock.now - start).seconds
    }

    /// Takes some tenths of a second.
    package func measure() -> MachineLimits {
        // Reads first: they take longer, and wake threads and clock.
        let reads = (0..<7).map { _ in read(Self.bytesPerThread, from: 0) }.max() ?? 0
        // In many parts, so that a delayed thread leaves its share to the others.
        let (rounds, parts) = (1 << 14, 64 * pool.width)
        let perRound = Double(kernels.probe_products(1))
        let products = best(perRound * Double(rounds * parts)) {
            pool.run(parts) { _ in _ = kernels.probe_products(rounds) }
        }
        var limits = MachineLimits()
        limits.multiplyAddsPerSecond = products
        limits.bytesPerSecond = reads
        return limits
    }

    /// Returns the highest rate of some runs.
    private func best(_ amount: Double, _ body: () -> Void) -> Double {
        (0..<7).map { _ in
            let start = ContinuousClock.now
            body()
            return amount / (ContinuousClock.now - start).seconds
        }.max() ?? 0
    }
}
