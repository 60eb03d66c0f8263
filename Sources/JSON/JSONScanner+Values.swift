extension JSONValue {
    /// Parses text that has exactly one value.
    package init(parsing text: UnsafeRawBufferPointer, limits: JSONLimits) throws(JSONFault) {
        let result = text.withMemoryRebound(to: UInt8.self) { bytes in
            Result { () throws(JSONFault) in
                var scanner = JSONScanner(bytes, limits: limits)
                try scanner.begin()
                let value = try scanner.value()
                try scanner.end()
                return value
            }
        }
        self = try result.get()
    }

    package init(parsing text: [UInt8], limits: JSONLimits) throws(JSONFault) {
        self = try text.withUnsafeBytes { bytes in
            Result { () throws(JSONFault) in try JSONValue(parsing: bytes, limits: limits) }
        }.get()
    }
}

extension JSONScanner {
    /// Reads one value as a tree. A duplicate name in an object is an error: two readers could see two values.
    package mutating func value() throws(JSONFault) -> JSONValue {
        let kind = try peek()
        values += 1
        guard values <= limits.values else { throw fault("more than \(limits.values) values") }
        switch kind {
        case .null:
            try null()
            return .null
        case .bool: return .bool(try bool())
        case .string: return .string(try string())
        case .number:
            let start = position
            let text = String(decoding: try numberBytes(), as: UTF8.self)
            if let integer = Int(text), text != "-0" { return .int(integer) }
            guard let number = Double(text), number.isFinite else {
                throw fault("this number is too large", at: start)
            }
            return .number(JSONNumber(text: text))
        case .array:
            var elements: [JSONValue] = []
            try open(.array)
            while try hasNext(end: UInt8(ascii: "]")) { elements.append(try value()) }
            return .array(elements)
        case .object:
            var members = JSONObject()
            try open(.object)
            while try hasNext(end: UInt8(ascii: "}")) {
                skipSpace()
                let start = position
                let name = String(decoding: try key(), as: UTF8.self)
                guard members.insert(try value(), for: name) else {
                    throw fault("the name \(name.debugDescription.prefix(60)) appears twice", at: start)
                }
            }
            return .object(members)
        }
    }
}
