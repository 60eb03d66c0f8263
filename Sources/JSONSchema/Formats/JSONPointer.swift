/// JSON pointers (RFC 6901).
enum JSONPointer {
    /// Escapes `~` and `/` of a name in a pointer.
    static func escaped(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else {
            return name
        }
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The names in a pointer; nil if it is malformed.
    static func names(_ pointer: String) -> [String]? {
        guard !pointer.isEmpty else { return [] }
        guard pointer.utf8.first == UInt8(ascii: "/") else { return nil }
        var names: [String] = []
        for part in pointer.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        {
            guard let name = unescaped(part) else { return nil }
            names.append(name)
        }
        return names
    }

    private static func unescaped(_ part: Substring.UnicodeScalarView) -> String? {
        var name = String.UnicodeScalarView()
        var isEscape = false
        for scalar in part {
            if isEscape {
                switch scalar {
                case "0": name.append("~")
                case "1": name.append("/")
                default: return nil
                }
                isEscape = false
            } else if scalar == "~" {
                isEscape = true
            } else {
                name.append(scalar)
            }
        }
        return isEscape ? nil : String(name)
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
