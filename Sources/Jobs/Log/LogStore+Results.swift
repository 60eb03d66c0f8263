import FoundationShim
import JSON

/// The store as a run uses it.
extension LogStore: ResultStore {
    package var log: LogStore? { self }
    package var positionLimit: Int? { nil }

    /// The content hashes under which an earlier run left something of a key's id and sample.
    package func filedHashes(of key: ResultKey) throws -> [UInt64] {
        if let failure { throw failure }
        return claims.hashes(of: key) + (others?.hashes(of: key) ?? [])
    }

    package func claim(_ key: ResultKey, position: Int) throws -> StoredState {
        if let failure { throw failure }
        precondition(position == claims.count, "positions are claimed in order")
        return claims.claim(key)
    }

    package func append(_ result: GenerationResult, key: ResultKey, position: Int) throws {
        if let failure { throw failure }
        try failing {
            let (number, known) = claims.entry(at: position)
            precondition(known.contentHash == key.contentHash, "the key is the one claimed")
            let line = ResultRecord(
                key: key, repetition: Int(known.repetition), run: fingerprint.digest, result: result
            ).line
            guard line.count < ChecksummedLine.maximumLength else {
                throw UserError(
                    .io, at: paths.log.path,
                    "the result of line \(key.id) is over \(ChecksummedLine.maximumLength >> 20) MiB long.")
            }
            // A failed line that was tried again to the same end adds nothing. (Its piece may hold a result that went well.)
            if known.isStored, known.isFailed == result.isFailed, case let there = try found.record(number),
                there.result == result, there.run.utf8.elementsEqual(fingerprint.digest.utf8)
            {
                return
            }
            let offset = try writer.append(line)
            claims.store(
                number, at: offset, length: line.count, failed: result.isFailed, run: fingerprint.digest)
            try writer.syncIfDue()
        }
    }

    package func saveInFlight(_ records: [InFlightRecord]) throws {
        if let failure { throw failure }
        // Nothing was done yet, perhaps because it can't be: then nothing is left behind.
        if !hasWritten, records.isEmpty { return }
        try failing {
            progress.savedAt = Date().timeIntervalSince1970
            for record in records {
                let name = ResultIndex.nameHash(record.key, repetition: 0)
                if claims.inFlight[name] == record { continue }
                try writer.append(record.line(after: claims.inFlight[name]))
                claims.inFlight[name] = record
            }
            try writer.append(progress.line)
            try writer.sync()
        }
    }

    package func result(at position: Int) throws -> GenerationResult? {
        if let failure { throw failure }
        let (number, known) = claims.entry(at: position)
        return known.isStored ? try found.record(number).result : nil
    }

    /// The result of a key in an output that is verified by this run; nil if none is.
    package func verified(_ key: ResultKey) throws -> GenerationResult? {
        try others?.record(of: key)?.result
    }

    /// The results of steps that earlier runs have made of a line, which may have asked the same.
    func earlierSteps(of id: String) throws -> [JSONMember] {
        if let failure { throw failure }
        return try previousRows.flatMap { try $0.results(of: id) }.flatMap { $0.steps ?? [] }
    }

    package func endsEarly(at count: Int) { earlyEnd = count }

    package func sync() throws {
        if let failure { throw failure }
        try failing { try writer.sync() }
    }

    package func suspend() throws {
        defer { lock.release() }
        if failure == nil { try failing { try writer.sync() } }
    }

    /// Whether the lines claimed so far leave it open if too many results of an earlier run would be lost: then
    /// a look at the lines to come, before the work on them, may save that work.
    package var needsLookAhead: Bool { !options.prunes && claims.earlier.losesTooMany }

    /// A line to come has this key. What is seen so counts up to the next claim.
    package func lookAhead(at key: ResultKey) throws {
        if let failure { throw failure }
        claims.lookAhead(at: key)
    }

    /// All lines are claimed or looked at.
    /// - Throws: what `finish` would, if results of an earlier run would be lost.
    package func inputEnds(_ read: ReadLines) throws {
        if let failure { throw failure }
        self.read = read
        // No fault of the store: what is under way can still be saved.
        try checkLosses(read)
    }

    package func finish(count: Int) throws {
        if let failure { throw failure }
        if let earlyEnd {
            claims.end(at: earlyEnd)
            // The input goes on.
            read = nil
        }
        precondition(count == claims.count, "every position is claimed")
        defer { lock.release() }
        try failing { try writer.sync() }
        try checkLosses(read ?? ReadLines(count: count / job.sampleCount))
        try failing {
            madeBy = claims.shares().described(by: known, first: fingerprint.digest)
            didReplaceOutput = try !isUnchanged()
            if didReplaceOutput || settings != header { try writeOutput() }
            isFinished = true
        }
    }
}
