import JSON

/// Rules by which a job identifies its lines.
package struct LineKeys: Sendable {
    /// Field of the id; nil is `id`.
    let idField: String?
    let reading: LineReading
    /// The job's scheme, and those of earlier runs whose results count, too.
    let schemes: [LineScheme]

    /// - Throws: `UserError` if a template of the job is malformed.
    package init(_ job: JobSettings, earlier: [LineScheme] = []) throws {
        (idField, reading) = (job.idField, LineReading(job))
        let scheme = try LineScheme(job)
        schemes = [scheme] + earlier.filter { $0 != scheme }
    }

    /// Returns all fields of lines that are used; nil for any.
    func fields(of job: JobSettings) -> Set<String>? {
        var names = Set(LineScheme.settings).union([idField ?? "id", "prompt"])
        // Fields of an earlier job's results, of OpenAI's requests, and of the job's own steps.
        names.formUnion(["error", "usage", "sample", "custom_id", "method", "url", "body"])
        names.formUnion(job.steps.map(\.name) + [JobStep.item])
        for scheme in schemes {
            guard scheme.allBut == nil else { return nil }
            names.formUnion(scheme.fields)
        }
        return names
    }
}

/// A line of a job's input. Each has an id, its own or its number, even if it is otherwise invalid.
package struct JobLine {
    /// The input's file, as named in the job, and the number in it, from 1.
    package let file: String
    package let number: Int
    /// Number over all files.
    let overallNumber: Int
    /// Place among the lines that count, whether they are taken up or not; set by `JobLines`.
    package internal(set) var place = 0
    package let id: String
    /// Whether its id is its number in the whole input.
    let isNumbered: Bool
    /// Possible hashes of its results: that of the parts that the job uses, and the same by the schemes of earlier runs.
    package let hashes: [UInt64]
    var contentHash: UInt64 { hashes[0] }
    package internal(set) var record: Result<PromptRecord, LineError>
    /// Nil if it is no object.
    let fields: JSONValue?
    /// Nil if it is none of OpenAI's.
    package let request: OpenAIRequest?

    package init(_ line: InputRecord, _ keys: LineKeys) {
        var ownID: String?
        var content: LineContent?
        do throws(LineError) {
            let read = try line.content()
            content = read
            ownID = try Self.id(of: read.fields, keys.idField)
            if let fault = read.fault { throw fault }
            var fields = read.isOfCells ? keys.reading.typed(read.fields) : read.fields
            if let first = read.request?.prompts.first { fields["prompt"] = first }
            let reading = read.request == nil ? keys.reading : .request
            record = .success(try PromptRecord(fields: fields, reading, of: read.request))
        } catch {
            record = .failure(error)
        }
        (file, number, overallNumber) = (line.file, line.number, line.overallNumber)
        id = ownID ?? String(line.overallNumber)
        isNumbered = ownID == nil
        (fields, request) = (content?.fields, content?.request)
        hashes = keys.schemes.map { $0.digest(of: line, ownID, content) }
    }

    /// Returns the id of a line, even of an invalid one; nil if it has none.
    /// - Parameter field: its field; nil is `id`, which is optional.
    static func id(of fields: JSONValue, _ field: String? = nil) throws(LineError) -> String? {
        let name = field ?? "id"
        guard let value = fields[name], value != .null else {
            guard let field else { return nil }
            throw LineError(.badField, "The line has no `\(field)`, which the job names as the id.")
        }
        guard let id = value.idText else {
            throw LineError(
                .badField, "`\(name)` must be a string or a whole number, but is \(value.kindName).")
        }
        // Each of several samples of a line has its own id.
        if field == nil, fields.isResult, let sample = fields.int("sample") {
            return "\(id)#\(sample)"
        }
        return id
    }

    /// Returns the key of a sample's result: the key under which an earlier run has stored it, if any, also of a redone
    /// one.
    /// - Parameter filed: returns the hashes under which results of an id and sample are stored.
    package func key(_ sample: Int, filed: (ResultKey) throws -> [UInt64]) rethrows -> ResultKey {
        var key = ResultKey(id: id, sample: sample, contentHash: contentHash)
        let filed = try filed(key)
        if filed.isEmpty { return key }
        for hash in hashes {
            if let known = filed.first(where: { ResultKey.redo(of: $0, from: hash) != nil }) {
                key.contentHash = known
                break
            }
        }
        return key
    }

    /// Returns how often a result was redone.
    /// - Parameter key: one of the line's.
    func redo(of key: ResultKey) -> Int {
        for hash in hashes {
            if let redo = ResultKey.redo(of: key.contentHash, from: hash) { return redo }
        }
        preconditionFailure("a key is one of its line's")
    }

    /// Returns the number of results of the line: its own number, if an output can hold them, or else the job's.
    package func samples(in job: JobSettings) -> Int {
        guard job.outputFormat.isByLine, let request else { return job.sampleCount }
        return (request.choices ?? job.sampleCount) * max(1, request.prompts.count)
    }
}

extension JSONValue {
    /// An id; a whole number becomes its digits. Nil if it can't be one.
    var idText: String? {
        switch self {
        case .int(let number): String(number)
        case .number(let number): number.isWhole ? number.text : integer.map { "\($0)" }
        case .string(let text): text
        default: nil
        }
    }
}
