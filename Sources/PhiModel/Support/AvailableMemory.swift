import Errors
import FoundationShim
import OperatingSystem

/// Memory of one kind that this process may still take, and the limit that says so.
struct AvailableMemory: Equatable {
    /// Limit that counts.
    enum Kind {
        /// Memory that is really there: pages that were touched.
        case pages
        /// All that is mapped, files too.
        case addressSpace
        /// All that is mapped to be written, touched or not.
        case data
    }

    var kind = Kind.pages
    var bytes: Int
    /// For a message, as in "of the machine's 16.0 GB, 2.1 GB are free".
    var reason: String

    /// All limits there are, at least one: what the machine has free, the limits of the control groups above
    /// this process (containers, systemd), and those that `ulimit` sets.
    /// - Parameter root: where /proc and /sys are; another one in tests.
    static func limits(root: String = "") -> [AvailableMemory] {
        let physical = Int(clamping: ProcessInfo.processInfo.physicalMemory)
        // Where the system doesn't tell what is free, it makes room by itself: all there is counts.
        var found = [AvailableMemory(bytes: physical, reason: "the machine has \(byteText(physical))")]
        if let free = meminfo(root) { found.append(free) }
        return found + groupLimits(root) + (root.isEmpty ? processLimits() : [])
    }

    private static func meminfo(_ root: String) -> AvailableMemory? {
        guard let text = SystemFile.text(root + "/proc/meminfo"),
            let available = kilobytes("MemAvailable", in: text), let total = kilobytes("MemTotal", in: text)
        else { return nil }
        return AvailableMemory(
            bytes: available, reason: "of the machine's \(byteText(total)), \(byteText(available)) are free")
    }

    /// Cached files count as free: they give way.
    private static func groupLimits(_ root: String) -> [AvailableMemory] {
        ControlGroups(root: root).groups(of: "memory").compactMap { group in
            let names =
                group.isUnified
                ? ["/memory.max", "/memory.current"] : ["/memory.limit_in_bytes", "/memory.usage_in_bytes"]
            guard let limit = SystemFile.numbers(group.folder + names[0]).first,
                let used = SystemFile.numbers(group.folder + names[1]).first
            else { return nil }
            let free = max(0, limit - max(0, used - cachedFiles(group)))
            return AvailableMemory(
                bytes: free, reason: "of the control group's \(byteText(limit)), \(byteText(free)) are free")
        }
    }

    private static func cachedFiles(_ group: ControlGroups.Group) -> Int {
        let names = ["inactive_file", "active_file"].map { group.isUnified ? $0 : "total_" + $0 }
        return (SystemFile.text(group.folder + "/memory.stat") ?? "").split(at: "\n")
            .reduce(0) { sum, line in
                let fields = line.split(at: " ")
                guard fields.count == 2, names.contains(String(fields[0])) else { return sum }
                return sum + (Int(fields[1]) ?? 0)
            }
    }

    /// Memory that `ulimit` leaves, as far as the system says how much is used.
    static func processLimits() -> [AvailableMemory] {
        let status = SystemFile.text("/proc/self/status") ?? ""
        func left(_ kind: Kind, _ limit: Int?, _ used: String, _ name: String) -> AvailableMemory? {
            guard let limit else { return nil }
            let free = max(0, limit - (kilobytes(used, in: status) ?? 0))
            return AvailableMemory(
                kind: kind, bytes: free,
                reason: "of the \(byteText(limit)) of \(name), \(byteText(free)) are free")
        }
        return [
            left(.addressSpace, Platform.addressSpaceLimit, "VmSize", "address space (ulimit -v)"),
            left(.data, Platform.dataLimit, "VmData", "data (ulimit -d)"),
        ].compactMap { $0 }
    }

    /// A line like "MemTotal:   16000 kB", in bytes.
    private static func kilobytes(_ name: String, in text: String) -> Int? {
        text.split(at: "\n").first { $0.hasPrefix(name + ":") }
            .flatMap { $0.dropFirst(name.count + 1).split { $0 == " " || $0 == "\t" }.first }
            .flatMap { Int($0) }.map { $0 << 10 }
    }
}
