import JSON

/// Reads records from several files in a row, holding no more than one record at a time.
package struct InputReader {
    /// A longer record is not kept in memory, only measured; nil for what counting takes.
    let limit: Int?
    /// Twice what the longest prompts take: 128 K tokens of 128 bytes. While a line is made into a prompt there may
    /// be five copies of it.
    package static let defaultLimit = 32 << 20
    private let format: any InputFormat
    private let chunkSize: Int
    private let system: any FileSystem
    private let columns: Set<String>?
    private let follow: FollowedInput?
    private var paths: ArraySlice<String>
    private var file: (name: String, bytes: InputBytes?, cursor: any InputCursor)?
    /// Lines of the files before.
    private var earlierLines = 0

    /// - Parameter columns: fields that are looked at; tables need not be read for others. Nil for all.
    package init(
        paths: [String], format: any InputFormat = InputFormats.standard, limit: Int? = defaultLimit,
        chunkSize: Int = 1 << 18, columns: Set<String>? = nil, follow: FollowedInput? = nil,
        system: any FileSystem = POSIXFileSystem()
    ) {
        self.columns = columns
        self.follow = follow
        self.paths = paths[...]
        self.format = format
        self.limit = limit
        self.chunkSize = chunkSize
        self.system = system
    }

    /// Reads records that come from elsewhere.
    init(cursor: any InputCursor, name: String) {
        self.init(paths: [])
        file = (name, nil, cursor)
    }

    /// The next record that is not blank, or nil at the end of the last file.
    /// - Throws: `JobError` if a file can't be opened or read.
    package mutating func next() throws -> InputRecord? {
        while true {
            if file == nil {
                if paths.isEmpty, let follow { paths = follow.newPaths()[...] }
                guard let path = paths.popFirst() else { return nil }
                let source = try ByteSource(path: path, columns: columns, system: system)
                let format = format.format(for: path)
                if follow != nil { try format.checkGrowth(of: source.name) }
                try format.check(source)
                let bytes = InputBytes(
                    source, chunkSize: chunkSize, follow: paths.isEmpty && path != "-" ? follow : nil)
                file = (
                    source.name, bytes, format.makeCursor(over: bytes, limit: limit ?? format.countingLimit)
                )
            }
            if var record = try file?.cursor.next() {
                record.file = file?.name ?? ""
                record.overallNumber = earlierLines + (record.place ?? record.number)
                return record
            }
            earlierLines += file?.bytes?.lineCount ?? 0
            file = nil
        }
    }

    // MARK: Of the record that came last

    /// - Throws: `LineError` if it is too long or isn't as its format demands.
    func fields(of record: InputRecord) throws(LineError) -> JSONValue { try content(of: record).fields }

    /// - Throws: as `fields`.
    func content(of record: InputRecord) throws(LineError) -> LineContent {
        if let length = record.excessLength {
            throw LineError(
                .lineTooLong, "The line has \(length) bytes; at most \(limit ?? Self.defaultLimit) are read.")
        }
        guard let file else { preconditionFailure("only the record that came last is asked for") }
        return try file.cursor.content(of: record)
    }

    /// Half a record: one without an end that says nothing whole. It seems that its writer is still at it, or was
    /// broken off.
    package func isHalf(_ record: InputRecord) -> Bool {
        record.isBroken
            || record.isUnterminated && record.excessLength == nil && (try? fields(of: record)) == nil
    }
}
