import BatchEngine
import Foundation
import Testing

@testable import PhiModel

/// Beginnings of prompts are read from the cache folder instead of being computed, with the same bits.
@Suite struct PrefixTests {
    @Test(arguments: [
        ("base", KVPrecision.int8), ("phi-4-mini-heads", .float16), ("longrope", .int8),
        ("phi-moe-25", .int4),
    ])
    func aSecondEngineReadsWhatTheFirstComputed(name: String, precision: KVPrecision) throws {
        let geometry = try #require(LogitsTests.geometries.first { $0.name == name })
        try withPrefixPlace(geometry) { place in
            let expected = try place.run {
                $0.kvPrecision = precision
                $0.cache = .off
            }
            #expect(!FileManager.default.fileExists(atPath: place.cache.path), "no cache, no files")
            let first = try place.run { $0.kvPrecision = precision }
            #expect(first.cached == [0, 192] && first.bits == expected.bits)
            #expect(first.report.writtenTokens == 192 && first.report.faults.isEmpty)
            #expect(place.files.count == 3)
            for _ in 0..<2 {
                let second = try place.run { $0.kvPrecision = precision }
                #expect(second.cached == [192, 192] && second.bits == expected.bits)
                #expect(second.report.readTokens == 192 && second.report.writtenTokens == 0)
                #expect(second.report.faults.isEmpty)
            }
            let off = try place.run {
                $0.kvPrecision = precision
                $0.keepsPrefixes = false
            }
            #expect(off.cached == [0, 192] && off.report.readTokens == 0)
        }
    }

    /// Only rows that are left are computed.
    @Test func rowsAreSaved() throws {
        try withPrefixPlace { place in
            try place.run()
            let (old, new) = (try place.engine { $0.cache = .off }, try place.engine())
            for engine in [old, new] { _ = try engine.answer(PrefixPlace.prompt(3)) }
            let work = [old, new].map { $0.work?.multiplyAdds ?? 0 }
            #expect(work[0] > 8 * work[1] && work[1] > 0)
        }
    }

    /// A prompt that shares less, one that ends within, and rows that something is asked about.
    @Test func asMuchAsFitsIsRead() throws {
        try withPrefixPlace { place in
            try place.run()
            var other = PrefixPlace.prompt(1)
            other[130] += 1
            for (prompt, cacheable, cached) in [
                (other, Int.max, 128), (Array(PrefixPlace.prompt(1)[..<150]), .max, 128),
                (PrefixPlace.prompt(5), 150, 128),
                (Array(PrefixPlace.prompt(1)[..<128]), .max, 64),
                (Array(PrefixPlace.prompt(1)[1...]), .max, 0),
            ] {
                let expected = try place.engine { $0.cache = .off }.answer(prompt, cacheable: cacheable).bits
                let found = try place.engine().answer(prompt, cacheable: cacheable)
                #expect(found.cached == cached && found.bits == expected)
            }
        }
    }

    @Test func nothingIsPushedOut() throws {
        try withPrefixPlace { place in
            try place.run()
            let block = try place.engine().kvBytesPerToken * KVCache.blockLength
            let engine = try place.engine { $0.kvBudget = 6 * block }
            let others = (0..<256).map { Int32($0 % 300 + 5) }
            _ = try engine.answer(others)
            // It has three blocks to be found again, as its last row must be computed, so three are unused.
            let found = try engine.answer(Array(PrefixPlace.prompt(1)))
            #expect(found.cached == 192)
            #expect(try engine.answer(others).cached > 0)
        }
    }

    // MARK: Whose they are

