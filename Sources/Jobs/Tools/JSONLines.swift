import JSON

/// Lines of JSON values of any kind, from a file that may be packed.
package enum JSONLines {
    /// - Parameter body: gets each line's number, from 1, and its value. Blank lines are passed over.
    /// - Throws: `JobError` if the file can't be read, or names the first line that is no JSON; what `body` throws.
    package static func forEach(in path: String, _ body: (Int, JSONValue) throws -> Void) throws {
        var reader = InputReader(paths: [path], format: NativeLines())
        while let line = try reader.next() {
            guard line.excessLength == nil else {
                throw JobError(.badJob, at: "\(line.file):\(line.number)", "the line is too long.")
            }
            let value: JSONValue
            do throws(JSONFault) {
                value = try JSONValue(parsing: line.bytes, limits: .ownLine)
            } catch {
                throw JobError(
                    .badJob, at: "\(line.file):\(line.number)", "the line is not valid JSON: \(error).")
            }
            try body(line.number, value)
        }
    }

    /// All of a file, which may be packed.
    /// - Throws: `JobError` if it can't be read, or is larger than 64 MiB.
    package static func contents(of path: String) throws -> [UInt8] {
        let limit = 64 << 20
        let bytes = try ByteSource(path: path).readAll(limit: limit + 1)
        guard bytes.count <= limit else { throw JobError(.badJob, at: path, "is larger than 64 MiB.") }
        return bytes
    }
}
