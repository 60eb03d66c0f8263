/// Paths of the system as strings. Paths are bytes, which need not be UTF-8: a byte outside any valid character becomes
/// a private scalar, U+10FE00 + byte, and the byte again at the system call. Characters of a path in that range are
/// split into their bytes too, so that different paths stay different strings.
extension String {
    private static let mappedBytes: ClosedRange<UInt32> = 0x10FE80...0x10FEFF

    private static func byte(_ scalar: Unicode.Scalar) -> UInt8? {
        mappedBytes.contains(scalar.value) ? UInt8(truncatingIfNeeded: scalar.value) : nil
    }

    /// Creates a string from the system's path. Paths in a text (a job file) are just its UTF-8.
    package init(pathBytes bytes: some RandomAccessCollection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self), !text.holdsMappedBytes {
            self = text
            return
        }
        var text = UnicodeScalarView()
        var rest = bytes[bytes.startIndex...]
        while let first = rest.first {
            var parser = UTF8.ForwardParser()
            var next = rest.prefix(4).makeIterator()
            if case .valid(let encoded) = parser.parseScalar(from: &next),
                case let scalar = UTF8.decode(encoded),
                Self.byte(scalar) == nil
            {
                text.append(scalar)
                rest = rest.dropFirst(encoded.count)
            } else {
                // Never an ASCII byte, as those are always valid.
                if let scalar = Unicode.Scalar(0x10FE00 + UInt32(first)) { text.append(scalar) }
                rest = rest.dropFirst()
            }
        }
        self.init(text)
    }

    package init(cPath: UnsafePointer<CChar>) {
        var count = 0
        while cPath[count] != 0 { count += 1 }
        let bytes = UnsafeBufferPointer(start: cPath, count: count)
        self.init(pathBytes: bytes.map { UInt8(bitPattern: $0) })
    }

    package var pathBytes: [UInt8] {
        guard holdsMappedBytes else { return Array(utf8) }
        var bytes: [UInt8] = []
        for scalar in unicodeScalars {
            if let byte = Self.byte(scalar) {
                bytes.append(byte)
            } else {
                bytes += UTF8.encode(scalar) ?? .init()
            }
        }
        return bytes
    }

    /// The path's bytes and a final 0, for a system call.
    package var cPath: [CChar] {
        var path = pathBytes.map { CChar(bitPattern: $0) }
        path.append(0)
        return path
    }

    /// A text that is no path (the value of an option) as given; nil if it was not UTF-8.
    package var textOfPath: String? {
        holdsMappedBytes ? String(validating: pathBytes, as: UTF8.self) : self
    }

    /// The path for people: a byte outside any character as `\xNN`.
    package var showingBytes: String {
        guard holdsMappedBytes else { return self }
        var text = UnicodeScalarView()
        for scalar in unicodeScalars {
            guard let byte = Self.byte(scalar) else {
                text.append(scalar)
                continue
            }
            text.append(contentsOf: "\\x\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".unicodeScalars)
        }
        return String(text)
    }

    private var holdsMappedBytes: Bool {
        // All scalars of the range begin with this byte.
        utf8.contains(0xF4) && unicodeScalars.contains { Self.byte($0) != nil }
    }
}
