/// An output whose results are known by its record.
struct RecordedOutput {
    let record: File
    let output: File
    let format: any ResultFormat
    let pieces: FilePieces

    init(record: File, output: File, format: any ResultFormat) {
        self.record = record
        self.output = output
        self.format = format
        pieces = FilePieces(output)
    }

    /// Reads all results whose bytes are as they were written into an index, where they stand by their lines in the
    /// record.
    func results(into index: ResultIndex, of header: OutputRecord.Header) throws -> OutputOutcome {
        var outcome = OutputOutcome()
        let (isWhole, end) = try forEachResult(start: header.start) { result in
            outcome.lines += 1
            guard let (entry, offset, length) = result else {
                outcome.foreign += 1
                return
            }
            index.storeNext(entry.recorded(by: header.run), at: offset, length: length)
            outcome.completionTokens += entry.completionTokens
        }
        if !isWhole { outcome.isInOrder = false }
        outcome.end = end
        return outcome
    }

    /// - Parameter body: gets each result that is there with its line in the record; nil for what isn't, or isn't as
    ///   it was written.
    /// - Returns: whether the output is nothing but these results, one after the other, and what belongs around them;
    ///   and where they end.
    func forEachResult(
        start: [UInt8], _ body: ((OutputRecord.Entry, offset: Int, length: Int)?) throws -> Void
    ) throws -> (isWhole: Bool, end: Int) {
        let size = try output.info().size
        var isWhole = try pieces.with(0..<start.count) { $0.elementsEqual(start) } ?? false
        var position = start.count
        var count = 0
        let end = try OutputRecord.forEachEntry(in: record) { entry, offset, length in
            // A line of the record is damaged, and nothing known of these bytes.
            if entry.range.lowerBound != position { isWhole = false }
            position = entry.range.upperBound
            count += 1
            let isFirst = entry.range.lowerBound == start.count
            let isThere = try bytes(of: entry) {
                $0.isEmpty || format.isSetApart($0, isFirst: isFirst)
            }
            try body(isThere == true ? (entry, offset, length) : nil)
        }
        let footer = end?.footer ?? OutputRecord.Sum()
        if end?.size != position + footer.size { isWhole = false }
        // Bytes that no line of the record is of, lines of it that are lost, or another end.
        let isEnded = try isEnded(by: footer, at: position)
        if size > position + footer.size || end?.results != count || !isEnded {
            isWhole = false
            try body(nil)
        }
        return (isWhole, position)
    }

    private func isEnded(by footer: OutputRecord.Sum, at position: Int) throws -> Bool {
        try OutputRecord.Sum(of: output, from: position, size: footer.size) == footer
    }

    /// - Returns: what `body` does of a result's bytes; nil if they aren't there as they were written.
    func bytes<R>(
        of entry: OutputRecord.Entry, _ body: (UnsafeRawBufferPointer) throws -> R
    ) throws -> R? {
        try pieces.with(entry.range) { bytes in
            Checksum.crc64(bytes) == entry.content ? try body(bytes) : nil
        } ?? nil
    }
}

extension OutputRecord.Entry {
    /// - Parameter run: the record's.
    func recorded(by run: String) -> RecordedResult {
        RecordedResult(
            key: key, index: nil, run: self.run ?? run, isFailed: isFailed,
            completionTokens: completionTokens, json: json)
    }
}
