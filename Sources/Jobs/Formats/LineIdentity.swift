import JSON

/// By what a job knows its lines again.
package struct LineKeys: Sendable {
    /// The field that is the id; nil is `id`.
    let idField: String?
    let reading: LineReading
    let scheme: LineScheme
    /// Those of earlier runs whose results count, too.
    let earlier: [LineScheme]

    /// - Throws: `JobError` if a template of the job is malformed.
    package init(_ job: JobSettings, earlier: [LineScheme] = []) throws {
        (idField, reading) = (job.idField, LineReading(job))
        let scheme = try LineScheme(job)
        self.scheme = scheme
        self.earlier = earlier.filter { $0 != scheme }
    }

    /// All fields of lines at which anybody looks; nil if that may be any.
    func fields(of job: JobSettings) -> Set<String>? {
        var names = Set(LineScheme.settings).union([idField ?? "id", "prompt"])
        // Fields of an earlier step's results, of OpenAI's requests, and those that the job's steps make themselves.
        names.formUnion(["error", "usage", "sample", "custom_id", "method", "url", "body"])
        names.formUnion(job.steps.map(\.name) + [JobStep.item])
        for scheme in [scheme] + earlier {
            guard scheme.allBut == nil else { return nil }
            names.formUnion(scheme.fields)
        }
        return names
    }

    /// The earlier scheme by which a line is known under a key; nil if it is by the job's own.
    func earlierScheme(of key: WorkKey, _ line: LineIdentity) -> LineScheme? {
        let scheme = line.origin(of: key).scheme
        return scheme > 0 ? earlier[scheme - 1] : nil
    }
}

/// What a record's result is filed under, and what the record asks. Every record has an id, its own or its number,
/// even if it is wrong otherwise.
package struct LineIdentity {
    package var id: String
    /// Its id is its number in the whole input, as it has none of its own.
    let isNumbered: Bool
    /// A hash of what the job uses of it.
    private(set) var contentHash: UInt64
    /// What it would be for each of the earlier runs.
    private(set) var earlierHashes: [UInt64]
    package var record: Result<PromptRecord, LineError>
    /// What the line says; nil if it is no object.
    private(set) var fields: JSONValue?
    /// Nil if it is none of OpenAI's.
    package private(set) var request: OpenAIRequest?

    /// - Parameter reader: the one that has just read the record.
    package init(_ line: InputRecord, by reader: InputReader, _ keys: LineKeys) {
        var ownID: String?
        var content: LineContent?
        do throws(LineError) {
            let read = try reader.content(of: line)
            content = read
            ownID = try PromptRecord.id(of: read.fields, keys.idField)
            if let fault = read.fault { throw fault }
            var fields = read.isOfCells ? keys.reading.typed(read.fields) : read.fields
            if let first = read.request?.prompts.first { fields = fields.asking(first) }
            var prompt = try PromptRecord(
                fields: fields, read.request == nil ? keys.reading : .request, idField: keys.idField)
            prompt.request = read.request
            record = .success(prompt)
        } catch {
            record = .failure(error)
        }
        id = ownID ?? String(line.overallNumber)
        isNumbered = ownID == nil
        (fields, request) = (content?.fields, content?.request)
        contentHash = keys.scheme.hash(of: line, ownID, content)
        earlierHashes = keys.earlier.map { $0.hash(of: line, ownID, content) }
    }

    /// What a sample's result is filed under: as an earlier run has filed it, if it has; also one that was, or is to be,
    /// made again.
    /// - Parameter filed: the hashes under which results of an id and sample are there.
    package func key(_ sample: Int, filed: (WorkKey) throws -> [UInt64]) rethrows -> WorkKey {
        var key = WorkKey(id: id, sample: sample, contentHash: contentHash)
        let filed = try filed(key)
        if filed.isEmpty { return key }
        for hash in hashes {
            guard let known = filed.first(where: { WorkKey.redo(of: $0, from: hash) != nil }) else {
                continue
            }
            key.contentHash = known
            break
        }
        return key
    }

    /// What its results may be filed under: by the job's own scheme first.
    var hashes: [UInt64] { [contentHash] + earlierHashes }

    /// How a key of this line came about: by the job's own scheme or the earlier one of that number, from 1; and how often
    /// its result was made again.
    func origin(of key: WorkKey) -> (scheme: Int, redo: Int) {
        if key.contentHash == contentHash { return (0, 0) }
        for (scheme, hash) in hashes.enumerated() {
            if let redo = WorkKey.redo(of: key.contentHash, from: hash) { return (scheme, redo) }
        }
        preconditionFailure("a key is one of its line's")
    }

    /// How many results the line has: as many as it asks for itself, where an output can hold them, or else the job.
    package func samples(in job: JobSettings) -> Int {
        guard job.outputFormat.format.isByLine, let request else { return job.sampleCount }
        return (request.choices ?? job.sampleCount) * max(1, request.prompts.count)
    }

    /// The error of an earlier step that the line carries.
    package var carriedError: LineError? { fields.flatMap(PreviousStep.error) }
}
