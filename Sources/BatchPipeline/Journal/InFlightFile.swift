import Foundation
import Foundations

/// How far a run has come, for `phibatch status`; saved beside the in-flight completions.
package struct JobProgress: Sendable, Equatable, Codable {
    /// Seconds since 1970.
    package var startedAt: Double
    package var savedAt: Double
    /// Results that the job will have (lines times samples), if the input was read to its end.
    package var resultsTotal: Int?
    /// Results and completion tokens of this run alone: what its speed is reckoned from.
    package var doneThisRun: Int
    package var completionTokensThisRun: Int

    package init(
        startedAt: Double = 0, savedAt: Double = 0, resultsTotal: Int? = nil, doneThisRun: Int = 0,
        completionTokensThisRun: Int = 0
    ) {
        self.startedAt = startedAt
        self.savedAt = savedAt
        self.resultsTotal = resultsTotal
        self.doneThisRun = doneThisRun
        self.completionTokensThisRun = completionTokensThisRun
    }
}

/// The completions under way, in a file of their own that is replaced in one rename: superseded ones
/// would only swell the journal. Each line has its sum; a damaged one costs that completion's head
/// start and nothing else.
enum InFlightFile {
    private struct Header: Codable {
        var version: Int
        var run: String
        var progress: JobProgress

        enum CodingKeys: String, CodingKey {
            case version = "phibatch_inflight"
            case run, progress
        }
    }

    private struct Line: Codable {
        var id: String
        var sample: Int
        var lineHash: String
        var tokens: [Int32]
        var logprobs: [String]

        enum CodingKeys: String, CodingKey {
            case id, sample, tokens, logprobs
            case lineHash = "line_hash"
        }
    }

    struct Content {
        var progress: JobProgress?
        var records: [InFlightRecord] = []
        var damaged = 0
    }

    /// - Parameter earlier: what was written or found before; nil if nothing.
    /// - Returns: what is there now.
    static func write(
        _ records: [InFlightRecord], progress: JobProgress, run: String, to place: OutputPlace,
        replacing earlier: FileInfo?
    ) throws -> FileInfo {
        let file = try place.makeOwnFile(place.paths.inFlightDraft)
        var writer = BufferedWriter(file)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        func add(_ value: some Encodable) throws {
            let json = try encoder.encode(value)
            try writer.withBuffer { bytes in
                let start = bytes.count
                RecordLine.appendUnsealedStart(to: &bytes)
                bytes.append(UInt8(ascii: ","))
                bytes.append(contentsOf: json.dropFirst())
                RecordLine.seal(&bytes, from: start)
                bytes.append(0x0a)
            }
        }
        do {
            try add(Header(version: 1, run: run, progress: progress))
            for record in records {
                var hash: [UInt8] = []
                JSONBytes.appendHex(record.key.contentHash, to: &hash)
                try add(
                    Line(
                        id: record.key.id, sample: record.key.sample,
                        lineHash: String(decoding: hash, as: UTF8.self), tokens: record.tokens,
                        logprobs: record.logprobs))
            }
            try writer.flush()
            try file.sync()
            let info = try file.info()
            try file.replace(place.paths.inFlight, earlier)
            return info
        } catch {
            try? file.remove()
            throw error
        }
    }

    /// - Returns: nil if it belongs to another run.
    static func read(_ file: File, run: String?) throws -> Content? {
        var content = Content()
        var isFirst = true
        var isOurs = true
        let end = try LineScanner(file: file).forEachLine { line in
            defer { isFirst = false }
            guard line.isWhole, RecordLine.hasValidSum(line.bytes) else {
                content.damaged += 1
                return true
            }
            let data = Data(line.bytes)
            if isFirst {
                guard let header = try? JSONDecoder().decode(Header.self, from: data),
                    header.version == 1, run == nil || header.run == run,
                    header.progress.resultsTotal ?? 0 >= 0
                else {
                    isOurs = false
                    return false
                }
                content.progress = header.progress
                return true
            }
            guard let saved = try? JSONDecoder().decode(Line.self, from: data),
                let hash = UInt64(saved.lineHash, radix: 16),
                saved.logprobs.isEmpty || saved.logprobs.count == saved.tokens.count
            else {
                content.damaged += 1
                return true
            }
            let key = WorkKey(id: saved.id, sample: saved.sample, contentHash: hash)
            content.records.append(
                InFlightRecord(key: key, tokens: saved.tokens, logprobs: saved.logprobs))
            return true
        }
        guard isOurs else { return nil }
        // Without its header it can't be known whose it is.
        if content.progress == nil, run != nil {
            content.records = []
            content.damaged = max(content.damaged, 1)
        } else if end < (try file.info().size) {
            content.damaged += 1
        }
        return content
    }
}
