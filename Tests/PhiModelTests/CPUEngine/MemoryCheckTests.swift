import Foundation
import OperatingSystem
import TestSupport
import Testing

@testable import PhiModel

@Suite struct AvailableMemoryTests {
    private func available(_ files: [String: String]) throws -> AvailableMemory {
        try #require(withRoot(files) { AvailableMemory.limits(root: $0).min { $0.bytes < $1.bytes } })
    }

    private static let meminfo = "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:    4000 kB\n"

    @Test func theTightestLimitCounts() throws {
        let machine = try available(["/proc/meminfo": Self.meminfo])
        #expect(machine.bytes == 4000 << 10)
        #expect(machine.reason == "of the machine's 16.4 GB, 4 MB are free")

        let unified = try available([
            "/proc/meminfo": Self.meminfo, "/proc/self/cgroup": "0::/a.slice/b.scope\n",
            "/sys/fs/cgroup/a.slice/memory.max": "3000000\n",
            "/sys/fs/cgroup/a.slice/memory.current": "2500000\n",
            "/sys/fs/cgroup/a.slice/memory.stat":
                "anon 1\ninactive_file 300000\nactive_file 200000\nslab 9\n",
            "/sys/fs/cgroup/a.slice/b.scope/memory.max": "max\n",
            "/sys/fs/cgroup/a.slice/b.scope/memory.current": "2000000\n",
        ])
        #expect(unified.bytes == 1_000_000)
        #expect(unified.reason == "of the control group's 3 MB, 1 MB are free")

        // In a container the path is the host's, and only the root is there.
        let old = try available([
            "/proc/meminfo": Self.meminfo, "/proc/self/cgroup": "9:cpu:/\n4:memory,x:/docker/abc\n0::/\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "2000000\n",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes": "900000\n",
            "/sys/fs/cgroup/memory/memory.stat": "inactive_file 7\ntotal_inactive_file 100000\n",
        ])
        #expect(old.bytes == 1_200_000)
    }

    @Test func aSystemThatDoesNotTellCountsWhole() throws {
        #expect(try available([:]).bytes == Int(clamping: ProcessInfo.processInfo.physicalMemory))
    }
}

@Suite(.tags(.slow), .enabled(if: DemoModel.folder != nil, DemoModel.missing))
struct MemoryCheckTests {
    private func check() throws -> MemoryCheck {
        let folder = try #require(DemoModel.folder)
        return try MemoryCheck(
            Architectures.read(folder: folder), TensorStore(folder: folder), precision: .int8)
    }

    @Test func sizesComeFromTheHeaders() throws {
        let check = try check()
        let engine = try PhiEngine(folder: check.folder, options: EngineOptions(kvBudget: 10_000_000))
        // Products alone, without the norms; the embedding is tied.
        #expect(abs(check.weightBytes - engine.weightBytes) < engine.weightBytes / 100)
    }

    @Test func whatFitsIsGrantedAndWhatDoesNotIsRefused() throws {
        let check = try check()
        let fixed = check.weightBytes + check.workingBytes
        func budget(_ asked: Int?, _ bytes: Int) throws -> Int {
            try check.budget(
                asked: asked, available: [AvailableMemory(bytes: bytes, reason: "there is little")],
                physical: 16_000_000_000)
        }
        #expect(try budget(nil, 100_000_000_000) == 4_000_000_000)
        #expect(try budget(nil, fixed + 400_000_000) == 300_000_000)
        #expect(try budget(nil, fixed + check.workerBytes) == check.workerBytes)
        #expect(try budget(1_000_000, fixed + 1_000_000) == 1_000_000, "less than usual, if asked for")
        #expect(throws: UserError.self) { try budget(nil, fixed + check.workerBytes - 1) }
        let error = #expect(throws: UserError.self) { try budget(3_000_000_000, fixed + 2_000_000_000) }
        #expect(error?.kind == .resources)
        #expect(error?.message.contains("Set kv_budget (--kv-budget) to 2.0 GB or less") == true)
    }

    /// Each limit counts what falls under it, and the tightest decides.
    @Test func limitsOfTheProcessCount() throws {
        let folder = try #require(DemoModel.folder)
        let store = try TensorStore(folder: folder)
        func check(_ cache: WeightCacheLocation) throws -> MemoryCheck {
            try MemoryCheck(
                Architectures.read(folder: folder), store, precision: .int8, cache: cache, threads: 4)
        }
        let (packed, mapped) = (try check(.off), try check(.folder("cache")))
        func budget(_ check: MemoryCheck, _ kind: AvailableMemory.Source, _ bytes: Int) throws -> Int {
            let limits = [
                AvailableMemory(bytes: 50_000_000_000, reason: "the machine has much"),
                AvailableMemory(kind: kind, bytes: bytes, reason: "ulimit says no"),
            ]
            return try check.budget(asked: nil, available: limits, physical: 1_000_000_000_000)
        }
        let rest = packed.workingBytes + 4 * ComputePool.stackSize + packed.workerBytes
        #expect(try budget(packed, .data, packed.weightBytes + rest) == packed.workerBytes)
        #expect(try budget(mapped, .data, rest) == packed.workerBytes, "what is mapped is no data")
        #expect(try budget(mapped, .addressSpace, packed.weightBytes + rest) == packed.workerBytes)
        for (check, kind) in [(packed, AvailableMemory.Source.data), (mapped, .addressSpace)] {
            let error = #expect(throws: UserError.self) {
                try budget(check, kind, packed.weightBytes + rest - 1)
            }
            #expect(error?.message.contains("but ulimit says no. End other programs") == true)
        }
    }

    @Test func memoryThatCannotBeHadIsAnError() throws {
        let error = #expect(throws: UserError.self) { try PageMemory(count: 1 << 60) }
        #expect(error?.kind == .resources)
        #expect(error?.message.contains("more can't be had: Cannot allocate memory") == true)
        #expect(throws: UserError.self) { try PageMemory(count: 4096, leaving: 1 << 60) }
        let buffer = Buffer<Float>()
        try buffer.reserve(1000)
        #expect(throws: UserError.self) { try buffer.reserve(1 << 58) }
        try buffer.reserve(10)
        buffer.pointer[9] = 1
        let memory = try PageMemory(count: (4 << 20) + 1)
        #expect(Int(bitPattern: memory.base) % (2 << 20) == 0 && memory.count == 6 << 20)
        #expect(UnsafeRawBufferPointer(start: memory.base, count: memory.count).allSatisfy { $0 == 0 })
    }
}
