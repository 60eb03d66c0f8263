import FoundationShim

extension JSONValue {
    /// The most elements of a list on one line.
    private static let rowLength = 128

    /// The value as indented text that ends in a line feed; a short list of plain values is one line.
    package var indentedText: String {
        var bytes: [UInt8] = []
        write(to: &bytes, indent: 0)
        bytes.append(0x0A)
        return String(decoding: bytes, as: UTF8.self)
    }

    private var isPlain: Bool {
        switch self {
        case .array, .object: false
        default: true
        }
    }

    private func write(to bytes: inout [UInt8], indent: Int) {
        switch self {
        case .array(let elements) where elements.count <= Self.rowLength && elements.allSatisfy(\.isPlain):
            bytes += "[\(elements.map { JSONWriter.text(of: $0) }.joined(separator: ", "))]".utf8
        case .array(let elements):
            Self.block("[", "]", elements, &bytes, indent) { element, bytes in
                element.write(to: &bytes, indent: indent + 1)
            }
        case .object(let members):
            Self.block("{", "}", members, &bytes, indent) { member, bytes in
                JSONBytes.append(member.name, to: &bytes)
                bytes += ": ".utf8
                member.value.write(to: &bytes, indent: indent + 1)
            }
        default: bytes += JSONWriter.text(of: self).utf8
        }
    }

    private static func block<Parts: Collection>(
        _ open: String, _ close: String, _ parts: Parts, _ bytes: inout [UInt8], _ indent: Int,
        _ write: (Parts.Element, inout [UInt8]) -> Void
    ) {
        bytes += open.utf8
        for (index, part) in parts.enumerated() {
            bytes += (index == 0 ? "\n" : ",\n").utf8
            bytes += repeatElement(0x20, count: 2 * (indent + 1))
            write(part, &bytes)
        }
        if !parts.isEmpty {
            bytes.append(0x0A)
            bytes += repeatElement(0x20, count: 2 * indent)
        }
        bytes += close.utf8
    }
}
