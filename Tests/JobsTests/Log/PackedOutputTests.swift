import Foundation
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs
@testable import OperatingSystem

/// Inputs and outputs that are packed: whatever reads them again sees what it would see of plain ones.
@Suite struct PackedOutputTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write(ScriptedRun.prompts(30).utf8, to: "in.jsonl")
    }

    private func packed(_ text: [UInt8], _ packing: Packing) throws -> [UInt8] {
        let packer = try Packer(packing)
        return try packer.pack(Array(text.prefix(100)), isLast: false)
            + packer.pack(Array(text.dropFirst(100)), isLast: true)
    }

    private func job(_ output: String, _ change: (inout JobSettings) -> Void = { _ in }) throws -> JobSettings
    {
        var job = ScriptedRun.job(folder.path("in.jsonl")) { job in
            (job.output, job.keep, job.maxFailures) = (
                folder.path(output), .fields([.init("id", as: "of")]), .percent(50)
            )
            (job.tokens, job.logprobs) = (false, nil)
            change(&job)
        }
        try job.check(file: nil)
        job.chooseShardOutput()
        job.chooseOutputFormat()
        try job.checkOutputNames()
        return job
    }

    @discardableResult
    private func run(_ job: JobSettings, restart: Bool = false, stoppingAt step: Int = .max) throws
        -> RunOutcome
    { try ScriptedRun.run(job, restart: restart, stoppingAt: step) }

    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    /// Unpacked, and without what differs from run to run.
    private func text(_ path: String) throws -> [String] {
        String(decoding: try ByteSource(path: path).readAll(limit: .max), as: UTF8.self)
            .split(separator: "\n").map { withoutTiming(String($0)) }
    }

    @Test(arguments: Packing.allCases) func inputsAreUnpacked(packing: Packing) throws {
        let plain = try bytes(folder.path("in.jsonl"))
        let half = (plain.firstIndex(of: 0x0A) ?? 0) + 1
        // Several one after the other, as parallel packers write them, and an empty one.
        let whole =
            try packed(Array(plain[..<half]), packing) + packed([], packing)
            + packed(Array(plain[half...]), packing)
        try folder.write(whole, to: "in.packed")
        #expect(try ByteSource(path: folder.path("in.packed")).readAll(limit: .max) == plain)
        var (rest, made, buffer) = (whole[...], [UInt8](), [UInt8](repeating: 0, count: 3))
        let unpacker = try Unpacker(packing, bufferSize: 1)
        while case let count = try buffer.withUnsafeMutableBytes({ buffer in
            try unpacker.read(into: buffer) { packed in
                packed[0] = rest.first ?? 0
                return rest.popFirst() == nil ? 0 : 1
            }
        }), count > 0 { made += buffer[..<count] }
        #expect(made == plain)
        for cut in [whole.count - 1, whole.count - 40, 30, packing.magics[0].count - 1] {
            try folder.write(whole[..<cut], to: "cut" + packing.nameEnd)
            #expect {
                try ByteSource(path: folder.path("cut" + packing.nameEnd)).readAll(limit: .max)
            } throws: {
                "\($0)".contains("ends in the middle of its \(packing) data")
            }
        }
        var damaged = whole
        damaged[damaged.count - 3] ^= 0x55
        try folder.write(damaged, to: "damaged")
        #expect { try ByteSource(path: folder.path("damaged")).readAll(limit: .max) } throws: {
            "\($0)".contains(packing == .gzip ? "is damaged" : "can't be unpacked")
        }
        #expect(InputFormat.auto.format(for: "A.CSV" + packing.nameEnd).name == "csv")
    }

    @Test(arguments: ["out.jsonl.gz", "out.jsonl.zst", "out.json.gz", "out.csv.zst"])
    func outputsAreWhatTheirNamesSay(name: String) throws {
        let packing = try #require(Packing(name: name))
        let plain = try job(Packing.stem(ofName: name))
        try run(plain)
        let job = try job(name) { $0.errors = nil }
        #expect(try run(job, stoppingAt: 7).status == .interrupted)
        #expect(!FileManager.default.fileExists(atPath: job.output))
        // A killed run leaves a draft.
        try folder.write(
            packed(Array(String(repeating: "{\"id\":\"a\",\"text\":0}\n", count: 9).utf8), packing),
            to: name + ".phibatch-new")
        #expect(try run(job).status == .complete)
        let made = try bytes(job.output)
        #expect(made.starts(with: packing.magics[0]))
        #expect(try text(job.output) == text(plain.output) && made.count < bytes(plain.output).count)
        // Nothing is left, and nothing to do.
        #expect(try folder.names.filter { $0.contains("phibatch") }.isEmpty)
        #expect(try run(job).statistics.done == 0 && bytes(job.output) == made)
        #expect(try OutputCheck(output: job.output).faults.isEmpty)
        #expect(try JobStatus(output: job.output).done == 30)
        #expect(try JobFreshness(job, cache: .off)?.isFresh == true)
        let (chosen, _) = try RedoChoice(where: "id == 'line-3'").results(of: job)
        #expect(chosen.map(\.id) == ["line-3"])
        // An edited line alone is done again.
        let lines = ScriptedRun.prompts(30).replacing("word 7\"", with: "word seven\"")
        try folder.write(lines.utf8, to: "in.jsonl")
        #expect(try run(job).statistics.done == 1)
        // What is damaged is written again.
        try folder.write(made.dropLast(20), to: name)
        #expect(try run(job).statistics.done == 0)
        try run(plain)
        #expect(try text(job.output) == text(plain.output))
    }

    @Test func shardsAreJoinedAndFailedLinesPacked() throws {
        try folder.write((ScriptedRun.prompts(9) + "{\n").utf8, to: "in.jsonl")
        let plain = try job("all.jsonl")
        try run(plain)
        for index in 0..<2 {
            let shard = try job("all.jsonl.gz") { $0.selection = .shard(index: index, count: 2) }
            try run(shard)
            #expect(try bytes(shard.output).starts(with: Packing.gzip.magics[0]), "\(shard.output)")
        }
        _ = try ShardMerge(output: folder.path("all.jsonl.gz"), count: 2, maxFailures: .percent(50))
        #expect(try text(folder.path("all.jsonl.gz")) == text(plain.output))
        let apart = try job("good.jsonl.zst") { $0.errors = folder.path("bad.jsonl.gz") }
        for _ in 0..<2 { #expect(try run(apart).statistics.failed == 1) }
        #expect(try bytes(folder.path("bad.jsonl.gz")).starts(with: Packing.gzip.magics[0]))
        #expect(try text(folder.path("bad.jsonl.gz")).count == 1 && text(apart.output).count == 9)
        #expect(try OutputCheck(apart, output: apart.output, errors: apart.errors).faults == [])
    }

    @Test func withoutTheLibraryItIsSaid() throws {
        #expect { try ZstdCodec.library(named: "/nowhere/libzstd.so") } throws: {
            ($0 as? SystemError)?.reason.contains("PHIBATCH_ZSTD") == true
        }
        #expect { try ZstdCodec(packs: true, library: ZstdCodec.library(named: "libz.so.1")) } throws: {
            ($0 as? SystemError)?.reason.contains("has no ZSTD_createCCtx") == true
        }
    }
}
