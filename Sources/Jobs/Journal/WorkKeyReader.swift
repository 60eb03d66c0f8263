import JSON

/// Reads a work key from the members of a sealed line: "id", "sample" and "line_hash", wherever they stand.
struct WorkKeyReader {
    private var (id, sample, contentHash): (String?, Int?, UInt64?)

    /// - Returns: false if the member is none of them; then nothing is read.
    mutating func take(_ name: UnsafeBufferPointer<UInt8>, from scanner: inout JSONScanner) throws -> Bool {
        if name.spells("id") {
            id = try scanner.string()
        } else if name.spells("sample") {
            sample = try scanner.count()
        } else if name.spells("line_hash") {
            contentHash = try scanner.hex()
        } else {
            return false
        }
        return true
    }

    /// Nil if a member is missing.
    var key: WorkKey? {
        guard let id, let sample, let contentHash else { return nil }
        return WorkKey(id: id, sample: sample, contentHash: contentHash)
    }
}
