/// The control groups that this process is in, with all above them, in both versions of Linux's: their limits
/// are those of containers and of systemd.
package struct ControlGroups {
    /// One group, as a folder of the system's.
    package struct Group {
        package let folder: String
        /// Version 2, where all controllers share one tree.
        package let isUnified: Bool
    }

    private let root: String

    /// - Parameter root: where /proc and /sys are; another one in tests.
    package init(root: String = "") { self.root = root }

    /// The groups that a controller ("memory", "cpu") may limit, from this process's own up to the root.
    package func groups(of controller: String) -> [Group] {
        (SystemFile.text(root + "/proc/self/cgroup") ?? "").split(at: "\n").flatMap { line in
            let fields = line.split(at: ":", max: 2, keepingEmpty: true)
            guard fields.count == 3 else { return [Group]() }
            let isUnified = fields[0] == "0"
            guard isUnified || fields[1].split(at: ",").contains(Substring(controller)) else {
                return []
            }
            let top = root + "/sys/fs/cgroup" + (isUnified ? "" : "/" + controller)
            var names = fields[2].split(at: "/")
            var groups: [Group] = []
            // In a container the path is the host's, and only the root is there.
            while true {
                groups.append(
                    Group(
                        folder: ([top] + names.map(String.init)).joined(separator: "/"), isUnified: isUnified)
                )
                if names.popLast() == nil { return groups }
            }
        }
    }
}

/// The small text files in which the system tells of itself.
package enum SystemFile {
    /// Nil if it can't be read.
    package static func text(_ path: String) -> String? { Files.text(of: path, limit: 1 << 20) }

    /// The numbers in a file; words like "max" are left out.
    package static func numbers(_ path: String) -> [Int] {
        (text(path) ?? "").split { $0 == " " || $0 == "\n" }.compactMap { Int($0) }
    }
}
