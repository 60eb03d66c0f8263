import FoundationShim

/// Processors that this process may use.
package enum Processors {
    /// Processors that it may run on: `taskset` and containers exclude some.
    package static let usable = usable(root: "") ?? max(1, Int(sysconf(CInt(_SC_NPROCESSORS_ONLN))))

    /// Number of threads that can run all the time: one on each usable core, or fewer if a control group limits the
    /// time. A part of a processor counts as one, since unused time is lost.
    package static let count = count(cores: ProcessorTopology.current.cores.count, groups: ControlGroups())

    private static func usable(root: String) -> Int? { numbers(root: root).map { max(1, $0.count) } }

    /// Returns the processors of `sched_getaffinity`, ascending, from a file; nil if there is no such file.
    /// - Parameter root: prefix of /proc and /sys, for tests.
    static func numbers(root: String) -> [Int]? {
        guard let status = Files.text(of: root + "/proc/self/status"),
            let line = status.split(at: "\n").first(where: { $0.hasPrefix("Cpus_allowed_list:") }),
            let allowed = ranges(line.dropFirst("Cpus_allowed_list:".count)), !allowed.isEmpty
        else { return nil }
        let all = Set(allowed.joined())
        // Processors that may be plugged in later are allowed, too.
        let online = Files.text(of: root + "/sys/devices/system/cpu/online").flatMap { ranges($0[...]) }
        return online.map { Set($0.joined()).intersection(all).sorted() } ?? all.sorted()
    }

    /// Parses a list like "0-3,8"; nil for anything else.
    static func ranges(_ list: Substring) -> [ClosedRange<Int>]? {
        var ranges: [ClosedRange<Int>] = []
        for part in list.split(whereSeparator: { ", \t\n".contains($0) }) {
            let ends = part.split(at: "-").map { Int($0) ?? -1 }
            guard let first = ends.first, let last = ends.last, ends.count <= 2, first >= 0, first <= last
            else { return nil }
            ranges.append(first...last)
        }
        return ranges
    }

    static func count(cores: Int, groups: ControlGroups) -> Int {
        let shares = groups.groups(of: "cpu").compactMap { group -> Double? in
            let (quota, period): (Int?, Int?)
            if group.isUnified {
                let numbers = Files.numbers(in: group.folder + "/cpu.max")
                // "max 100000" has only one number.
                (quota, period) = numbers.count == 2 ? (numbers[0], numbers[1]) : (nil, nil)
            } else {
                quota = Files.numbers(in: group.folder + "/cpu.cfs_quota_us").first
                period = Files.numbers(in: group.folder + "/cpu.cfs_period_us").first
            }
            guard let quota, let period, quota > 0, period > 0 else { return nil }
            return Double(quota) / Double(period)
        }
        guard let least = shares.min(), least < Double(cores) else { return cores }
        return max(1, Int(least.rounded(.up)))
    }
}
