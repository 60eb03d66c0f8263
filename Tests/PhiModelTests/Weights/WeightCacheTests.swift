import BatchEngine
import Foundation
import OperatingSystem
import TestSupport
import Testing

@testable import PhiModel

/// Weights from the cache are the checkpoint's, packed; whatever is wrong with the cache, the model loads.
@Suite struct WeightCacheTests {
    private static let prompt: [Int32] = [5, 6, 7, 8, 9, 200, 17]

    /// A model folder and a cache folder beside it.
    private struct Place {
        let top: URL
        var model: URL { top.appendingPathComponent("model") }
        var cache: URL { top.appendingPathComponent("cache") }

        func write(_ geometry: SyntheticCheckpoint) throws { try geometry.write(to: model) }

        func engine(_ cache: WeightCacheLocation) throws -> PhiEngine {
            try PhiEngine(
                folder: model.path, options: EngineOptions(threads: 2, kvBudget: 16 << 20, cache: cache))
        }

        /// The logits with the cache, which must be usable.
        func cachedLogits() throws -> [UInt32] {
            let engine = try engine(.folder(cache.path))
            #expect(engine.cacheFault == nil)
            return try engine.logits(prompt).map(\.bitPattern)
        }

        func freshLogits() throws -> [UInt32] { try engine(.off).logits(prompt).map(\.bitPattern) }

