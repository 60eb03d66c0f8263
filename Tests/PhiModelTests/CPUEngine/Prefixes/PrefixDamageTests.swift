import BatchEngine
import Foundation
import OperatingSystem
import Testing

@testable import PhiModel

/// Whatever is wrong with kept beginnings of prompts, or with their folder, they are computed.
@Suite struct PrefixDamageTests {
    @Test func damageMeansComputingAgain() throws {
        try withPrefixPlace { place in
            let expected = try place.run()
            for (index, file) in place.files.enumerated() {
                let whole = try Data(contentsOf: file)
                var flipped = whole
                flipped[[30, whole.count / 2, whole.count - 1][index]] ^= 4
                let other = Data(PrefixFile.mark + Array("version 0\n".utf8))
                for damaged in [flipped, whole.prefix(whole.count / 2), other, Data()] {
                    try damaged.write(to: file)
                    let found = try place.run()
                    #expect(found.cached[0] < 192 && found.cached[1] == 192 && found.bits == expected.bits)
                    #expect(found.report.faults.count == (damaged.isEmpty ? 2 : 1))
                    if damaged.isEmpty {
                        // It may be anybody's.
                        #expect(try Data(contentsOf: file) == damaged)
                        try whole.write(to: file)
                    } else {
                        #expect(try Data(contentsOf: file) == whole, "written anew")
                    }
                }
            }
        }
    }

    @Test func withoutAUsableFolderAllIsComputed() throws {
        try withPrefixPlace { place in
            let expected = try place.run { $0.cache = .off }
            try FileManager.default.createDirectory(at: place.cache, withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: place.prefixes)
            for cache in [WeightCacheLocation.folder(place.cache.path), .folder("/proc/none")] {
                let found = try place.run { $0.cache = cache }
                #expect(found.cached == [0, 192] && found.bits == expected.bits)
                #expect(found.report.faults.count == 1 && found.report.writtenTokens == 0)
            }
            #expect(try place.run { $0.cache = .unknown("HOME is not set") }.report.faults.isEmpty)
            #expect(try Data(contentsOf: place.prefixes) == Data("mine".utf8))
        }
    }

    @Test func faultsAreToldOnce() throws {
        try withPrefixPlace { place in
            try FileManager.default.createDirectory(at: place.cache, withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: place.prefixes)
            let engine = try place.engine()
            for _ in 0..<2 { for number in 1...2 { _ = try engine.answer(PrefixPlace.prompt(number)) } }
            #expect(engine.keepPrefixes { false }.faults.count == 1)
            #expect(engine.keepPrefixes { false }.faults.isEmpty)
        }
    }

    @Test func enginesAtOnceDoNotDisturbEachOther() throws {
        try withPrefixPlace { place in
            let expected = try place.run().bits
            let results = Results()
            for isEmpty in [false, true] {
                if isEmpty { try FileManager.default.removeItem(at: place.prefixes) }
                DispatchQueue.concurrentPerform(iterations: 4) { number in
                    results.append((try? place.run().bits) ?? [])
                }
            }
            #expect(results.all.count == 8 && results.all.allSatisfy { $0 == expected })
            let names = try FileManager.default.contentsOfDirectory(atPath: place.prefixes.path)
            #expect(place.files.count == 3 && !names.contains { $0.hasSuffix(".draft") })
        }
    }

    private final class Results: @unchecked Sendable {
        private let lock = NSLock()
        private var values: [[[UInt32]]] = []
        func append(_ value: [[UInt32]]) { lock.withLock { values.append(value) } }
        var all: [[[UInt32]]] { lock.withLock { values } }
    }

    // MARK: Room

    @Test func theFolderIsBounded() throws {
        try withPrefixPlace { place in
            let engine = try place.engine { $0.cache = .off }
            for number in 1...2 { _ = try engine.answer(PrefixPlace.prompt(number)) }
            let bytes = engine.kvBytesPerToken * KVCache.blockLength
            func keep(_ text: String, limit: Int = 1 << 30, run: Int = 1 << 30, reserve: Int = 0)
                -> PrefixReport
            {
                let store = PrefixStore(
                    cache: place.cache.path, limit: limit, runLimit: run, reserve: reserve
                ) { text }
                store.keep(
                    engine.sequences.blocks.beginnings(), prompts: 2, memory: { engine.rows.cache.block($0) },
                    until: { false })
                return store.takeReport()
            }
            #expect(keep("a", reserve: .max / 2).faults.first?.contains("MB are left for others") == true)
            #expect(place.files.isEmpty)
            #expect(keep("a", run: 2 * bytes + 10).writtenTokens == 128 && place.files.count == 2)
            for file in place.files {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -100)], ofItemAtPath: file.path)
            }
            let old = Set(place.files)
            try Data("mine".utf8).write(to: place.prefixes.appendingPathComponent("kv-1.prefix"))
            #expect(keep("b", limit: 4 * bytes).writtenTokens == 192)
            let now = Set(place.files)
            #expect(now.count == 4 && now.isDisjoint(with: old), "the oldest go, but nothing that isn't ours")
        }
    }

    @Test func aKilledRunsDraftGoes() throws {
        try withPrefixPlace { place in
            try FileManager.default.createDirectory(at: place.prefixes, withIntermediateDirectories: true)
            let dead = place.prefixes.appendingPathComponent("kv-1f.prefix.1-2.draft")
            try Data(PrefixFile.mark + Array("half".utf8)).write(to: dead)
            // Killed before its first byte.
            let empty = place.prefixes.appendingPathComponent("kv-2f.prefix.5-6.draft")
            try Data().write(to: empty)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -100)], ofItemAtPath: empty.path)
            let begun = place.prefixes.appendingPathComponent("kv-2f.prefix.7-8.draft")
            try Data().write(to: begun)
            let alive = place.prefixes.appendingPathComponent("kv-1f.prefix.3-4.draft")
            let writer = try Platform.NewFile(path: alive.path)
            try writer.write(PrefixFile.mark, at: 0)
            try place.run()
            let left = [dead, empty, begun, alive].map { FileManager.default.fileExists(atPath: $0.path) }
            #expect(left == [false, false, true, true])
            withExtendedLifetime(writer) {}
        }
    }

    @Test func whoIsWaitedForStops() throws {
        try withPrefixPlace { place in
            let engine = try place.engine()
            for number in 1...2 { _ = try engine.answer(PrefixPlace.prompt(number)) }
            var asked = 0
            let report = engine.keepPrefixes {
                asked += 1
                return asked > 2
            }
            #expect(report.writtenTokens == 128 && place.files.count == 2)
            #expect(try place.engine().answer(PrefixPlace.prompt(1)).cached == 128)
        }
    }
}
