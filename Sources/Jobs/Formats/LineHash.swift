import JSON
import OperatingSystem

/// Hash of values, each with its kind and length, so that different lists have different bytes. It is the same on every
/// machine. Numbers are hashed by their text, objects with their members in order.
struct LineHash {
    private enum ValueTag: UInt8 {
        case null, bool, number, string, array, object, name, none
    }

    private var hash = SHA.sha256()
    private var held: [UInt8] = []
    private static let heldLimit = 1 << 14

    /// First 64 bits.
    var value: UInt64 {
        var hash = hash
        hash.update(held)
        return Self.value(hash)
    }

    static func value(of bytes: [UInt8]) -> UInt64 {
        var hash = SHA.sha256()
        hash.update(bytes)
        return value(hash)
    }

    private static func value(_ hash: SHA) -> UInt64 {
        hash.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    // MARK: Adding

    mutating func add(name: String) { add(.name, name) }

    /// - Parameter value: nil differs from all values.
    mutating func add(_ value: JSONValue?) {
        switch value {
        case nil: add(.none, 0)
        case .null?: add(.null, 0)
        case .bool(let flag)?: add(.bool, flag ? 1 : 0)
        case .int(let number)?: add(.number, String(number))
        case .number(let number)?: add(.number, number.text)
        case .string(let text)?: add(.string, text)
        case .array(let elements)?:
            add(.array, elements.count)
            for element in elements { add(element) }
        case .object(let members)?:
            add(.object, members.count)
            for member in members {
                add(name: member.name)
                add(member.value)
            }
        }
    }

    private mutating func add(_ kind: ValueTag, _ count: Int) {
        held.append(kind.rawValue)
        withUnsafeBytes(of: UInt64(count).littleEndian) { held += $0 }
        if held.count >= Self.heldLimit { flush() }
    }

    private mutating func add(_ kind: ValueTag, _ text: String) {
        add(kind, text.utf8.count)
        var text = text
        text.withUTF8 { utf8 in
            guard utf8.count > Self.heldLimit else {
                held += utf8
                return
            }
            // A long text is not copied.
            flush()
            hash.update(utf8)
        }
    }

    private mutating func flush() {
        hash.update(held)
        held.removeAll(keepingCapacity: true)
    }
}
