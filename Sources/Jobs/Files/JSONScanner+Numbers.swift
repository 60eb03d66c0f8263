import Essentials
import JSON

extension JSONScanner {
    /// A whole number that isn't below zero.
    mutating func count() throws(JSONFault) -> Int {
        let value = try integer()
        guard value >= 0 else { throw fault("a number is below zero") }
        return value
    }

    /// What `JSONWriter.hex` writes.
    mutating func hex() throws(JSONFault) -> UInt64 {
        let text = try string()
        guard text.utf8.count == 16, let value = UInt64(text, radix: 16) else {
            throw fault("expected sixteen hexadecimal digits")
        }
        return value
    }
}
