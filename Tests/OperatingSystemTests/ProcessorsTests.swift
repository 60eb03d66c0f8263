import Foundation
import TestSupport
import Testing

@testable import OperatingSystem

struct ProcessorsTests {
    @Test func affinityCounts() throws {
        func usable(_ allowed: String, online: String?) throws -> Int? {
            var files = ["/proc/self/status": "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t\(allowed)\n"]
            files["/sys/devices/system/cpu/online"] = online
            return try withRoot(files) { Processors.numbers(root: $0)?.count }
        }
        #expect(try usable("0-1", online: "0-1\n") == 2)
        #expect(try usable("0", online: "0-1\n") == 1)
        // Virtual machines allow processors that are not there.
        #expect(try usable("0-127", online: "0-3,8,10-11\n") == 7)
        #expect(try usable("0-4", online: "2-3,8\n") == 2)
        #expect(try usable("2-5,9,11-20", online: "0-3,8-11\n") == 4)
        #expect(try usable("3,5,7", online: nil) == 3)
        #expect(try usable("nonsense", online: "0-1\n") == nil)
        #expect(try withRoot([:]) { Processors.numbers(root: $0) } == nil)
    }

    @Test func theTightestQuotaCounts() throws {
        func count(_ files: [String: String], cores: Int = 8) throws -> Int {
            try withRoot(files) { Processors.count(cores: cores, groups: ControlGroups(root: $0)) }
        }
        #expect(try count([:]) == 8)
        func unified(_ inner: String, _ outer: String) -> [String: String] {
            [
                "/proc/self/cgroup": "0::/a.slice/b.scope\n", "/sys/fs/cgroup/a.slice/cpu.max": outer + "\n",
                "/sys/fs/cgroup/a.slice/b.scope/cpu.max": inner + "\n",
            ]
        }
        #expect(try count(unified("max 100000", "max 100000")) == 8)
        #expect(try count(unified("max 100000", "50000 100000")) == 1)
        #expect(try count(unified("150000 100000", "400000 100000")) == 2)
        #expect(try count(unified("1600000 100000", "max 100000")) == 8)
        func old(_ quota: Int) -> [String: String] {
            // In a container the path is the host's, and only the root is there.
            [
                "/proc/self/cgroup": "4:cpu,cpuacct:/docker/abc\n0::/\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "\(quota)\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            ]
        }
        #expect(try count(old(-1)) == 8)
        #expect(try count(old(50_000)) == 1)
        #expect(try count(old(300_000)) == 3)
        #expect(try count(old(300_000), cores: 2) == 2)
    }
}

struct ProcessorTopologyTests {
    /// Two sockets of so many cores with two processors each; as Linux counts them, second ones of cores come last.
    private func twoSockets(_ cores: Int, allowed: String, nodes: [String]) -> [String: String] {
        var files = [
            "/proc/self/status": "Cpus_allowed_list:\t\(allowed)\n",
            "/sys/devices/system/cpu/online": "0-\(4 * cores - 1)\n",
            "/sys/devices/system/node/online": "0-\(nodes.count - 1)\n",
        ]
        for number in 0..<4 * cores {
            let first = number % (2 * cores)
            files["/sys/devices/system/cpu/cpu\(number)/topology/thread_siblings_list"] =
                "\(first),\(first + 2 * cores)\n"
        }
        for (number, list) in nodes.enumerated() {
            files["/sys/devices/system/node/node\(number)/cpulist"] = list + "\n"
        }
        return files
    }

    @Test func socketsHaveCoresAndMemory() throws {
        let files = twoSockets(2, allowed: "0-7", nodes: ["0-1,4-5", "2-3,6-7", ""])
        let found = try withRoot(files) { ProcessorTopology(root: $0) }
        #expect(found?.cores == [[0, 4], [1, 5], [2, 6], [3, 7]])
        #expect(found?.nodes == [[0, 1, 4, 5], [2, 3, 6, 7]], "memory alone is no place for threads")
        #expect(found?.nodes(of: 4) == [0, 0, 1, 1])
        #expect(found?.nodes(of: 3) == [0, 1, 1] && found?.nodes(of: 1) == [1])
        #expect(found?.nodes(of: 8) == [0, 0, 0, 0, 1, 1, 1, 1])
    }

