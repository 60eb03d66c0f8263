/// An output of which the job is not known: what must hold in itself.
extension OutputAudit {
    /// - Throws: `StoreError` if there is no such output, or it has no record though its format needs one.
    package init(output path: String, format: any ResultFormat) throws {
        let system = POSIXFileSystem()
        let paths = try OutputPaths(output: path, format: format, in: system)
        let settings = (try? OutputSettings.read(at: paths, in: system)) ?? nil
        let selection = settings?.shard.flatMap(LineSelection.init(name:)) ?? .all
        guard let output = try FinishedOutput(path, format) else {
            throw JobError(.missingInput, at: path, "there are no such results.")
        }
        madeBy = output.index.countByRun()
        unseen = [
            "whether results are those of the input's lines, in their order (status of the job tells)"
        ]
        if format is PartOfResults {
            unseen.append("the file of failed lines, which only the job names")
        }
        let lines = try walk(ResultCursor(output, errors: nil), selection)
        if let fault = try output.faultAtEnd() { add("what stands after the last result \(fault)") }
        if output.outcome.foreign > 0 {
            add("\(output.outcome.foreign) lines or pieces are no results, or not as they were written")
        }
        guard let input = settings?.input, faultCount == 0 else { return }
        let wanted = selection.count(of: input.lines)
        if lines != wanted { add("there are results of \(lines) lines, and the input had \(wanted)") }
    }

    /// - Returns: the number of lines.
    private mutating func walk(_ cursor: ResultCursor, _ selection: LineSelection) throws -> Int {
        let count = cursor.output.count
        var ahead = try count > 0 ? cursor.output.with(0) { there, _ in there.key } : nil
        let samples = try samplesOfFirstLine(cursor.output)
        let run = ResultRun(digest: "", samples: samples)
        var seen = SeenIDs()
        var line = -1
        for number in 0..<count {
            guard let key = ahead else { break }
            let following =
                try number + 1 < count ? cursor.output.with(number + 1) { there, _ in there.key } : nil
            ahead = following
            let isLast = following?.sample ?? 0 == 0
            if key.sample == 0 {
                line += 1
                if !seen.insert(key.id), try cursor.output.with(number, { there, _ in !there.isFailed }) {
                    add(number, key, "is a second one of this id")
                }
            } else if number == 0 {
                add(number, key, "comes without those before it")
            }
            if let following, following.sample > 0,
                following.sample != key.sample + 1 || !following.id.utf8.elementsEqual(key.id.utf8)
            {
                add(number + 1, following, "does not belong after that of \(key.id), sample \(key.sample)")
            }
            if isLast, key.sample != samples - 1, !cursor.output.format.isByLine {
                add(number, key, "is the last of its line, which should have \(samples)")
            }
            let place = selection.place(of: max(0, line))
            try cursor.with(number, isLast: isLast) { piece in
                results += 1
                failed += piece.recorded.isFailed ? 1 : 0
                completionTokens += piece.recorded.completionTokens
                checkBytes(piece, number, index: place, cursor.output.format, run, nil)
            }
        }
        return line + 1
    }

    private func samplesOfFirstLine(_ output: FinishedOutput) throws -> Int {
        var samples = min(1, output.count)
        while samples < output.count, try output.with(samples, { there, _ in there.key.sample > 0 }) {
            samples += 1
        }
        return max(1, samples)
    }
}
