import BatchEngine
import Foundation
import JSON
import OperatingSystem
import PhiModel

@testable import BatchPipeline
@testable import Jobs

/// A file of prompt lines, whatever pieces it comes in, to the prompts that jobs make of it.
@Sendable func readLines(_ input: [UInt8], _ scratch: ScratchFolder) throws {
    let path = try scratch.put(input, "prompts.jsonl", keepingEmpty: true)
    func read(chunkSize: Int, limit: Int) throws -> [InputRecord] {
        var reader = InputReader(paths: [path], limit: limit, chunkSize: chunkSize)
        var lines: [InputRecord] = []
        while let line = try reader.next() { lines.append(line) }
        return lines
    }
    let lines = try read(chunkSize: 1 << 18, limit: 64 << 20)
    let same = try zip(lines, read(chunkSize: 3, limit: 64 << 20)).allSatisfy {
        $0.bytes == $1.bytes && $0.number == $1.number
    }
    try promise(same, "small pieces give other lines")
    // Blank lines that are too long to be looked into come as lines too.
    try promise(try lines.count <= read(chunkSize: 64, limit: 16).count, "a limit loses lines")
    let builders = try [JobSettings(), lineJob(chat: true), lineJob(chat: false)].map(PromptBuilder.init)
    for line in lines {
        do {
            let fields = try PromptRecord.parseObject(line.bytes)
            _ = (try? fields.tokenIDs("ids"), try? fields.messages())
            try readRequest(fields, builders)
            let record = try PromptRecord(fields: fields)
            for builder in builders { _ = try? builder.prompt(for: record) }
            guard let id = try JobLine.id(of: fields) else { continue }
            var writer = JSONWriter()
            writer.string(id)
            guard case .string(let read)? = try? JSONValue(parsing: writer.bytes, limits: .line) else {
                throw BrokenPromise(description: "an id can't be read back")
            }
            try promise(read.utf8.elementsEqual(id.utf8), "an id becomes another")
        } catch is LineError {}
    }
}

/// The line as one of OpenAI's requests, whether it is one or not.
private func readRequest(_ line: JSONValue, _ builders: [PromptBuilder]) throws {
    let content = OpenAIRequest.content(of: line)
    try promise(content.request != nil, "a request is lost")
    guard content.fault == nil, let record = try? PromptRecord(fields: content.fields, of: content.request)
    else { return }
    try promise(JobLine.id(of: content.fields) != nil, "a request has no id")
    for builder in builders { _ = try? builder.prompt(for: record) }
    let kept = OpenAIRequest.kept(content.request, samples: content.request?.choices ?? 1, in: nil)
    let result = GenerationResult.failure(
        LineError(.badField, ""), line: 1, kept: [OpenAIRequest.keptName: kept])
    try promise(
        OpenAIRequest(of: result).endpoint == content.request?.endpoint, "a result has another request")
}

private func lineJob(chat: Bool) -> JobSettings {
    var job = JobSettings()
    job.chat = chat
    job.prompt =
        "{{ messages | tojson }}{{ prompt | default('') | trim }}{% if a is mapping %}{{ a.b }}{% endif %}"
    if chat { job.system = "{{ id }}" }
    return job
}

/// A job file.
@Sendable func readJob(_ input: [UInt8], _ scratch: ScratchFolder) throws {
    var job = JobSettings()
    try job.apply(input, name: "job.yaml", folder: scratch.path)
    try promise(
        Set(job.resultSettings.map(\.name)).isSuperset(of: JobSettings().resultSettings.map(\.name)),
        "a setting is lost")
    _ = try PromptBuilder(job)
    let settings = job.resultSettings.map(\.value)
    try job.apply(input, name: "job.yaml", folder: scratch.path)
    try promise(job.resultSettings.map(\.value) == settings, "a setting is read twice")
    try job.check(file: "job.yaml")
}

/// Log and earlier output of a run that is taken up and ended, and the log of one that goes on. As random changes would hardly ever get past a checksum, all is done once more with the sums
/// put right.
@Sendable func readLog(_ input: [UInt8], _ scratch: ScratchFolder) throws {
    let files = parts(input, 3)
    if !files[2].isEmpty { try readLock(files[2], scratch) }
    let sealed = files.map(sealingLines)
    try takeUp(files, scratch)
    if sealed != files { try takeUp(sealed, scratch) }
}

private func readLock(_ bytes: [UInt8], _ scratch: ScratchFolder) throws {
    let path = try scratch.put(sealingLines(bytes), "out.jsonl.log")
    defer { unlink(path) }
    let file = try File.open(path, .read, in: .real)
    try promise(file.lock(), "the lock can't be had")
    guard let status = try? JobStatus(output: scratch.path + "/out.jsonl") else { return }
    try promise(status.state == .running, "a run is not seen")
    try promise(status.holder?.description.contains("\u{1B}") != true, "a holder that steers the terminal")
}

let logFingerprint = RunFingerprint([
    ("model.config.json", "7 bytes"), ("job.seed", "17"), ("job.samples", "1"),
])

private func takeUp(_ files: [[UInt8]], _ scratch: ScratchFolder) throws {
    let output = scratch.path + "/out.jsonl"
    try scratch.put(files[0], "out.jsonl.log")
    try scratch.put(files[1], "out.jsonl")
    let keys = (0..<3).map { ResultKey(id: "line-\($0)", contentHash: 0x1234_5678_9abc_def0 &+ UInt64($0)) }
    do {
        let status = try JobStatus(output: output)
        try promise(status.completionTokens >= 0, "fewer than no tokens are there")
        _ = (status.tokensPerSecond, status.resultsPerSecond)
        var job = JobSettings()
        job.output = output
        let store = try LogStore(job, fingerprint: logFingerprint)
        var open: [Int] = []
        for (position, key) in keys.enumerated() {
            switch try store.claim(key, position: position) {
            case .new, .done(failed: true): open.append(position)
            case .done: break
            case .inFlight(let record):
                try promise(record.key == key, "another completion is taken up")
                open.append(position)
            }
        }
        for position in open {
            try store.saveInFlight([
                InFlightRecord(key: keys[position], saved: SavedDecoding(tokens: [1, 2]))
            ])
            let result: GenerationResult =
                position == 1
                ? .failure(LineError(.badField, "bad"), line: 2)
                : .completion("re", promptTokens: 1, completionTokens: 2)
            try store.append(result, key: keys[position], position: position)
        }
        try store.finish(count: keys.count)
    } catch is UserError {
        return
    }
    let lines = try scratch.bytes("out.jsonl").split(separator: 0x0a, omittingEmptySubsequences: false)
    try promise(lines.count == keys.count + 1 && lines[keys.count].isEmpty, "not one line a result")
    for (index, key) in keys.enumerated() {
        let start = "{\"id\":\"\(key.id)\","
        try promise(lines[index].starts(with: start.utf8), "line \(index) is another's")
    }
}

func sealingLines(_ file: [UInt8]) -> [UInt8] {
    let start = Array("{\"sum\":\"".utf8)
    let lines = file.split(separator: 0x0a, omittingEmptySubsequences: false).map { line -> [UInt8] in
        var line = Array(line)
        if line.starts(with: start), line.count > start.count + 17 { ChecksummedLine.seal(&line) }
        return line
    }
    return Array(lines.joined(separator: [0x0a]))
}
