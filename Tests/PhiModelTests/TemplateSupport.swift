import Foundation
import Testing

@testable import PhiModel

/// Reads JSON keeping the order of members, which Foundation's parsers lose.
struct OrderedJSON {
    private let bytes: [UInt8]
    private var at = 0

    struct Broken: Error {}

    static func parse(_ data: Data) throws -> TemplateValue {
        var parser = OrderedJSON(bytes: Array(data))
        return try parser.value()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func space() {
        while at < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[at]) { at += 1 }
    }

    private mutating func skip(_ byte: Character) -> Bool {
        space()
        guard at < bytes.count, bytes[at] == byte.asciiValue else { return false }
        at += 1
        return true
    }

    private mutating func value() throws -> TemplateValue {
        if skip("{") {
            var members: [TemplateMember] = []
            if skip("}") { return .object(members) }
            repeat {
                space()
                guard case .string(let name) = try scalar(), skip(":") else { throw Broken() }
                members.append(TemplateMember(name: name, value: try value()))
            } while skip(",")
            guard skip("}") else { throw Broken() }
            return .object(members)
        }
        if skip("[") {
            var items: [TemplateValue] = []
            if skip("]") { return .array(items) }
            repeat { items.append(try value()) } while skip(",")
            guard skip("]") else { throw Broken() }
            return .array(items)
        }
        space()
        return try scalar()
    }

    private mutating func scalar() throws -> TemplateValue {
        let start = at
        if at < bytes.count, bytes[at] == 0x22 {
            at += 1
            while at < bytes.count, bytes[at] != 0x22 { at += bytes[at] == 0x5C ? 2 : 1 }
            at += 1
            guard at <= bytes.count else { throw Broken() }
            return .string(try JSONDecoder().decode(String.self, from: Data(bytes[start..<at])))
        }
        while at < bytes.count, ![0x2C, 0x5D, 0x7D, 0x0A, 0x20].contains(bytes[at]) { at += 1 }
        let word = String(decoding: bytes[start..<at], as: UTF8.self)
        switch word {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default:
            if let int = Int(word) { return .int(int) }
            guard let double = Double(word) else { throw Broken() }
            return .double(double)
        }
    }
}

extension TemplateValue {
    subscript(name: String) -> TemplateValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    var text: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    var items: [TemplateValue] {
        if case .array(let items) = self { return items }
        return []
    }
}

/// The folder of shared fixtures, if the machine has it.
let sharedFixtures = ProcessInfo.processInfo.environment["PHIBATCH_SHARED"].map {
    URL(fileURLWithPath: $0).appending(path: "fixtures")
}

/// Strings are compared by bytes: Swift's `==` would take canonically equivalent ones as equal.
func expectSame(_ found: String, _ wanted: String, _ what: String) {
    #expect(
        Array(found.utf8) == Array(wanted.utf8),
        "\(what): got \(found.debugDescription), not \(wanted.debugDescription)")
}

/// The error that `body` throws.
func modelError(_ body: () throws -> Void) -> ModelError? {
    do {
        try body()
        return nil
    } catch {
        return error as? ModelError
    }
}
