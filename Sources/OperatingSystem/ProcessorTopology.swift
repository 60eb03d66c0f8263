/// Cores and memory nodes of the processors that this process may use.
package struct ProcessorTopology: Sendable, Equatable {
    /// Processors of each usable core, ascending. Processors of one core share its execution units: a second thread
    /// there adds almost nothing to matmuls.
    package let cores: [[Int]]
    /// The same by memory node (NUMA), without empty nodes. Memory of another node is slower, and its link is narrow.
    package let nodes: [[Int]]

    /// Topology at first use. If the system doesn't know it, each processor is a core, and all have one memory.
    package static let current = ProcessorTopology(root: "") ?? ProcessorTopology(count: Processors.usable)

    package init(cores: [[Int]], nodes: [[Int]]) {
        self.cores = cores
        self.nodes = nodes
    }

    private init(count: Int) {
        self.init(cores: (0..<count).map { [$0] }, nodes: [Array(0..<count)])
    }

    /// Reads Linux's topology.
    /// - Parameter root: prefix of /proc and /sys, for tests.
    init?(root: String) {
        guard let usable = Processors.numbers(root: root), !usable.isEmpty else { return nil }
        let system = root + "/sys/devices/system"
        func list(_ path: String) -> [Int]? {
            Files.text(of: system + path).flatMap { Processors.ranges($0[...]) }?.flatMap { Array($0) }
        }
        let isUsable = Set(usable)
        func groups(_ members: (Int) -> [Int]) -> [[Int]] {
            var seen: Set<Int> = []
            return usable.compactMap { number in
                guard !seen.contains(number) else { return nil }
                let group = Set(members(number) + [number]).filter {
                    isUsable.contains($0) && !seen.contains($0)
                }
                seen.formUnion(group)
                return group.sorted()
            }
        }
        let siblings = { list("/cpu/cpu\($0)/topology/thread_siblings_list") ?? [$0] }
        let nodes = (list("/node/online") ?? []).compactMap { list("/node/node\($0)/cpulist") }
        // Processors of no node form one that is far from the others; those of two belong to the first.
        self.init(
            cores: groups(siblings),
            nodes: nodes.isEmpty ? [usable] : groups { number in nodes.first { $0.contains(number) } ?? [] })
    }

    /// Returns the node of each thread, in proportion to the nodes' cores: neighbours are on one node.
    package func nodes(of threads: Int) -> [Int] {
        let sizes = nodes.map { node in cores.filter { node.contains($0[0]) }.count }
        let all = max(1, sizes.reduce(0, +))
        return (0..<threads).map { thread in
            // The middle of the thread's share of all cores.
            var place = (2 * thread + 1) * all
            for (number, size) in sizes.enumerated() {
                place -= 2 * threads * size
                if place < 0 { return number }
            }
            return max(0, nodes.count - 1)
        }
    }
}
