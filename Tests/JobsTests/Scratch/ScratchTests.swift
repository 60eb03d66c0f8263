import Foundation
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// What holds little in memory must do as if it held all.
@Suite struct ScratchTests {
    private func scratch(
        _ folder: TestFolder, residentCount: Int, system: any FileSystem = FaultyFileSystem()
    ) -> Scratch {
        Scratch(path: folder.path("scratch"), residentCount: residentCount, in: system)
    }

    enum Place: CaseIterable { case path, newFolder, impossibleFolder, memory }

    private func scratch(_ folder: TestFolder, at place: Place, residentCount: Int) throws -> Scratch {
        switch place {
        case .path: return scratch(folder, residentCount: residentCount)
        case .newFolder: return .folder(folder.path("new/cache"), residentCount: residentCount)
        case .impossibleFolder:
            try folder.write([], to: "file")
            return .folder(folder.path("file/cache"), residentCount: residentCount)
        case .memory: return .folder(nil, residentCount: residentCount)
        }
    }

    /// Files that `scratch` left.
    private func leftovers(_ folder: TestFolder) throws -> Set<String> {
        let all = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)
        return Set(all).subtracting(["file", "new", "new/cache"])
    }

    @Test(arguments: [2, 8, 256, 4096], Place.allCases) func anArray(residentCount: Int, place: Place) throws
    {
        let folder = try TestFolder()
        let array = PagedArray<UInt32>(try scratch(folder, at: place, residentCount: residentCount))
        var expected: [UInt32] = []
        var random = FixedRandom(1)
        for _ in 0..<20_000 {
            let value = UInt32.random(in: 1 ... .max, using: &random)
            if expected.count < 3000, Bool.random(using: &random) {
                expected.append(value)
                try array.append(value)
            } else if let index = expected.indices.randomElement(using: &random) {
                #expect(try array[index] == expected[index])
                expected[index] = value
                try array.set(index, value)
            }
        }
        #expect(try expected.indices.allSatisfy { try array[$0] == expected[$0] })
        #expect(try leftovers(folder).isEmpty)
    }

    @Test func whatWasNeverSetIsZero() throws {
        let folder = try TestFolder()
        let array = PagedArray<UInt64>(scratch(folder, residentCount: 4), count: 1000)
        try array.set(700, 7)
        #expect(try (0..<1000).allSatisfy { try array[$0] == ($0 == 700 ? 7 : 0) })
    }

    @Test(arguments: [2, 16, 1024], Place.allCases) func aTable(residentCount: Int, place: Place) throws {
        let folder = try TestFolder()
        var table = HashTable(try scratch(folder, at: place, residentCount: residentCount))
        var random = FixedRandom(2)
        // Some lie close together, some at the ends.
        let keys =
            (0..<1500).map { _ in UInt64.random(in: 0 ... .max, using: &random) }
            + (0..<300).map { .max - $0 } + (0..<300).map { 0x1234 << 48 | $0 } + [0]
        for (number, key) in keys.enumerated() {
            #expect(try table.value(of: key) == nil)
            try table.insert(key, UInt64(number))
            if number % 7 == 0,
                let (known, other) = keys[...number].enumerated().randomElement(using: &random)
            {
                #expect(try table.value(of: other) == UInt64(known))
            }
        }
        for (number, key) in keys.enumerated() { #expect(try table.value(of: key) == UInt64(number)) }
        #expect(try leftovers(folder).isEmpty)
    }

    /// From some call on the disk takes nothing more, or but once not; then memory has to.
    @Test(arguments: [0, 1, 2, 3, 5, 8, 40, 200], [true, false]) func aFullDisk(call: Int, lasts: Bool) throws
    {
        let memory = ScratchMemory(limit: 1 << 20)
        for place in [true, false] {
            let folder = try TestFolder()
            let system = FaultyFileSystem(failing: call, with: .error(ENOSPC), lasts: lasts, onlyWrites: true)
            let scratch =
                place
                ? Scratch(path: folder.path("scratch"), residentCount: 16, memory: memory, in: system)
                : Scratch.folder(folder.path("new/cache"), residentCount: 16, memory: memory, in: system)
            let array = PagedArray<UInt32>(scratch)
            var table = HashTable(scratch)
            for number in 0..<5000 {
                try array.append(UInt32(number))
                try table.insert(UInt64(number) &* 0x9e37_79b9_7f4a_7c15, UInt64(number))
                if number % 3 == 0 { try array.set(number / 2, UInt32(number)) }
            }
            for number in 0..<5000 {
                #expect(try table.value(of: UInt64(number) &* 0x9e37_79b9_7f4a_7c15) == UInt64(number))
                // The last multiple of 3 whose half it is.
                let last = [2 * number + 1, 2 * number].first { $0 % 3 == 0 && $0 < 5000 }
                #expect(try array[number] == UInt32(last ?? number))
            }
            #expect(try leftovers(folder).isEmpty)
        }
    }

    @Test func memoryInPlaceOfAFullDiskIsBounded() throws {
        let folder = try TestFolder()
        let memory = ScratchMemory(limit: 4 * 4096)
        let system = FaultyFileSystem(failing: 0, with: .error(ENOSPC), lasts: true, onlyWrites: true)
        let scratch = Scratch(path: folder.path("scratch"), residentCount: 2, memory: memory, in: system)
        for _ in 1...2 {
            let file = scratch.makeFile()
            let block = [UInt8](repeating: 7, count: 4096)
            for number in 0..<4 { try block.withUnsafeBytes { try file.write($0, at: number * 4096) } }
            // What is held may be changed still.
            try block.withUnsafeBytes { try file.write($0, at: 6000) }
            let error = #expect(throws: StoreError.self) {
                try block.withUnsafeBytes { try file.write($0, at: 4 * 4096) }
            }
            #expect(error?.kind == .io && error?.code == ENOSPC)
            #expect(error?.message.contains("memory holds 16384 bytes, which is the most") == true)
        }
        let alone = Scratch.folder(nil, residentCount: 2, memory: ScratchMemory(limit: 4096), in: system)
            .makeFile()
        let error = #expect(throws: StoreError.self) {
            try [UInt8](repeating: 7, count: 5000).withUnsafeBytes { try alone.write($0, at: 0) }
        }
        #expect(error?.message.contains("PHIBATCH_CACHE") == true)
    }

    #if os(Linux)
        @Test func aFolderHoldsNamelessFiles() throws {
            let folder = try TestFolder()
            let cache = folder.path("cache")
            let file = Scratch.folder(cache).makeFile()
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            let open = descriptors.compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
            }
            #expect(open.contains { $0.contains("cache/scratch-") && $0.hasSuffix(" (deleted)") })
            #expect(try FileManager.default.contentsOfDirectory(atPath: cache).isEmpty)
            withExtendedLifetime(file) {}
        }
    #endif

    @Test func aJobThatFitsInMemoryMakesNoFile() throws {
        let folder = try TestFolder()
        let system = FaultyFileSystem()
        var seen = SeenIDs(scratch(folder, residentCount: 64, system: system))
        for number in 0..<63 { #expect(try seen.insert("\(number)")) }
        #expect(system.calls.isEmpty)
        for number in 63..<300 { #expect(try seen.insert("\(number)")) }
        #expect(!system.calls.isEmpty)
        for number in 0..<300 { #expect(try !seen.insert("\(number)")) }
    }

    /// Runs, breaks off, edits and shuffles a job with doubled ids; with little in memory all of it, reports
    /// included, must be as with much.
    @Test func aStoreThatHoldsLittle() throws {
        var random = FixedRandom(3)
        var lines = TestLine.make(400)
        for index in stride(from: 11, to: 400, by: 40) { lines[index].fails = true }
        for index in stride(from: 5, to: 400, by: 9) { lines[index].id = "same" }
        for index in stride(from: 7, to: 400, by: 31) { lines[index] = lines[index - 1] }
        var edited = lines
        for index in stride(from: 0, to: 400, by: 23) { edited[index].content += " edited" }
        edited.removeLast(50)
        edited += TestLine.make(30, "late").map { TestLine(id: "late " + $0.id, content: $0.content) }
        let runs = [(lines, 170), (lines, Int.max), (edited, 20), (edited.shuffled(using: &random), .max)]
        let folders = [try TestFolder(), try TestFolder()]
        for (lines, limit) in runs {
            var reports: [ResumeReport] = []
            var counts: [Int] = []
            for (folder, residentCount) in zip(folders, [4, Scratch.defaultResidentCount]) {
                let store = try openStore(folder, prunes: true, residentCount: residentCount)
                counts.append(try TestRun(lines: lines, limit: limit).run(store))
                reports.append(store.report)
                if limit < .max { try store.suspend() }
            }
            #expect(reports[0] == reports[1] && counts[0] == counts[1])
            if limit == .max {
                #expect(try folders[0].bytes("out.jsonl") == folders[1].bytes("out.jsonl"))
                #expect(try folders[0].bytes("out.jsonl") == TestRun(lines: lines).expected())
                let kept = reports[0].gone > 0 ? ["out.jsonl.old-1"] : []
                // A journal of which many lines have changed is kept as well.
                let names = try folders[0].names.filter { $0 != "out.jsonl.journal.old-1" }
                #expect(names == ["out.jsonl"] + kept)
            }
        }
    }

    @Test func aLeftOverFileIsTakenAlong() throws {
        let folder = try TestFolder()
        for name in ["out.jsonl.phibatch-index", "out.jsonl.phibatch-ids"] { try folder.write([], to: name) }
        let lines = TestLine.make(20)
        try TestRun(lines: lines).run(openStore(folder, residentCount: 2))
        #expect(try folder.names == ["out.jsonl"])
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
    }
}
