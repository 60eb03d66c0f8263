/// Which processors of this process share a core, and which lie beside the same memory.
package struct ProcessorTopology: Sendable, Equatable {
    /// The processors of each core that this process may use, in ascending order. Those of one core share what computes:
    /// a second thread there adds next to nothing to products that keep it busy.
    package let cores: [[Int]]
    /// The same of each memory node (NUMA); nodes without any are left out. Memory of another
    /// node than the reader's takes longer and comes through a narrow link.
    package let nodes: [[Int]]

    /// As it is when it is first asked for. Where the system doesn't tell, each processor is a core, and all lie
    /// beside one memory.
    package static let current = ProcessorTopology(root: "") ?? ProcessorTopology(count: Processors.usable)

    package init(cores: [[Int]], nodes: [[Int]]) {
        self.cores = cores
        self.nodes = nodes
    }

    private init(count: Int) {
        self.init(cores: (0..<count).map { [$0] }, nodes: [Array(0..<count)])
    }

    /// As Linux tells it.
    /// - Parameter root: where /proc and /sys are; another one in tests.
    init?(root: String) {
        guard let usable = Processors.numbers(root: root), !usable.isEmpty else { return nil }
        let system = root + "/sys/devices/system"
        func list(_ path: String) -> [Int]? {
            SystemFile.text(system + path).flatMap { Processors.ranges($0[...]) }?.flatMap { Array($0) }
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
        // What the system counts to no node, or to two, is taken as one that is far from the others, or the first's.
        self.init(
            cores: groups(siblings),
            nodes: nodes.isEmpty ? [usable] : groups { number in nodes.first { $0.contains(number) } ?? [] })
    }

    /// The node for each of so many threads, as many on each as it has a share of the cores: neighbours lie on one.
    package func nodes(of threads: Int) -> [Int] {
        let sizes = nodes.map { node in cores.filter { node.contains($0[0]) }.count }
        let all = max(1, sizes.reduce(0, +))
        return (0..<threads).map { thread in
            // The middle of the thread's part of all cores.
            var place = (2 * thread + 1) * all
            for (number, size) in sizes.enumerated() {
                place -= 2 * threads * size
                if place < 0 { return number }
            }
            return max(0, nodes.count - 1)
        }
    }
}
