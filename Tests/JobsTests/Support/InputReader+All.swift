@testable import Jobs

extension InputReader {
    /// Reads all records.
    func all() throws -> [InputRecord] {
        var (reader, records) = (self, [InputRecord]())
        while let record = try reader.next() { records.append(record) }
        return records
    }

    /// The records of files with these texts.
    static func records(
        _ texts: String..., named end: String = "in.jsonl", format: InputFormat = .auto, limit: Int = 1000,
        chunk: Int = 4096
    ) throws -> [InputRecord] {
        let folder = try TestFolder()
        let paths = try texts.enumerated().map { try folder.write($1, to: "\($0).\(end)") }
        return try InputReader(paths: paths, format: format, limit: limit, chunkSize: chunk).all()
    }
}

extension JobLine {
    /// The lines of an input with this text.
    static func all(
        _ text: String, in name: String = "in.jsonl", earlier: [LineScheme] = [],
        _ change: (inout JobSettings) -> Void = { _ in }
    ) throws -> [JobLine] {
        let folder = try TestFolder()
        let job = JobSettings.test(input: [try folder.write(text, to: name)], change)
        let keys = try LineKeys(job, earlier: earlier)
        return try job.inputReader().all().map { JobLine($0, keys) }
    }
}
