import Foundation
import Foundations

/// Joins the finished outputs of all shards of a job to what one run of it would have made.
///
/// Results of shard I are those of every Nth line from the Ith on, so they are taken from the shards in turn. Nothing is
/// written before all of them are known to be whole and of one job.
package struct ShardMerge {
    package private(set) var lines = 0
    package private(set) var results = 0
    package private(set) var failed = 0

    /// - Parameters:
    ///   - output: the path that the job names; the shards lie beside it.
    ///   - count: how many shards there are.
    ///   - restart: replace an output that is there.
    /// - Throws: `StoreError` naming the shard that is missing, not complete, damaged or of another job.
    package init(output: String, count: Int) throws {
        let system = POSIXFileSystem()
        var shards: [Shard] = []
        for index in 0..<count { shards.append(try Shard(output, index, of: count, in: system)) }
        let format = shards[0].format
        for shard in shards {
            guard shard.format.name == format.name, shard.settings == shards[0].settings else {
                throw StoreError(
                    .mismatch, path: shard.path,
                    "is of another job than \(shards[0].path): model or settings differ.")
            }
        }
        try Self.checkLengths(shards)
        let paths = try OutputPaths(output: output, format: format, in: system)
        let lock = try OutputLock(
            paths.lock, draft: paths.lockDraft, output: output, waiting: nil, in: system)
        defer { lock.release() }
        guard try RunFile.open(paths.journal, .journal, .readOwn, in: system) == nil else {
            throw StoreError(
                .mismatch, path: paths.journal, "is of a run without shards that is not finished.")
        }
        var place = try OutputPlace(paths, output: output, in: system)
        try place.prepare()
        let samples = try shards.compactMap { try $0.samples() }.first ?? 1
        let run = ResultRun(digest: shards[0].settings.fingerprint.digest, samples: samples)
        let writer = try OutputWriter(at: place, format: format, run: run)
        try writer.cleaningUp {
            while try shards[lines % count].appendLine(to: writer, &results, &failed) { lines += 1 }
            try shards[0].settings.put(at: place)
            try writer.finish {}
        }
    }

    /// All shards have the same number of lines, the first ones perhaps one more.
    private static func checkLengths(_ shards: [Shard]) throws {
        let total = try shards.reduce(0) { try $0 + $1.countLines() }
        for (index, shard) in shards.enumerated() {
            let wanted = LineSelection.shard(index: index, count: shards.count).count(of: total)
            guard try shard.countLines() == wanted else {
                throw StoreError(
                    .mismatch, path: shard.path,
                    "has results of \(try shard.countLines()) lines, but \(wanted) of \(total) would be its share: the shards are not of one input. Run those again whose input was another one."
                )
            }
        }
    }
}

/// The finished output of one shard.
private final class Shard {
    let path: String
    let format: any ResultFormat
    let settings: OutputSettings
    private let output: EarlierOutput
    private let index: ResultIndex
    private let pieces: FilePieces
    private var next = 0
    private var lineCount: Int?

    init(_ output: String, _ number: Int, of count: Int, in system: any FileSystem) throws {
        path = JobSettings.shardPath(output, number, of: count)
        format = try ResultFormats.format(ofOutput: path)
        let paths = try OutputPaths(output: path, format: format, in: system)
        if try OutputLock.probe(paths.lock, in: system).isHeld {
            throw StoreError(.locked, path: path, "is being written; wait for its run.")
        }
        guard try RunFile.open(paths.journal, .journal, .readOwn, in: system) == nil else {
            throw StoreError(
                .mismatch, path: path, "is not complete: its run was stopped. Run this shard again.")
        }
        guard let settings = try OutputSettings.read(at: paths, in: system) else {
            throw StoreError(
                .mismatch, path: path, "is not there, or not complete: nothing says what its results are of.")
        }
        self.settings = settings
        guard let file = try File.openIfPresent(paths.output, .read, in: system) else {
            throw StoreError(.mismatch, path: path, "is not there. Run this shard again.")
        }
        let record =
            paths.keepsRecord ? try OutputRecord.needed(for: file, format, at: paths, in: system).file : nil
        index = ResultIndex(.folder(nil))
        self.output = try EarlierOutput(
            file, record: record, format: format, run: ResultRun(digest: "", samples: 1), index: index
        ) { _ in true }
        pieces = FilePieces(self.output.source)
        let check = try OutputCheck.read(output: path, format: format)
        guard self.output.outcome.foreign == 0, check?.different == 0 else {
            throw StoreError(
                .mismatch, path: path,
                "is not as it was written (line \(check?.firstDifferent ?? 1)). Run this shard again with --restart."
            )
        }
    }

    private func with<R>(
        _ number: Int, _ body: (RecordedResult, UnsafeRawBufferPointer) throws -> R
    ) throws -> R {
        let entry = try index[number]
        let found = try pieces.with(entry.offset..<entry.offset + Int(entry.length)) { line in
            try output.withKept(line, of: entry, body)
        }
        guard let found else { throw StoreError.changedUnderneath(path) }
        return found
    }

    private func startsLine(_ number: Int) throws -> Bool {
        try with(number) { result, _ in result.key.sample == 0 }
    }

    /// Results of the first line; nil if there is none.
    func samples() throws -> Int? {
        guard index.count > 0 else { return nil }
        var count = 1
        while count < index.count, try !startsLine(count) { count += 1 }
        return count
    }

    func countLines() throws -> Int {
        if let lineCount { return lineCount }
        let count = try (0..<index.count).count { try startsLine($0) }
        lineCount = count
        return count
    }

    /// Hands all results of the next line over.
    /// - Returns: false if there is none.
    func appendLine(to writer: OutputWriter, _ results: inout Int, _ failed: inout Int) throws -> Bool {
        guard next < index.count else { return false }
        repeat {
            if try index[next].isFailed { failed += 1 }
            try with(next) { result, bytes in try writer.append(kept: bytes, result) }
            results += 1
            next += 1
        } while try next < index.count && !startsLine(next)
        return true
    }
}
