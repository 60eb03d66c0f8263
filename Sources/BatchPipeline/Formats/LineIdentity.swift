import Crypto
import Foundations

/// What a record's result is filed under, and what the record asks. Every record has an id, its own or its number,
/// even if it is wrong otherwise.
struct LineIdentity {
    var id: String
    /// Of all the record's bytes.
    var contentHash: UInt64
    var record: Result<PromptRecord, LineError>
    /// What the line says; nil if it is no object.
    private(set) var fields: JSONValue?

    /// - Parameters:
    ///   - reader: the one that has just read the record.
    ///   - idField: the field that is the id; nil is `id`.
    init(_ line: InputRecord, by reader: InputReader, idField: String?) {
        var hash = SHA256()
        line.bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        contentHash = hash.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        id = String(line.overallNumber)
        do throws(LineError) {
            let fields = try reader.fields(of: line)
            self.fields = fields
            if let own = try PromptRecord.id(of: fields, idField) { id = own }
            record = .success(try PromptRecord(fields: fields, idField: idField))
        } catch {
            record = .failure(error)
        }
    }

    /// The error of an earlier step that the line carries.
    var carriedError: LineError? { fields.flatMap(EarlierStep.error) }
}
