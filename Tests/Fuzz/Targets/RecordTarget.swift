import OperatingSystem

@testable import BatchPipeline
@testable import Jobs

/// Log, draft of the log, and output of a finished run; taken up, ended and checked. Once more with the sums put right,
/// as with other logs.
@Sendable func readOutputLog(_ input: [UInt8], _ scratch: ScratchFolder) throws {
    let files = parts(input, 3)
    let sealed = [sealingLines(files[0]), sealingLines(files[1]), files[2]]
    try takeUpRecorded(files, scratch)
    if sealed != files { try takeUpRecorded(sealed, scratch) }
}

extension ResultFormat {
    fileprivate static let plain = ResultFormat(word: "plain", start: "texts\n") { _ in
        { piece, output in output += "\(piece.record.key.id)\n".utf8 }
    }
}

private func takeUpRecorded(_ files: [[UInt8]], _ scratch: ScratchFolder) throws {
    let (output, format) = (scratch.path + "/out.txt", ResultFormat.plain)
    func packed(_ text: [UInt8]) throws -> [UInt8] {
        text.isEmpty ? [] : try Packer(.gzip).pack(text, isLast: true)
    }
    try scratch.put(packed(files[0]), "out.txt.log")
    try scratch.put(packed(files[1]), "out.txt.phibatch-log")
    try scratch.put(files[2], "out.txt")
    let keys = (0..<3).map { ResultKey(id: "line-\($0)", contentHash: 0x1234_5678_9abc_def0 &+ UInt64($0)) }
    do {
        _ = try JobStatus(output: output)
        var job = JobSettings()
        (job.output, job.outputFormat) = (output, format)
        let store = try LogStore(job, fingerprint: logFingerprint)
        for (position, key) in keys.enumerated() {
            switch try store.claim(key, position: position) {
            case .done(failed: false): continue
            case .new, .done, .inFlight: break
            }
            let result = GenerationResult.completion("re", promptTokens: 1, completionTokens: 2)
            try store.append(result, key: key, position: position)
        }
        try store.finish(count: keys.count)
    } catch is UserError {
        return
    }
    let made = try FinishedOutput(output)
    try promise(
        made?.count == keys.count && made?.isAsWritten() == true, "the new output is not its log's")
}