        /// Where the packed weights lie.
        var weights: URL { cache.appendingPathComponent("weights") }
        var files: [URL] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: weights.path)) ?? []
            return names.sorted().map { weights.appendingPathComponent($0) }
        }
        /// The model's checkpoint, and a plan of matrices of its vocabulary's height.
        func plan(_ names: String...) throws -> (TensorStore, WeightPlan) {
            let model = try Architectures.read(folder: model.path)
            let store = try TensorStore(model, in: self.model.path)
            var plan = WeightPlan()
            for name in names {
                _ = plan.add(
                    name,
                    try store.linear(
                        name, rows: model.shape.vocabularySize, columns: model.shape.hiddenSize))
            }
            return (store, plan)
        }
        func inode(_ file: URL) throws -> UInt64 { try MappedFile(path: file.path).state.identity.inode }
    }

    private func withPlace(_ name: String = "mixed-bits", _ body: (Place) throws -> Void) throws {
        let geometry = try #require(LogitsTests.geometries.first { $0.name == name })
        try withTemporaryFolder { folder in
            let place = Place(top: folder)
            try place.write(geometry)
            try body(place)
        }
    }

    @Test(arguments: ["mixed-bits", "bits8-group32-bf16-tied", "all-plain-f16", "bits3"])
    func cachedWeightsGiveTheSameBits(name: String) throws {
        try withPlace(name) { place in
            let expected = try place.freshLogits()
            #expect(place.files.isEmpty)
            #expect(try place.cachedLogits() == expected)
            let file = try #require(place.files.first)
            let inode = try place.inode(file)
            #expect(try place.cachedLogits() == expected)
            #expect(place.files.count == 1)
            #expect(try place.inode(file) == inode, "the second start writes nothing")
        }
    }

    @Test func anotherCheckpointInTheSamePlaceIsPackedAnew() throws {
        try withPlace { place in
            let old = try place.cachedLogits()
            let file = try #require(place.files.first)
            // Other weights in a file of the same size and header.
            var geometry = try #require(LogitsTests.geometries.first { $0.name == "mixed-bits" })
            geometry.name = "other weights"
            try place.write(geometry)
            let expected = try place.freshLogits()
            #expect(expected != old)
            #expect(try place.cachedLogits() == expected)
            #expect(place.files == [file], "the new file replaces the old one")
        }
    }

    /// Every part of the file: its head, checksums, and first and last weights.
    @Test func damageIsFoundAndMended() throws {
        try withPlace { place in
            let expected = try place.cachedLogits()
            let file = try #require(place.files.first)
            let whole = try Data(contentsOf: file)
            let places = [30, 300, 4095, whole.count / 3, whole.count / 2].filter {
                whole[$0] != 0 || $0 > 4096
            }
            #expect(places.count >= 4)
            for offset in places {
                var damaged = whole
                damaged[offset] ^= 0x10
                try damaged.write(to: file)
                #expect(try place.cachedLogits() == expected)
                #expect(try Data(contentsOf: file) == whole, "damaged at \(offset), made anew")
            }
            for count in [24, 4096, whole.count - 1, whole.count + 1] {
                try (count > whole.count ? whole + [0] : whole.prefix(count)).write(to: file)
                #expect(try place.cachedLogits() == expected)
                #expect(try Data(contentsOf: file) == whole, "\(count) bytes, made anew")
            }
        }
    }

    @Test func withoutAUsableFolderTheModelLoads() throws {
        try withPlace { place in
            let expected = try place.freshLogits()
            let file = place.top.appendingPathComponent("file")
            try Data("x".utf8).write(to: file)
            let locations: [WeightCacheLocation] = [
                .folder(file.path + "/under/a/file"), .folder("/proc/none"), .unknown("HOME is not set"),
            ]
            for location in locations {
                let engine = try place.engine(location)
                #expect(engine.cacheFault?.isEmpty == false)
                #expect(try engine.logits(Self.prompt).map(\.bitPattern) == expected)
            }
            #expect(try place.engine(.off).cacheFault == nil)
        }
    }

    /// Packed weights of another checkpoint, with sums that fit, are as good as ours but for who could write them.
    @Test func whatOthersCouldHaveWrittenIsNotUsed() throws {
        try withPlace { place in
            let expected = try place.cachedLogits()
            let file = try #require(place.files.first)
            var inode = try place.inode(file)
            func madeAnew(_ reason: String) throws {
                let engine = try place.engine(.folder(place.cache.path))
                #expect(try engine.logits(Self.prompt).map(\.bitPattern) == expected)
                #expect(engine.cacheFault == nil && engine.notes.filter { $0.contains(reason) }.count == 1)
                #expect(try place.inode(file) != inode)
                inode = try place.inode(file)
            }
            try #require(chmod(file.path, 0o622) == 0)
            try madeAnew("its mode is 622")
            if geteuid() == 0 {
                try #require(chown(file.path, 12_345, 12_345) == 0)
                try madeAnew("belongs to another user (12345)")
            }
            try #require(chmod(place.weights.path, 0o757) == 0)
            let engine = try place.engine(.folder(place.cache.path))
            #expect(try engine.logits(Self.prompt).map(\.bitPattern) == expected)
            #expect(engine.cacheFault?.contains("its mode is 757") == true && engine.notes.isEmpty)
        }
    }

    @Test func startsAtOnceDoNotDisturbEachOther() throws {
        try withPlace { place in
            let expected = try place.freshLogits()
            let results = Results()
            DispatchQueue.concurrentPerform(iterations: 6) { number in
                results.append((try? place.cachedLogits()) ?? [])
            }
            #expect(results.all.count == 6 && results.all.allSatisfy { $0 == expected })
            #expect(place.files.count == 1, "no drafts are left")
        }
    }

    private final class Results: @unchecked Sendable {
        private let lock = NSLock()
        private var values: [[UInt32]] = []
        func append(_ value: [UInt32]) { lock.withLock { values.append(value) } }
        var all: [[UInt32]] { lock.withLock { values } }
    }

    /// A name of ours, and how our files begin.
    private static let mark = WeightFile.mark

    @Test func aKilledStartsDraftGoes() throws {
        try withPlace { place in
            try FileManager.default.createDirectory(at: place.weights, withIntermediateDirectories: true)
            let dead = place.weights.appendingPathComponent("model-1f.weights.1-2.draft")
            try (Self.mark + "half".utf8).data.write(to: dead)
            let alive = place.weights.appendingPathComponent("model-1f.weights.3-4.draft")
            let writer = try File.draft(alive.path)
            try writer.write(Self.mark)
            _ = try place.cachedLogits()
            #expect(!place.files.contains { $0.lastPathComponent == dead.lastPathComponent })
            #expect(place.files.contains { $0.lastPathComponent == alive.lastPathComponent })
            withExtendedLifetime(writer) {}
        }
    }

    @Test func theFolderIsBounded() throws {
        try withPlace { place in
            let (store, plan) = try place.plan("lm_head")
            try FileManager.default.createDirectory(at: place.weights, withIntermediateDirectories: true)
            func other(_ name: String, age: Double, _ start: [UInt8] = Self.mark) throws {
                let path = place.weights.appendingPathComponent(name).path
                try (start + [UInt8](repeating: 0, count: 100_000 - start.count)).data
                    .write(to: URL(filePath: path))
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
            }
            try other("older-1.weights", age: 200)
            try other("newer-2.weights", age: 100)
            try other("unrelated", age: 300)
            try other("foreign-3.weights", age: 300, [])
            try other("named.weights", age: 300)
            let foreign = ["foreign-3.weights", "named.weights", "unrelated"]
            let pool = ComputePool(threads: 1)
            var notes: [String] = []
            var cache = WeightCache(parent: place.cache.path, reserve: .max / 2)
            #expect(throws: SystemError.self) {
                try cache.weights(of: plan, from: store, pool: pool, notes: &notes)
            }
            #expect(place.files.count == 5, "a disk that is nearly full is left alone")

            cache = WeightCache(parent: place.cache.path, limit: 150_000 + plan.count, reserve: 0)
            _ = try cache.weights(of: plan, from: store, pool: pool, notes: &notes)
            let names = Set(place.files.map(\.lastPathComponent))
            #expect(names.count == 5 && names.isSuperset(of: foreign + ["newer-2.weights"]), "\(names)")
            #expect(!names.contains("older-1.weights"), "of ours the one not used for longest goes")
            #expect(notes.isEmpty)
        }
    }

    /// The cache folder may be anybody's.
    @Test func foreignFilesStay() throws {
        try withPlace { place in
            try FileManager.default.createDirectory(at: place.weights, withIntermediateDirectories: true)
            let ours = Self.mark + "layout 2\n".utf8
            let target = place.top.appendingPathComponent("target")
            try ours.data.write(to: target)
            // A name of ours with another beginning, our beginning under another name, and links.
            for (folder, names) in [
                (place.cache, ["x.tmp", "model.1-2.tmp", "a-1f.weights", "scratch-12.tmp", "b.weights"]),
                (place.weights, ["x.tmp", "a-1f.weights", "a-1f.weights.1-2.draft", "b.weights"]),
            ] {
                for name in names {
                    try (name == "b.weights" ? ours : Array("mine".utf8)).data
                        .write(to: folder.appendingPathComponent(name))
                }
                try FileManager.default.createSymbolicLink(
                    at: folder.appendingPathComponent("c-2.weights"), withDestinationURL: target)
                try FileManager.default.createDirectory(
                    at: folder.appendingPathComponent("d-3.weights"), withIntermediateDirectories: false)
            }
            let before = try FileManager.default.subpathsOfDirectory(atPath: place.cache.path)
            #expect(before.count == 14)
            _ = try place.cachedLogits()
            let after = Set(try FileManager.default.subpathsOfDirectory(atPath: place.cache.path))
            #expect(after.isSuperset(of: before), "\(Set(before).subtracting(after))")
            #expect(try Data(contentsOf: target) == ours.data)
        }
    }

    /// What lies where our own file should be is not replaced.
    @Test func whatIsNotOursIsNotReplaced() throws {
        try withPlace { place in
            let expected = try place.cachedLogits()
            let file = try #require(place.files.first)
            let target = place.top.appendingPathComponent("target")
            let foreign = Data("somebody's".utf8)
            try foreign.write(to: target)
            for isLink in [false, true] {
                try FileManager.default.removeItem(at: file)
                if isLink {
                    try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
                } else {
                    try foreign.write(to: file)
                }
                let engine = try place.engine(.folder(place.cache.path))
                #expect(engine.cacheFault?.contains("was not made by phibatch") == true)
                #expect(try engine.logits(Self.prompt).map(\.bitPattern) == expected)
                #expect(try Data(contentsOf: file) == foreign && Data(contentsOf: target) == foreign)
                #expect(place.files == [file])
            }
        }
    }

    @Test func weightsMovedBetweenStepsAreTheSame() throws {
        try withPlace { place in
            let (store, plan) = try place.plan("model.embed_tokens", "lm_head")
            // With several nodes threads take their shares of each matrix.
            #expect(plan.chunks.count == 2 && plan.passes(nodes: 1) == [0..<2])
            #expect(plan.passes(nodes: 2) == [0..<1, 1..<2])
            let pool = ComputePool(threads: 2)
            let packed = try PackedWeights(plan, from: store, cache: .folder(place.cache.path), pool: pool)
            let matrices = [try packed[0], try packed[1]]
            func bytes() -> [Data] {
                matrices.map { matrix in
                    matrix.matrix.data.map { Data(bytes: $0, count: matrix.bytes) } ?? Data()
                }
            }
            let expected = bytes()
            let old = matrices.map(\.matrix.data)
            let move = try WeightMove(plan, matrices, portion: 1)
            move.advance(pool)
            #expect(!move.isDone)
            #expect(matrices[0].matrix.data != old[0] && matrices[1].matrix.data == old[1])
            #expect(bytes() == expected)
            move.advance(pool)
            #expect(move.isDone && matrices[1].matrix.data != old[1])
            #expect(bytes() == expected)
        }
    }

    /// Several steps, in the midst of which the weights move.
    @Test func stepsGiveTheSameTokens() throws {
        try withPlace { place in
            func tokens(_ cache: WeightCacheLocation) throws -> [UInt32] {
                let engine = try place.engine(cache)
                guard let sequence = try engine.begin(prompt: Self.prompt, maxTokens: 5) else { return [] }
                var next = Self.prompt
                return try (0..<5).flatMap { position in
                    let request = SamplingRequest(
                        parameters: SamplingParameters(logprobs: 20), stream: 1, position: position)
                    let choices = try engine.forward(
                        [PassInput(sequence, next[...], sampling: request)])
                    let choice = try #require(choices[0].choice)
                    next = [choice.token]
                    return [UInt32(choice.token)] + choice.top.map(\.logprob.bitPattern)
                }
            }
            let expected = try tokens(.off)
            #expect(expected.count == 105)
            for _ in 0..<2 { #expect(try tokens(.folder(place.cache.path)) == expected) }
        }
    }

    /// If this fails, packing has changed: raise `PackedMatrix.layoutVersion`, then change the numbers.
    @Test func theLayoutHasItsVersion() throws {
        var sums: [UInt64] = []
        for name in ["mixed-bits", "bits8-group32-bf16-tied", "bits3"] {
            try withPlace(name) { place in
                let (_, plan) = try place.plan("model.embed_tokens")
                var bytes = [UInt8](repeating: 0, count: plan.count)
                try bytes.withUnsafeMutableBufferPointer { bytes in
                    guard let base = bytes.baseAddress else { return }
                    for chunk in plan.chunks { try plan.pack(chunk, into: base + chunk.bytes.lowerBound) }
                }
                sums.append(bytes.withUnsafeBytes { BlockChecksum.of($0) })
            }
        }
        #expect(PackedMatrix.layoutVersion == 3)
        #expect(sums == [14_791_443_614_293_986_929, 4_936_716_056_099_229_995, 3_156_469_755_750_121_174])
    }

    @Test func checksumsSeeEveryByte() {
        var bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 * 37) }
        var seen: Set<UInt64> = [bytes.withUnsafeBytes { BlockChecksum.of($0) }]
        for index in bytes.indices {
            bytes[index] ^= 0x80
            seen.insert(bytes.withUnsafeBytes { BlockChecksum.of($0) })
            bytes[index] ^= 0x80
        }
        bytes.swapAt(3, 67)
        seen.insert(bytes.withUnsafeBytes { BlockChecksum.of($0) })
        seen.insert(bytes.dropLast().withUnsafeBytes { BlockChecksum.of($0) })
        #expect(seen.count == 203)
    }
}

extension [UInt8] {
    fileprivate var data: Data { Data(self) }
}
