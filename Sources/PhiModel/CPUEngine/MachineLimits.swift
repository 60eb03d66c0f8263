import CPhiKernels
import FoundationShim

/// Current limits of this machine: no forward pass can be faster.
package struct MachineLimits: Sendable {
    /// Integer multiply-adds a second by all threads, on registers.
    package var multiplyAddsPerSecond: Double
    /// Bytes a second read from memory by all threads.
    package var bytesPerSecond: Double

    package init(multiplyAddsPerSecond: Double = 0, bytesPerSecond: Double = 0) {
        (self.multiplyAddsPerSecond, self.bytesPerSecond) = (multiplyAddsPerSecond, bytesPerSecond)
    }

    /// Returns the higher of each.
    package func max(_ other: MachineLimits) -> MachineLimits {
        MachineLimits(
            multiplyAddsPerSecond: Swift.max(multiplyAddsPerSecond, other.multiplyAddsPerSecond),
            bytesPerSecond: Swift.max(bytesPerSecond, other.bytesPerSecond))
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
    package init(_ kernels: Kernels, _ pool: ComputePool) throws {
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
        func best(_ rate: () -> Double) -> Double { (0..<7).map { _ in rate() }.max() ?? 0 }
        // Reads first: they take longer, and wake threads and clock.
        let reads = best { read(Self.bytesPerThread, from: 0) }
        // In many parts, so that a delayed thread leaves its share to the others.
        let (rounds, parts) = (1 << 14, 64 * pool.width)
        let perRound = Double(kernels.probe_products(1))
        let products = best {
            let start = ContinuousClock.now
            pool.run(parts) { _ in _ = kernels.probe_products(rounds) }
            return perRound * Double(rounds * parts) / (ContinuousClock.now - start).seconds
        }
        return MachineLimits(multiplyAddsPerSecond: products, bytesPerSecond: reads)
    }
}
