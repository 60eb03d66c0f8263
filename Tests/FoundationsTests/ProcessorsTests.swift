import Foundation
import Testing

@testable import Foundations

/// A folder with the given files of /proc and /sys.
private func withRoot<Result>(_ files: [String: String], _ body: (String) throws -> Result) throws -> Result {
    let root = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    for (path, text) in files {
        let url = URL(filePath: root + path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }
    return try body(root)
}

struct ProcessorsTests {
    @Test func affinityCounts() throws {
        func usable(_ allowed: String, online: String?) throws -> Int? {
            var files = ["/proc/self/status": "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t\(allowed)\n"]
            files["/sys/devices/system/cpu/online"] = online
            return try withRoot(files) { Processors.usable(root: $0) }
        }
        #expect(try usable("0-1", online: "0-1\n") == 2)
        #expect(try usable("0", online: "0-1\n") == 1)
        // Virtual machines allow processors that are not there.
        #expect(try usable("0-127", online: "0-3,8,10-11\n") == 7)
        #expect(try usable("2-5,9,11-20", online: "0-3,8-11\n") == 4)
        #expect(try usable("3,5,7", online: nil) == 3)
        #expect(try usable("nonsense", online: "0-1\n") == nil)
        #expect(try withRoot([:]) { Processors.usable(root: $0) } == nil)
    }

    @Test func theTightestQuotaCounts() throws {
        func count(_ files: [String: String], usable: Int = 8) throws -> Int {
            try withRoot(files) { Processors.count(usable: usable, groups: ControlGroups(root: $0)) }
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
        #expect(try count(old(300_000), usable: 2) == 2)
    }
}

struct WorkerThreadTests {
    @Test func aThreadRuns() throws {
        let isDone = DispatchSemaphore(value: 0)
        try WorkerThread.start("a test") { isDone.signal() }
        #expect(isDone.wait(timeout: .now() + .seconds(60)) == .success)
    }

    @Test func aThreadThatCannotBeMadeIsAnError() {
        let error = #expect(throws: WorkerThread.CannotStart.self) {
            // More than the address space of any machine.
            try WorkerThread.start("too large", stackSize: 1 << 60) { Issue.record("it runs") }
        }
        #expect(error?.reason.isEmpty == false)
    }
}
