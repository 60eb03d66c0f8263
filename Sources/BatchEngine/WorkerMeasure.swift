/// At how many requests a step's time per row stops falling on this machine: measured while they run. A plain value:
/// what steps took goes in, how many may run together comes out.
///
/// It begins with a number that is right for most machines, and never goes below. After some steps with as many rows
/// it tries half as many more; if a row takes noticeably less time so, that is the new number, else it goes back.
/// Later, and then more and more seldom, it looks again, as other programs may have been in the way. Attention costs
/// each row the same, whatever runs beside it, and grows with the texts: it counts in what a row takes, and not in
/// what is saved.
package struct WorkerMeasure: Sendable {
    /// What was found.
    package struct Finding: Sendable, Equatable {
        /// How many run together from now on.
        package var workers: Int
        /// The last two that were compared.
        package var before: Int
        package var tried: Int
        /// The share of a row's time that it takes less with `tried`; below 0 if it takes more.
        package var gain: Double
    }

    /// What a row takes with so many, in seconds.
    private struct Cost {
        var workers: Int
        /// The time of what all rows share.
        var shared: Double
        var attention: Double
    }

    /// How many may run together now.
    package private(set) var workers: Int
    /// The last comparison; nil before the first.
    package private(set) var finding: Finding?

    private let least: Int
    private var most: Int
    /// What `workers` is compared with, if it is a try.
    private var before: Cost?
    private var shared: [Double] = []
    private var attention = 0.0
    /// Nothing is tried until `pause` is over.
    private var isSettled = false
    /// Steps that are not looked at.
    private var pause: Int
    private var nextPause = 512

    /// Steps of which the quickest count: others' work can only make a step slower.
    static let sampleCount = 24
    /// The first steps of all touch new memory.
    private static let firstPause = 4
    /// What half as many more must save of a row's time.
    static let leastGain = 0.03

    /// - Parameters:
    ///   - least: how many run together at first, and always may.
    ///   - most: more are not tried.
    init(from least: Int, to most: Int) {
        precondition(least > 0 && most >= least)
        (self.least, self.most) = (least, most)
        workers = least
        pause = Self.firstPause
    }

    /// A step has been taken that was a row for each of `rows` completions and nothing else.
    /// - Parameters:
    ///   - seconds: all of it.
    ///   - attention: of it.
    mutating func took(_ seconds: Double, attention: Double, rows: Int) {
        // Fewer say nothing of so many: the others have their prompts read, or there are none. More are of a try
        // that is over.
        guard most > least, rows <= workers, 10 * rows >= 9 * workers else { return }
        guard pause == 0 else {
            pause -= 1
            if pause == 0, isSettled {
                // From a little lower, in case that what was found then was others' doing.
                isSettled = false
                workers = max(least, workers * 2 / 3)
            }
            return
        }
        shared.append(max(0, seconds - attention) / Double(rows))
        self.attention += attention / Double(rows)
        guard shared.count == Self.sampleCount else { return }
        let cost = Cost(
            workers: workers, shared: shared.sorted()[Self.sampleCount / 4],
            attention: self.attention / Double(Self.sampleCount))
        (shared, self.attention) = ([], 0)
        judge(cost)
    }

    /// They found no room in the KV cache: more of them would only be in each other's way.
    mutating func gaveWay() {
        workers = max(least, before?.workers ?? workers * 2 / 3)
        most = workers
        finding?.workers = workers
        settle()
    }

    private mutating func judge(_ cost: Cost) {
        guard let before else { return goOn(after: cost) }
        let whole = before.shared + cost.attention
        let gain = whole > 0 ? (before.shared - cost.shared) / whole : 0
        // Where the most is near, it is less than half as many more.
        let step = Double(cost.workers - before.workers) / Double(before.workers)
        let isBetter = gain >= Self.leastGain * min(1, 2 * step)
        finding = Finding(
            workers: isBetter ? cost.workers : before.workers, before: before.workers, tried: cost.workers,
            gain: gain)
        guard isBetter, cost.workers < most else {
            workers = isBetter ? cost.workers : before.workers
            return settle()
        }
        goOn(after: cost)
    }

    private mutating func goOn(after cost: Cost) {
        guard workers < most else { return settle() }
        before = cost
        workers = min(most, workers + (workers + 1) / 2)
        pause = 1
    }

    private mutating func settle() {
        (before, shared, attention, isSettled) = (nil, [], 0, true)
        pause = nextPause
        nextPause *= 2
    }
}
