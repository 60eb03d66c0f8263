import FoundationShim

/// JSON pointers (RFC 6901).
enum JSONPointer {
    /// Escapes `~` and `/` of a name in a pointer.
    static func escaped(_ name: String) -> String {
        guard name.has("~") || name.has("/") else { return name }
        return name.replacing(each: "~", with: "~0").replacing(each: "/", with: "~1")
    }

    /// The names in a pointer; nil if it is malformed.
    static func names(_ pointer: String) -> [String]? {
        let parts = pointer.split(at: "/", keepingEmpty: true)
        let escapes = pointer.split(at: "~", keepingEmpty: true).dropFirst()
        guard parts[0].isEmpty, escapes.allSatisfy({ "01".utf8.contains($0.utf8.first ?? 0) }) else {
            return nil
        }
        return parts.dropFirst().map { $0.replacing(each: "~1", with: "/").replacing(each: "~0", with: "~") }
    }

    /// The index of a name in a list.
    static func index(_ name: String) -> Int? {
        guard name == "0" || name.utf8.first != UInt8(ascii: "0"), name.utf8.allSatisfy({ 0x30...0x39 ~= $0 })
        else {
            return nil
        }
        return Int(name)
    }
}
