/// An output that is in place, of which results are read one by one.
package final class FinishedOutput {
    package let path: String
    /// In the output's order.
    let index = ResultIndex()
    package let earlier: PreviousOutput
    package var header: LogHeader { earlier.finished.header }
    /// By which schemes lines are known in it.
    package var lines: [LineScheme] { header.lines }
    private let pieces: FilePieces

    /// - Returns: nil if there is no output.
    /// - Throws: `UserError` if it can't be read, or has no log.
    package init?(_ path: String) throws {
        let system = POSIXFileSystem()
        let paths = try OutputPaths(output: path, in: system)
        self.path = path
        guard
            let earlier = try PreviousOutput.find(at: paths, into: index, in: system, accepts: { _ in true })
        else {
            guard try system.exists(paths.output) else { return nil }
            throw UserError(
                .mismatch, at: paths.output,
                "is there, but not its log \(paths.log), so nothing says what it holds. \(OutputLog.advice)")
        }
        self.earlier = earlier
        pieces = FilePieces(earlier.source)
    }

    package var count: Int { index.count }

    /// Format of the output, with the layout that its log names.
    /// - Throws: `UserError` if this version has no such format.
    package func format() throws -> OutputFormat { try ResultFormats.recorded(header, path) }

    /// The content hashes of results of a key's id and sample.
    func hashes(of key: ResultKey) -> [UInt64] {
        index.find(ResultIndex.nameHash(key, repetition: 0)).map { [index[$0].contentHash] } ?? []
    }

    /// The result of a key; nil if there is none.
    func result(of key: ResultKey) throws -> GenerationResult? {
        try index.find(ResultIndex.nameHash(key, repetition: 0)).map { try record($0).result }
    }

    /// - Throws: `UserError` if it is no longer there as it was.
    package func record(_ number: Int) throws -> ResultRecord {
        let entry = index[number]
        let found = try pieces.with(entry.offset..<entry.offset + Int(entry.length)) { line in
            ChecksummedLine.isValid(line) ? ResultRecord(line) : nil
        }
        guard let found, let found else { throw UserError.changedUnderneath(path) }
        return found
    }
}
