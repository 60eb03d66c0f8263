import Crypto

/// What a line's result is filed under, and what the line asks. Every line has an id, its own or its number,
/// even if it is wrong otherwise.
struct LineIdentity {
    var id: String
    /// Of all the line's bytes.
    var contentHash: UInt64
    var record: Result<PromptRecord, LineError>

    /// - Parameter lineLimit: of the reader that has read the line.
    init(_ line: InputLine, lineLimit: Int) {
        var hash = SHA256()
        line.bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        contentHash = hash.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        id = String(line.overallNumber)
        if let length = line.excessLength {
            record = .failure(
                LineError(.lineTooLong, "The line has \(length) bytes; at most \(lineLimit) are read."))
            return
        }
        do throws(LineError) {
            let fields = try PromptRecord.parseObject(line.bytes)
            if let own = try PromptRecord.id(of: fields) { id = own }
            record = .success(try PromptRecord(fields: fields))
        } catch {
            record = .failure(error)
        }
    }
}
