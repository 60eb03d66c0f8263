/// Control groups of this process and all groups above them, in both versions of Linux's. Containers and systemd set
/// limits by them.
package struct ControlGroups {
    /// One group, as a folder of the system.
    package struct Group {
        package let folder: String
        /// Whether it is of version 2, with one tree for all controllers.
        package let isUnified: Bool
    }

    private let root: String

    /// - Parameter root: prefix of /proc and /sys, for tests.
    package init(root: String = "") { self.root = root }

    /// Returns the groups whose controller ("memory", "cpu") may limit this process, up to the root.
    package func groups(of controller: String) -> [Group] {
        (Files.text(of: root + "/proc/self/cgroup") ?? "").split(at: "\n").flatMap { line in
            let fields = line.split(at: ":", max: 2, keepingEmpty: true)
            guard fields.count == 3 else { return [Group]() }
            let isUnified = fields[0] == "0"
            guard isUnified || fields[1].split(at: ",").contains(Substring(controller)) else {
                return []
            }
            let top = root + "/sys/fs/cgroup" + (isUnified ? "" : "/" + controller)
            var names = fields[2].split(at: "/")
            var groups: [Group] = []
            // In a container the path is the host's, and only the root exists.
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
