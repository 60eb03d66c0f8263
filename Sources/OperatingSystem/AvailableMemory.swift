import Errors
import FoundationShim

/// Memory of one kind that this process may still take, and the limit that determines it.
package struct AvailableMemory: Equatable {
    /// Kind of memory that a limit counts.
    package enum Source: Sendable {
        /// Resident memory: pages that were touched.
        case pages
        /// All mapped memory, files included.
        case addressSpace
        /// All writable private memory, touched or not.
        case data
    }

    package var kind: Source
    package var bytes: Int
    /// For a message, as in "of the machine's 16.0 GB, 2.1 GB are free".
    package var reason: String

    package init(kind: Source = .pages, bytes: Int, reason: String) {
        (self.kind, self.bytes, self.reason) = (kind, bytes, reason)
    }

    /// Returns all limits, at least one: the machine's free memory, the limits of this process's control groups
    /// (containers, systemd), and those of `ulimit`.
    /// - Parameter root: prefix of /proc and /sys, for tests.
    package static func limits(root: String = "") -> [AvailableMemory] {
        let physical = Int(clamping: ProcessInfo.processInfo.physicalMemory)
        // A system that doesn't report free memory makes room by itself, so all of it counts.
        var found = [AvailableMemory(bytes: physical, reason: "the machine has \(byteText(physical))")]
        if let free = meminfo(root) { found.append(free) }
        return found + groupLimits(root) + (root.isEmpty ? processLimits() : [])
    }

    private static func meminfo(_ root: String) -> AvailableMemory? {
        guard let text = Files.text(of: root + "/proc/meminfo"),
            let available = kilobytes("MemAvailable", in: text), let total = kilobytes("MemTotal", in: text)
        else { return nil }
        return AvailableMemory(
            bytes: available, reason: "of the machine's \(byteText(total)), \(byteText(available)) are free")
    }

    /// Cached files count as free, as the system can drop them.
    private static func groupLimits(_ root: String) -> [AvailableMemory] {
        ControlGroups(root: root).groups(of: "memory").compactMap { group in
            let names =
                group.isUnified
                ? ["/memory.max", "/memory.current"] : ["/memory.limit_in_bytes", "/memory.usage_in_bytes"]
            guard let limit = Files.numbers(in: group.folder + names[0]).first,
                let used = Files.numbers(in: group.folder + names[1]).first
            else { return nil }
            let free = max(0, limit - max(0, used - cachedFiles(group)))
            return AvailableMemory(
                bytes: free, reason: "of the control group's \(byteText(limit)), \(byteText(free)) are free")
        }
    }

    private static func cachedFiles(_ group: ControlGroups.Group) -> Int {
        let names = ["inactive_file", "active_file"].map { group.isUnified ? $0 : "total_" + $0 }
        return (Files.text(of: group.folder + "/memory.stat") ?? "").split(at: "\n")
            .reduce(0) { sum, line in
                let fields = line.split(at: " ")
                guard fields.count == 2, names.contains(String(fields[0])) else { return sum }
                return sum + (Int(fields[1]) ?? 0)
            }
    }

    /// Returns the memory that `ulimit` leaves, as far as the system reports its use.
    private static func processLimits() -> [AvailableMemory] {
        let status = Files.text(of: "/proc/self/status") ?? ""
        func left(_ kind: Source, _ limit: Int?, _ used: String, _ name: String) -> AvailableMemory? {
            guard let limit else { return nil }
            let free = max(0, limit - (kilobytes(used, in: status) ?? 0))
            return AvailableMemory(
                kind: kind, bytes: free,
                reason: "of the \(byteText(limit)) of \(name), \(byteText(free)) are free")
        }
        return [
            left(.addressSpace, Memory.addressSpaceLimit, "VmSize", "address space (ulimit -v)"),
            left(.data, Memory.dataLimit, "VmData", "data (ulimit -d)"),
        ].compactMap { $0 }
    }

    /// A line like "MemTotal:   16000 kB", in bytes.
    private static func kilobytes(_ name: String, in text: String) -> Int? {
        text.split(at: "\n").first { $0.hasPrefix(name + ":") }
            .flatMap { $0.dropFirst(name.count + 1).split { $0 == " " || $0 == "\t" }.first }
            .flatMap { Int($0) }.map { $0 << 10 }
    }
}
