import Crypto

/// What a record's result is filed under, and what the record asks. Every record has an id, its own or its number,
/// even if it is wrong otherwise.
struct LineIdentity {
    var id: String
    /// Of all the record's bytes.
    var contentHash: UInt64
    var record: Result<PromptRecord, LineError>

    /// - Parameter reader: the one that has just read the record.
    init(_ line: InputRecord, by reader: InputReader) {
        var hash = SHA256()
        line.bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        contentHash = hash.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        id = String(line.overallNumber)
        do throws(LineError) {
            let fields = try reader.fields(of: line)
            if let own = try PromptRecord.id(of: fields) { id = own }
            record = .success(try PromptRecord(fields: fields))
        } catch {
            record = .failure(error)
        }
    }
}