    @Test func othersBeginningsAreNotUsed() throws {
        let longrope = SyntheticCheckpoint(name: "base", rope: .longrope, context: 1024, originalContext: 300)
        try withPrefixPlace(longrope) { place in
            try place.run()
            let changes: [(inout EngineOptions) -> Void] = [
                { $0.kvPrecision = .float16 }, { $0.adapter = place.top.path + "/adapter" },
            ]
            let layers = (0..<2).map {
                (path: "model.layers.\($0).self_attn.o_proj", rows: 128, columns: 128)
            }
            try TestAdapter().write(layers, to: place.top.appendingPathComponent("adapter"))
            for change in changes {
                #expect(try place.run(change).cached == [0, 192])
                #expect(try place.run(change).cached == [192, 192])
            }
            // Another adapter in the same place.
            try TestAdapter(alpha: 9).write(layers, to: place.top.appendingPathComponent("adapter"))
            #expect(try place.run(changes[1]).cached == [0, 192])
            // With the long factors.
            #expect(try place.engine().answer(PrefixPlace.prompt(1), more: 200).cached == 0)
            #expect(try place.engine().answer(PrefixPlace.prompt(1), more: 50).cached == 192)
            // Other weights, and another configuration, in the same place.
            var other = longrope
            other.name = "other"
            try other.write(to: place.model)
            #expect(try place.run().cached == [0, 192])
            other.originalContext = 310
            try other.write(to: place.model)
            #expect(try place.run().cached == [0, 192])
        }
    }

    /// In all, so that a file of one block lies where that of another belongs.
    @Test func aFileUnderAnothersNameIsNotUsed() throws {
        try withPrefixPlace { place in
            let expected = try place.run()
            let contents = try place.files.map { try Data(contentsOf: $0) }
            for shift in [1, 2] {
                for (index, file) in place.files.enumerated() {
                    try contents[(index + shift) % 3].write(to: file)
                }
                let found = try place.run()
                #expect(found.cached == [0, 192] && found.bits == expected.bits)
                #expect(found.report.faults.count == 1 && found.report.writtenTokens == 192)
                #expect(try place.files.map { try Data(contentsOf: $0) } == contents, "written anew")
            }
        }
    }

    // MARK: What is kept

    /// One prompt a run tells nothing; the next run's tells what they share.
    @Test func runsOfOnePromptShareToo() throws {
        try withPrefixPlace { place in
            let found = try (1...3).map { number in
                let engine = try place.engine()
                let cached = try engine.answer(PrefixPlace.prompt(number, count: 300)).cached
                return (cached, engine.keepPrefixes { false }.writtenTokens)
            }
            #expect(found.map(\.0) == [0, 0, 192] && found.map(\.1) == [0, 192, 0])
        }
    }

    @Test func beginningsOfManyArePreferred() throws {
        var blocks = KVBlocks(capacity: 2000, blockLength: 4)
        func run(_ prompt: [Int32]) {
            guard case .leased(var lease) = blocks.lease(prompt) else { return }
            blocks.advance(&lease, to: prompt.count)
            blocks.release(lease)
        }
        let system = [Int32](0..<12)
        for line in 0..<200 as Range<Int32> {
            // Two prompts of each line share its text; some lines share an example.
            for question in 0..<2 as Range<Int32> {
                run(system + (line % 4 == 0 ? [50, 51, 52, 53] : []) + [line, 70, 71, 72, question])
            }
        }
        // What only few tokens are shared of.
        for line in 0..<100 as Range<Int32> { run([90, 91, 92, 93, line, line, line, line, line]) }
        let all = blocks.beginnings()
        let chosen = PrefixChoice(prompts: blocks.promptCount).chosen(all) { _ in true }
        #expect(
            chosen.map { all.tokens(to: $0) } == [
                Array(system[..<4]), Array(system[..<8]), system, system + [50, 51, 52, 53],
            ])
        #expect(PrefixChoice(prompts: 3).chosen(blocks.beginnings()) { _ in false }.count > 100)
    }

    /// If this fails, and the arithmetic has not changed, blocks are laid out in another way: raise
    /// `KVCache.layoutVersion`. Then change the numbers.
    @Test func theLayoutHasItsVersion() throws {
        try withPrefixPlace { place in
            var sums: [UInt64] = []
            for precision in [KVPrecision.int8, .float16, .int4] {
                let engine = try place.engine { $0.kvPrecision = precision }
                _ = try engine.answer(PrefixPlace.prompt(1))
                let first = try #require(engine.sequences.blocks.beginnings().first)
                sums.append(BlockChecksum.of(UnsafeRawBufferPointer(engine.rows.cache.block(first.block))))
            }
            #expect(KVCache.layoutVersion == 2)
            #expect(
                sums == [
                    395_750_491_910_766_060, 10_881_945_734_668_330_444, 13_552_322_685_052_827_875,
                ])
        }
    }
}
