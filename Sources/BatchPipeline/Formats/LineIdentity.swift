import Foundations

/// What a record's result is filed under, and what the record asks. Every record has an id, its own or its number,
/// even if it is wrong otherwise.
struct LineIdentity {
    var id: String
    /// Its id is its number in the whole input, as it has none of its own.
    private(set) var isNumbered = true
    /// Of all the record's bytes.
    var contentHash: UInt64
    var record: Result<PromptRecord, LineError>
    /// What the line says; nil if it is no object.
    private(set) var fields: JSONValue?
    /// Nil if it is none of OpenAI's.
    private(set) var request: OpenAIRequest?

    /// - Parameters:
    ///   - reader: the one that has just read the record.
    ///   - idField: the field that is the id; nil is `id`.
    init(_ line: InputRecord, by reader: InputReader, idField: String?) {
        contentHash = SHA.sha256(of: line.bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        id = String(line.overallNumber)
        do throws(LineError) {
            let content = try reader.content(of: line)
            (fields, request) = (content.fields, content.request)
            if let own = try PromptRecord.id(of: content.fields, idField) { (id, isNumbered) = (own, false) }
            if let fault = content.fault { throw fault }
            var prompt = try PromptRecord(fields: content.fields, idField: idField)
            prompt.request = content.request
            record = .success(prompt)
        } catch {
            record = .failure(error)
        }
    }

    /// How many results the line has: as many as it asks for itself, where an output can hold them, or else the job.
    func samples(in job: JobSettings) -> Int {
        job.outputFormat.format.isByLine ? request?.choices ?? job.samples : job.samples
    }

    /// The error of an earlier step that the line carries.
    var carriedError: LineError? { fields.flatMap(EarlierStep.error) }
}
