import BatchEngine
import CPhiKernels
import OperatingSystem

/// Threads that kernels run on: our own, since Swift's cooperative pool must not be blocked.
///
/// The caller is one of the threads. It waits only for threads that have taken a piece of its region, so a thread that
/// sleeps or waits for a processor delays nobody. Between two regions the threads spin for some microseconds, then
/// sleep; sooner if the thread that they wait for has no processor, which they then free. At most as many threads as
/// processors are awake at a time. Used by one caller at a time.
///
/// On machines with several memory nodes, each thread keeps to one. Weights are moved to memory in the shares in which
/// they are multiplied, so that each thread's share is local; other threads take of it only after their own. Within a
/// node threads move freely: pinned to a processor they would wait for other programs there, which takes up to twice as
/// long on a shared machine.
package final class ComputePool: Sendable {
    /// Number of threads, the caller included.
    package let threads: Int
    /// Number of threads that can run at the same time.
    package let width: Int
    /// Reason why there are fewer threads than requested; nil if there are not.
    let fault: String?
    private let team: ComputeTeam

    /// Kernels need little of it; compiled without optimization, 2 MB.
    package static let stackSize = 8 << 20

    /// - Parameters:
    ///   - asked: number of threads, the caller included; at least 1. Fewer will do.
    ///   - processors: the most that may be awake at a time.
    ///   - topology: the nodes that they keep to.
    package init(
        threads asked: Int, processors: Int = Processors.usable, stackSize: Int = ComputePool.stackSize,
        topology: ProcessorTopology = .current
    ) {
        let asked = max(1, asked)
        let team = ComputeTeam(threads: asked, width: max(1, min(asked, processors)))
        // The caller's thread isn't ours to bind.
        let nodes = topology.nodes.count > 1 ? topology.nodes(of: team.width) : []
        var made = 1
        var fault: String?
        while made < asked, fault == nil {
            let number = made
            do throws(SystemError) {
                try WorkerThread.start("compute \(number)", stackSize: stackSize) {
                    if !nodes.isEmpty { Self.bind(to: topology.nodes[nodes[team.share(of: number)]]) }
                    team.help(number)
                }
                made += 1
            } catch {
                fault = "of \(asked) compute threads only \(made) can be made: \(error.reason)"
            }
        }
        team.begin(threads: made)
        self.team = team
        threads = made
        width = min(made, team.width)
        self.fault = fault
    }

    private static func bind(to processors: [Int]) {
        let numbers = processors.map { Int32($0) }
        phi_bind_thread(numbers, Int32(numbers.count))
    }

    // The team lives as long as its threads.
    deinit { team.dismiss() }

    /// Calls `body` with 0 ..< count, each index once, on all threads; returns when all are done.
    package func run(_ count: Int, _ body: (Int) -> Void) {
        run(count, unit: 1, halving: false) { piece in for index in piece { body(index) } }
    }

    /// Like `run`, for work that can fail.
    /// - Throws: the error of the lowest index, whichever came first.
    func runThrowing(_ count: Int, _ body: (Int) throws -> Void) throws {
        let failure = Mutex<(index: Int, error: any Error)?>(nil)
        run(count) { index in
            // After a failed index nothing needs to be done.
            if failure.withLock({ $0.map { $0.index < index } ?? false }) { return }
            do {
                try body(index)
            } catch {
                failure.withLock { if $0.map({ index < $0.index }) ?? true { $0 = (index, error) } }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure.error }
    }

    /// Runs rows in whole tiles of 16 if there are enough, so that one thread gets neighbours, whose results share
    /// cache lines.
    func runRows(_ count: Int, _ body: (Int) -> Void) {
        let size = count >= 16 * width ? 16 : max(1, (count + width - 1) / width)
        run(count, unit: size, halving: false) { piece in for row in piece { body(row) } }
    }

    /// Runs pieces of contiguous memory, long ones first and short ones at the end, so that all threads finish
    /// together. Pieces begin at multiples of `unit`.
    package func runPieces(_ count: Int, unit: Int, _ body: (Range<Int>) -> Void) {
        run(count, unit: unit, halving: true, body)
    }

    /// Returns the length of the shortest pieces of 0 ..< count: `unit`, which is fastest by itself, unless threads
    /// would then wait longer for the one with the most.
    package func unit(_ unit: Int, of count: Int) -> Int {
        func most(_ unit: Int) -> Int {
            let pieces = (count + unit - 1) / unit
            return (pieces + width - 1) / width * unit
        }
        return 16 * most(unit) <= 17 * most(1) ? unit : 1
    }

    private func run(_ count: Int, unit: Int, halving: Bool, _ body: (Range<Int>) -> Void) {
        if threads == 1 || count <= unit {
            if count > 0 { body(0..<count) }
            return
        }
        withoutActuallyEscaping(body) { body in
            withUnsafePointer(to: body) { team.lead(count, unit: unit, halving: halving, $0) }
        }
    }
}
