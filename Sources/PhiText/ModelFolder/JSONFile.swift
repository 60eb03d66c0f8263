import JSON
import OperatingSystem

/// Reader of JSON in model folders, which are untrusted: strict and bounded.
package enum JSONFile {
    /// Reads a whole file as one JSON object.
    /// - Throws: `UserError`: `missing`, or `malformed` with the place of the fault.
    package static func object(_ path: String, maximumBytes: Int = 64 << 20) throws -> JSONObject {
        let file = try MappedFile(path: path)
        guard file.count <= maximumBytes else {
            throw UserError(
                .malformed, at: path, "is \(file.count) bytes long; at most \(maximumBytes) are read.")
        }
        // A copy, as a small file may be rewritten in place while it is read.
        let copy = file.withBytes { [UInt8]($0) }
        do throws(JSONFault) {
            let value = try JSONValue(parsing: copy, limits: .file)
            guard case .object(let members) = value else {
                throw JSONFault("is \(value.kindName), not an object")
            }
            return members
        } catch {
            throw UserError(.malformed, at: path, "not valid JSON: \(error).")
        }
    }
}
