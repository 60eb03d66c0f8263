import Foundation
import Foundations

/// How much memory this process may still take, and what says so.
struct AvailableMemory: Equatable {
    var bytes: Int
    /// For a message, as in "of the machine's 16.0 GB, 2.1 GB are free".
    var reason: String

    /// The tightest of: what the machine has free, the limits of the control groups above this process
    /// (containers, systemd), and the limit on address space.
    /// - Parameter root: where /proc and /sys are; another one in tests.
    static func now(root: String = "") -> AvailableMemory {
        let physical = Int(clamping: ProcessInfo.processInfo.physicalMemory)
        // Where the system doesn't tell what is free, it makes room by itself: all there is counts.
        var found = [AvailableMemory(bytes: physical, reason: "the machine has \(byteText(physical))")]
        if let free = meminfo(root) { found.append(free) }
        found += groupLimits(root)
        if root.isEmpty, let limit = Platform.addressSpaceLimit {
            let used = numbers(root + "/proc/self/statm").first.map { $0 * Platform.pageSize } ?? 0
            let free = max(0, limit - used)
            found.append(
                AvailableMemory(
                    bytes: free,
                    reason:
                        "of the \(byteText(limit)) of address space (ulimit -v), \(byteText(free)) are free"
                ))
        }
        return found.min { $0.bytes < $1.bytes } ?? found[0]
    }

    private static func meminfo(_ root: String) -> AvailableMemory? {
        guard let text = text(root + "/proc/meminfo") else { return nil }
        func kilobytes(_ name: String) -> Int? {
            text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
                .flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) }
        }
        guard let available = kilobytes("MemAvailable"), let total = kilobytes("MemTotal") else { return nil }
        return AvailableMemory(
            bytes: available << 10,
            reason: "of the machine's \(byteText(total << 10)), \(byteText(available << 10)) are free")
    }

    /// One element for each limit on the way from this process's group up to the root, in both versions of
    /// Linux's control groups. Cached files count as free: they give way.
    private static func groupLimits(_ root: String) -> [AvailableMemory] {
        var found: [AvailableMemory] = []
        for line in (text(root + "/proc/self/cgroup") ?? "").split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let isUnified = fields[0] == "0"
            guard isUnified || fields[1].split(separator: ",").contains("memory") else { continue }
            let top = root + "/sys/fs/cgroup" + (isUnified ? "" : "/memory")
            var path = String(fields[2])
            while true {
                let folder = top + (path == "/" ? "" : path)
                if let limit = numbers(folder + (isUnified ? "/memory.max" : "/memory.limit_in_bytes")).first,
                    let used = numbers(folder + (isUnified ? "/memory.current" : "/memory.usage_in_bytes"))
                        .first
                {
                    let free = max(0, limit - max(0, used - cachedFiles(folder, isUnified: isUnified)))
                    found.append(
                        AvailableMemory(
                            bytes: free,
                            reason: "of the control group's \(byteText(limit)), \(byteText(free)) are free"))
                }
                if path == "/" || !Paths.isAbsolute(path) { break }
                path = Paths.folder(of: path)
            }
        }
        return found
    }

    private static func cachedFiles(_ folder: String, isUnified: Bool) -> Int {
        let names = ["inactive_file", "active_file"].map { isUnified ? $0 : "total_" + $0 }
        return (text(folder + "/memory.stat") ?? "").split(separator: "\n").reduce(0) { sum, line in
            let fields = line.split(separator: " ")
            guard fields.count == 2, names.contains(String(fields[0])) else { return sum }
            return sum + (Int(fields[1]) ?? 0)
        }
    }

    /// The name of a control group need not be UTF-8.
    private static func text(_ path: String) -> String? {
        (try? Files.contents(of: path)).map { String(pathBytes: $0) }
    }

    /// None for a limit of "max".
    private static func numbers(_ path: String) -> [Int] {
        (text(path) ?? "").split { $0 == " " || $0 == "\n" }.compactMap { Int($0) }
    }
}

/// "2.1 GB", "35 MB": decimal, as disks and job files have it.
func byteText(_ bytes: Int) -> String {
    let megabytes = Double(bytes) / 1e6
    guard megabytes >= 999.5 else { return "\(Int(megabytes.rounded())) MB" }
    let tenths = Int((megabytes / 100).rounded())
    return "\(tenths / 10).\(tenths % 10) GB"
}
