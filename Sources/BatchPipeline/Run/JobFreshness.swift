import BatchEngine
import Foundations
import PhiModel

/// Whether a finished output is what its job would make now.
package struct JobFreshness: Sendable, Equatable {
    /// What differs in the model or the settings, with both values where they are known.
    package var changes: [String] = []
    /// Results that are missing, whose lines have another content now, and that have no line any more.
    package var new = 0
    package var changed = 0
    package var gone = 0

    package var isFresh: Bool { changes.isEmpty && new == 0 && changed == 0 && gone == 0 }

    /// Of an unfinished run only the settings are compared. Else reads the output and, unless it can be read but once, the input.
    /// - Parameters:
    ///   - cache: where hashes of the model's files are known from; without it they are all read.
    ///   - comparesLines: whether the input is looked at.
    /// - Returns: nil if there is no output, or none that is known.
    /// - Throws: `JobError`, `StoreError` or `ModelError` if a file can't be read.
    package init?(_ job: JobSettings, cache: WeightCacheLocation, comparesLines: Bool = true) throws {
        let system = POSIXFileSystem()
        let format = job.outputFormat.format
        let paths = try OutputPaths(output: job.output, format: format, in: system)
        if let journal = try RunFile.open(paths.journal, .journal, .readOwn, in: system) {
            guard case .valid(let header) = try JournalReader(file: journal).header(),
                let fingerprint = try job.runFingerprint(cache: cache)
            else { return nil }
            changes = fingerprint.changes(from: header.fingerprint)
            return
        }
        guard let file = try File.openIfPresent(paths.output, .read, in: system) else { return nil }
        let record = paths.keepsRecord ? try OutputRecord.find(for: file, at: paths, in: system).record : nil
        if paths.keepsRecord, record == nil { return nil }
        let index = ResultIndex(cache.scratch)
        var digests: Set<String> = []
        _ = try EarlierOutput(
            file, record: record, format: format, run: job.resultRun(digest: ""),
            index: index
        ) {
            digests.insert($0)
            return true
        }
        let settings = try OutputSettings.read(at: paths, in: system)
        try compareSettings(job, cache, digests, settings)
        if comparesLines, try job.canReadTwice() {
            try compareLines(job, index, LineKeys(job, earlier: settings?.lines ?? [.bytes]))
        }
    }

    private mutating func compareSettings(
        _ job: JobSettings, _ cache: WeightCacheLocation, _ digests: Set<String>, _ settings: OutputSettings?
    ) throws {
        guard let fingerprint = try job.runFingerprint(cache: cache) else { return }
        let kept = settings?.fingerprint == fingerprint ? settings?.kept.map(\.digest) ?? [] : []
        guard let other = digests.first(where: { $0 != fingerprint.digest && !kept.contains($0) }) else {
            return
        }
        changes =
            settings?.run(other).map { fingerprint.changes(from: $0) }
            ?? [fingerprint.changedGroups(fromDigest: other)]
    }

    private mutating func compareLines(_ job: JobSettings, _ index: ResultIndex, _ keys: LineKeys) throws {
        var reader = InputReader(paths: job.input, format: job.inputFormat.format)
        var found = 0
        var place = 0
        while let line = try reader.next() {
            if reader.isHalf(line) { continue }
            let identity = LineIdentity(line, by: reader, keys)
            if job.errorLines == .skip, identity.carriedError != nil { continue }
            place += 1
            guard job.selection.holds(place - 1) else { continue }
            for sample in 0..<identity.samples(in: job) {
                var known: UInt64?
                let key = try identity.key(sample) { key in
                    known = try index.lookUp(ResultIndex.nameHash(key, repetition: 0)).map {
                        try index[$0].contentHash
                    }
                    return [known].compactMap { $0 }
                }
                guard let known else {
                    new += 1
                    continue
                }
                found += 1
                if known != key.contentHash { changed += 1 }
            }
        }
        gone = max(0, index.count - found)
    }
}
