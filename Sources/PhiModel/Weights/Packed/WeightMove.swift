import FoundationShim
import OperatingSystem

/// Moves mapped weights into memory on large pages, some between any two steps.
///
/// A mapped file is available at once, but on small pages, through which reading all weights for each token is slower.
/// Copying first would delay the first token.
final class WeightMove {
    private let plan: WeightPlan
    private let memory: PageMemory
    private var rest: ArraySlice<PackedMatrix>
    /// The fewest bytes copied between two steps: less than a step of the same model reads.
    private let portion: Int
    /// Bytes to leave for the buffers of the largest steps.
    private static let left = 256 << 20

    /// - Parameter matrices: in the plan's order.
    /// - Throws: `UserError` of kind `resources` if there is no room for them.
    init(_ plan: WeightPlan, _ matrices: [PackedMatrix], portion: Int = 128 << 20) throws(UserError) {
        self.plan = plan
        self.portion = portion
        memory = try PageMemory(count: plan.count, leaving: Self.left)
        rest = matrices[...]
    }

    var isDone: Bool { rest.isEmpty }

    /// Whether this system has large pages, or several memory nodes, over which a mapped file is scattered.
    static var isWorthwhile: Bool {
        #if os(Linux)
            if ProcessorTopology.current.nodes.count > 1 { return true }
            let setting = FileManager.default.contents(atPath: "/sys/kernel/mm/transparent_hugepage/enabled")
            return setting.map { !String(decoding: $0, as: UTF8.self).contains("[never]") } ?? false
        #else
            false
        #endif
    }

    /// Moves some matrices. No step may be running.
    func advance(_ pool: ComputePool) {
        var moved = 0
        while moved < portion, let matrix = rest.first {
            move(matrix, to: memory.base + plan.matrices[rest.startIndex].offset, pool)
            moved += matrix.bytes
            rest.removeFirst()
        }
    }

    private func move(_ matrix: PackedMatrix, to target: UnsafeMutableRawPointer, _ pool: ComputePool) {
        let source = UnsafeRawBufferPointer(start: matrix.matrix.data, count: matrix.bytes)
        let size = WeightPlan.chunkSize
        pool.run((source.count + size - 1) / size) { number in
            let range = number * size..<min(source.count, (number + 1) * size)
            let chunk = UnsafeRawBufferPointer(rebasing: source[range])
            UnsafeMutableRawBufferPointer(start: target + range.lowerBound, count: chunk.count)
                .copyMemory(from: chunk)
            Memory.dropPages(chunk)
        }
        matrix.move(to: target, memory: memory)
    }
}
