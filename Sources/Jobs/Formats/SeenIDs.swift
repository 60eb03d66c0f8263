import OperatingSystem

/// The ids met so far, by 128 bits of a hash: enough that two ids are never taken for one by chance.
package struct SeenIDs {
    private var digests: HashTable

    package init(_ scratch: Scratch) { digests = HashTable(scratch) }

    /// - Returns: false if the id was met before.
    /// - Throws: `StoreError` if a scratch file can't be read, or neither disk nor memory has room.
    package mutating func insert(_ id: String) throws -> Bool {
        var (key, rest) = SHA.sha256(of: id.utf8).withUnsafeBytes { bytes in
            (bytes.load(as: UInt64.self), bytes.load(fromByteOffset: 8, as: UInt64.self))
        }
        while let known = try digests.value(of: key) {
            if known == rest { return false }
            // Another id has the same first half: then the next key is tried.
            key &+= 0x9e37_79b9_7f4a_7c15
        }
        try digests.insert(key, rest)
        return true
    }
}
