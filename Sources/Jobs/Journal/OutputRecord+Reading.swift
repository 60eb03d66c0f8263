import Faults
import JSON

extension OutputRecord {
    package enum Reading {
        case valid(Header)
        case otherVersion(Int)
        case damaged
    }

    /// For who has an output that can't be known.
    static let advice: Message =
        "Name another output, or use --restart to have it replaced when the run is complete."

    static func header(of file: File) throws -> Reading {
        var reading = Reading.damaged
        try LineScanner(file: file).forEachLine { line in
            guard line.isWhole, SealedLine.isValid(line.bytes),
                let json = try? JSONValue(parsing: line.bytes, limits: .file),
                let version = json.int("phibatch_record")
            else { return false }
            if version != OutputRecord.version {
                reading = .otherVersion(version)
            } else if let format = json.string("format"), let run = json.string("run") {
                reading = .valid(
                    Header(format: format, run: run, start: Array((json.string("start") ?? "").utf8)))
            }
            return false
        }
        return reading
    }

    /// - Parameter body: gets each whole entry, and where its line is. What is damaged is passed over.
    /// - Returns: the last line, if it is whole.
    @discardableResult
    static func forEachEntry(
        in file: File, _ body: (Entry, _ offset: Int, _ length: Int) throws -> Void
    ) throws -> End? {
        var end: End?
        var isFirst = true
        try LineScanner(file: file).forEachLine { line in
            defer { isFirst = false }
            guard !isFirst, line.isWhole, SealedLine.isValid(line.bytes) else { return true }
            if let entry = Entry(line.bytes) {
                try body(entry, line.offset, line.bytes.count)
            } else if let json = try? JSONValue(parsing: line.bytes, limits: .file) {
                end = End(json)
            }
            return true
        }
        return end
    }

    // MARK: Which record is the output's

    /// The record of the output that is there: the one under its own name, unless a run was ended before its draft,
    /// which then fits, got that name.
    /// - Parameter output: nil if there is none.
    /// - Returns: nil if there is none.
    /// - Throws: `StoreError` of kind `mismatch` if a file of another's has one of these names.
    static func find(
        for output: File?, at paths: OutputPaths, in system: any FileSystem
    ) throws -> (record: File?, isDraft: Bool) {
        if let draft = try RunFile.open(paths.recordDraft, .recordDraft, .readOwn, in: system), let output,
            try fits(draft, output)
        {
            return (draft, true)
        }
        return (try RunFile.open(paths.record, .record, .readOwn, in: system), false)
    }

    /// The output's record, and what it says of itself.
    /// - Throws: `StoreError` of kind `mismatch` if there is none, or it isn't of this format.
    package static func needed(
        for output: File, _ format: any ResultFormat, at paths: OutputPaths, in system: any FileSystem
    ) throws -> (file: File, header: Header) {
        guard let record = try find(for: output, at: paths, in: system).record else {
            throw StoreError(
                .mismatch, path: paths.output,
                "is there, but not its record \(paths.record), so nothing says what it holds. " + advice)
        }
        return (record, try checkedHeader(of: record, format))
    }

    /// - Throws: `StoreError` of kind `mismatch`.
    static func checkedHeader(of record: File, _ format: any ResultFormat) throws -> Header {
        switch try header(of: record) {
        case .valid(let header):
            guard header.format.utf8.elementsEqual(format.name.utf8) else {
                throw StoreError(
                    .mismatch, path: record.path,
                    "is the record of an output in the format \(header.format), and not \(format.name). "
                        + advice)
            }
            return header
        case .otherVersion(let number):
            throw StoreError(
                .mismatch, path: record.path,
                "was written by another version of phibatch (format \(number), this one is \(version)). "
                    + advice)
        case .damaged:
            throw StoreError(
                .mismatch, path: record.path,
                "its first line is damaged, so nothing says what the output holds. " + advice)
        }
    }

    /// Gives a draft that is the output's record its name, and removes any other draft.
    /// - Returns: the output's record, if there is one.
    static func settle(
        for output: File?, at paths: OutputPaths, in system: any FileSystem
    ) throws -> File? {
        let (record, isDraft) = try find(for: output, at: paths, in: system)
        if isDraft, let record {
            try put(record, inPlaceAt: paths, in: system)
        } else {
            try RunFile.removeLeftover(paths.recordDraft, .recordDraft, in: system)
        }
        return record
    }

    /// Gives a finished record its name, on the disk. One that is there is of the output before.
    static func put(_ record: File, inPlaceAt paths: OutputPaths, in system: any FileSystem) throws {
        let earlier = try RunFile.open(paths.record, .record, .readOwn, in: system)
        try record.replace(paths.record, try earlier?.info())
        try system.syncFolder(paths.folder)
    }

    /// Whether an output is, byte for byte, the one that a record is of.
    private static func fits(_ record: File, _ output: File) throws -> Bool {
        var count = 0
        guard let end = try forEachEntry(in: record, { _, _, _ in count += 1 }), end.results == count,
            end.size == (try output.info().size)
        else { return false }
        return try Sum(of: output, size: end.size) == end.output
    }
}