    /// Containers and `taskset` leave some out: also one processor of a core, or most of a node.
    @Test func onlyThoseThatMayBeUsedCount() throws {
        let files = twoSockets(2, allowed: "1,3-6", nodes: ["0-1,4-5", "2-3,6-7"])
        let found = try withRoot(files) { ProcessorTopology(root: $0) }
        #expect(found?.cores == [[1, 5], [3], [4], [6]] && found?.nodes == [[1, 4, 5], [3, 6]])
        let less = try withRoot(twoSockets(2, allowed: "0-1,4,6", nodes: ["0-1,4-5", "2-3,6-7"])) {
            ProcessorTopology(root: $0)
        }
        #expect(less?.cores.count == 3 && less?.nodes(of: 3) == [0, 0, 1])
        let one = try withRoot(twoSockets(2, allowed: "2,6", nodes: ["0-1,4-5", "2-3,6-7"])) {
            ProcessorTopology(root: $0)
        }
        #expect(one == ProcessorTopology(cores: [[2, 6]], nodes: [[2, 6]]))
    }

    @Test func whereTheSystemSaysNothingAllAreAlike() throws {
        let files = ["/proc/self/status": "Cpus_allowed_list:\t0-2\n"]
        let found = try withRoot(files) { ProcessorTopology(root: $0) }
        #expect(found == ProcessorTopology(cores: [[0], [1], [2]], nodes: [[0, 1, 2]]))
        #expect(found?.nodes(of: 5) == [0, 0, 0, 0, 0])
        #expect(try withRoot([:]) { ProcessorTopology(root: $0) } == nil)
        let here = ProcessorTopology.current
        #expect(
            here.cores.joined().count == Processors.usable && here.nodes.joined().count == Processors.usable)
    }
}

struct WorkerThreadTests {
    @Test func aThreadRuns() throws {
        let isDone = DispatchSemaphore(value: 0)
        try WorkerThread.start("a test") { isDone.signal() }
        #expect(isDone.wait(timeout: .now() + longestWait) == .success)
    }

    @Test func aThreadThatCannotBeMadeIsAnError() {
        let error = #expect(throws: SystemError.self) {
            // More than the address space of any machine.
            try WorkerThread.start("too large", stackSize: 1 << 60) { Issue.record("it runs") }
        }
        #expect(error?.reason.isEmpty == false)
    }
}

@Test func energyOfPackagesAddsUp() throws {
    let folder = "/sys/class/powercap/intel-rapl"
    var files: [String: String] = [:]
    func add(_ domain: String, _ name: String, _ energy: Int) {
        files["\(folder)\(domain)/name"] = name + "\n"
        files["\(folder)\(domain)/max_energy_range_uj"] = "1000000000\n"
        files["\(folder)\(domain)/energy_uj"] = "\(energy)\n"
    }
    // A part of a package, all of the machine, and a second way to the same counter.
    for (domain, name) in [(":0:0", "core"), (":2", "psys"), ("-mmio:0", "package-0")] {
        add(domain, name, 0)
    }
    #expect(try withRoot(files) { EnergyMeter(root: $0) } == nil)
    add(":0", "package-0", 999_000_000)
    add(":1", "package-1", 5)
    try withRoot(files) { root in
        func set(_ domain: String, _ text: String) throws {
            try Data(text.utf8).write(to: URL(filePath: "\(root)\(folder)\(domain)/energy_uj"))
        }
        var meter = try #require(EnergyMeter(root: root))
        #expect(meter.joules() == 0)
        for domain in [":0:0", "-mmio:0"] { try set(domain, "7000000\n") }
        try set(":0", "999500000\n")
        try set(":1", "2000005\n")
        #expect(meter.joules() == 2.5)
        // The counter goes round.
        try set(":0", "250000\n")
        #expect(meter.joules() == 3.25)
        try set(":1", "")
        #expect(meter.joules() == nil)
    }
}
