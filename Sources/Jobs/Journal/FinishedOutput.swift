import Faults

/// An output that is in place, of which results are read one by one.
package final class FinishedOutput {
    let path: String
    let format: any ResultFormat
    /// In the output's order.
    let index = ResultIndex()
    let outcome: OutputOutcome
    /// By which schemes lines are known in it.
    package let lines: [LineScheme]
    /// The header of the output's record; nil where it needs none.
    let header: OutputRecord.Header?
    private let output: EarlierOutput
    private let pieces: FilePieces

    /// - Returns: nil if there is no output.
    /// - Throws: `StoreError` if it can't be read, or has no record though its format needs one.
    package init?(
        _ path: String, _ format: any ResultFormat, samples: Int = 1
    ) throws {
        let system = POSIXFileSystem()
        let paths = try OutputPaths(output: path, format: format, in: system)
        guard let file = try File.textIfPresent(paths.output, in: system) else { return nil }
        let record =
            paths.keepsRecord ? try OutputRecord.needed(for: file, format, at: paths, in: system) : nil
        (self.path, self.format, header) = (path, format, record?.header)
        lines = try OutputSettings.read(at: paths, in: system)?.lines ?? []
        output = try EarlierOutput(
            file, record: record?.file, format: format, run: ResultRun(digest: "", samples: samples),
            index: index
        ) { _ in true }
        outcome = output.outcome
        pieces = FilePieces(output.source)
    }

    package var count: Int { index.count }

    /// What is wrong with what stands after the last result; nil if nothing is.
    func faultAtEnd() throws -> Message? { try output.faultAtEnd() }

    /// The content hashes of results of a key's id and sample.
    func hashes(of key: WorkKey) -> [UInt64] {
        index.find(ResultIndex.nameHash(key, repetition: 0)).map { [index[$0].contentHash] } ?? []
    }

    /// The result of a key; nil if there is none.
    func result(of key: WorkKey) throws -> GenerationResult? {
        guard let number = index.find(ResultIndex.nameHash(key, repetition: 0)) else { return nil }
        return try with(number) { format.result($0, in: $1) }
    }

    /// - Parameter body: gets a result, and its bytes in the output.
    /// - Throws: `StoreError` if it is no longer there as it was.
    package func with<R>(
        _ number: Int, _ body: (RecordedResult, UnsafeRawBufferPointer) throws -> R
    ) throws -> R {
        let entry = index[number]
        let found = try pieces.with(entry.offset..<entry.offset + Int(entry.length)) { line in
            try output.withKept(line, of: entry, body)
        }
        guard let found else { throw StoreError.changedUnderneath(path) }
        return found
    }
}
