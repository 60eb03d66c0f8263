extension JSONScanner {
    /// A JSON value as a tree, for the small parts of a file.
    enum Value: Equatable {
        case null
        case bool(Bool)
        case integer(Int)
        case number(Double)
        case string(String)
        case array([Value])
        case object([Member])

        struct Member: Equatable {
            var key: String
            var value: Value
        }
    }

    /// Reads one value. A key that stands twice in an object is an error.
    mutating func value() throws -> Value {
        switch try peek() {
        case .null:
            try null()
            return .null
        case .bool: return .bool(try bool())
        case .string: return .string(try string())
        case .number:
            let start = position
            let text = try numberBytes()
            if let integer = Int(String(decoding: text, as: UTF8.self)) { return .integer(integer) }
            seek(to: start)
            return .number(try number())
        case .array:
            var elements: [Value] = []
            try array { elements.append(try $0.value()) }
            return .array(elements)
        case .object:
            var members: [Value.Member] = []
            var seen: Set<String> = []
            try object { scanner, key in
                let key = String(decoding: key, as: UTF8.self)
                guard seen.insert(key).inserted else {
                    throw scanner.fault("the key \(key.debugDescription.prefix(60)) stands twice")
                }
                members.append(Value.Member(key: key, value: try scanner.value()))
            }
            return .object(members)
        }
    }
}
