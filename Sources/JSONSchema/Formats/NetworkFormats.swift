/// Addresses and names of hosts and mailboxes.
enum NetworkFormats {
    /// RFC 5321, section 4.1.2: a dotted or quoted name, and a host name or an address in brackets.
    static func isEmail(_ text: [UInt8], allowsUTF8: Bool) -> Bool {
        guard let at = text.lastIndex(of: UInt8(ascii: "@")) else { return false }
        let name = text[..<at]
        let host = text[(at + 1)...]
        guard !name.isEmpty, isLocalPart(name, allowsUTF8) else { return false }
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
            let address = host.dropFirst().dropLast()
            let prefix = Array("IPv6:".utf8)
            return address.starts(with: prefix) ? isIPv6(address.dropFirst(prefix.count)) : isIPv4(address)
        }
        if allowsUTF8, host.contains(where: { $0 >= 0x80 }) {
            return host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy {
                label in
                !label.isEmpty
                    && label.allSatisfy { $0 >= 0x80 || $0.isDigit || $0.isLetter || $0 == UInt8(ascii: "-") }
            }
        }
        return isHostname(host)
    }

    private static func isLocalPart(_ name: ArraySlice<UInt8>, _ allowsUTF8: Bool) -> Bool {
        if name.count >= 2, name.first == UInt8(ascii: "\""), name.last == UInt8(ascii: "\"") {
            var isEscape = false
            for byte in name.dropFirst().dropLast() {
                guard byte >= 0x20, byte != 0x7F, byte < 0x80 || allowsUTF8 else { return false }
                if !isEscape, byte == UInt8(ascii: "\"") { return false }
                isEscape = !isEscape && byte == UInt8(ascii: "\\")
            }
            return !isEscape
        }
        return name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty
                && atom.allSatisfy {
                    $0.isDigit || $0.isLetter || $0.isOne(of: "!#$%&'*+-/=?^_`{|}~")
                        || ($0 >= 0x80 && allowsUTF8)
                }
        }
    }

    /// RFC 1123, section 2.1. What a label `xn--...` stands for is not checked.
    static func isHostname(_ text: ArraySlice<UInt8>) -> Bool {
        guard 1...253 ~= text.count else { return false }
        return text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy {
            label in
            guard 1...63 ~= label.count, label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-")
            else {
                return false
            }
            // Two hyphens there are kept for encodings, of which xn-- is the only one (RFC 5891, section 4.2.3.1).
            let head = label.prefix(4).map { $0 | 0x20 }
            if head.count == 4, head[2...] == [0x2D, 0x2D], head[..<2] != [0x78, 0x6E] { return false }
            return label.allSatisfy { $0.isDigit || $0.isLetter || $0 == UInt8(ascii: "-") }
        }
    }

    static func isIPv4(_ text: ArraySlice<UInt8>) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                1...3 ~= part.count && part.allSatisfy(\.isDigit)
                    && (part.count == 1 || part.first != UInt8(ascii: "0"))
                    && part.reduce(0) { $0 * 10 + Int($1 & 15) } <= 255
            }
    }

    /// RFC 4291, section 2.2.
    static func isIPv6(_ text: ArraySlice<UInt8>) -> Bool {
        var groups = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var count = 0
        if let last = groups.last, last.contains(UInt8(ascii: ".")) {
            guard isIPv4(last) else { return false }
            groups.removeLast()
            count = 2
            guard !groups.isEmpty else { return false }
            // `::1.2.3.4`: the empty group before the address is the end of the gap.
            if groups.last?.isEmpty ?? false, groups.count >= 2 { groups.append([]) }
        }
        // Empty groups stand for the gap: one within, two at an end, three alone.
        let empty = groups.indices.filter { groups[$0].isEmpty }
        let hasGap = !empty.isEmpty
        if hasGap {
            guard let first = empty.first, let last = empty.last, last - first + 1 == empty.count else {
                return false
            }
            let atStart = first == 0
            let atEnd = last == groups.count - 1
            guard empty.count == 1 + (atStart ? 1 : 0) + (atEnd ? 1 : 0) else { return false }
        }
        count += groups.count - empty.count
        guard groups.allSatisfy({ $0.count <= 4 && $0.allSatisfy(\.isHexDigit) }) else { return false }
        return hasGap ? count <= 7 : count == 8
    }
}
