/// Lists and mappings in brackets, as in JSON.
extension YAMLReader {
    mutating func bracketed() throws(SettingProblem) -> YAMLNode {
        if peek() == UInt8(ascii: "{"), peek(1) == UInt8(ascii: "{") {
            throw fault("a text that begins with {{ must have quotes around it: \"{{ prompt }}\"")
        }
        brackets += 1
        defer { brackets -= 1 }
        return peek() == UInt8(ascii: "[") ? try bracketedList() : try bracketedMapping()
    }

    private mutating func bracketedList() throws(SettingProblem) -> YAMLNode {
        let line = line
        var elements: [YAMLNode] = []
        at += 1
        while try !closes(UInt8(ascii: "]")) {
            elements.append(try bracketedNode())
            try separate(UInt8(ascii: "]"))
        }
        return YAMLNode(content: .sequence(elements), line: line)
    }

    private mutating func bracketedMapping() throws(SettingProblem) -> YAMLNode {
        var members = YAMLMembers(line: line)
        at += 1
        while try !closes(UInt8(ascii: "}")) {
            let key = try bracketedNode()
            try skip()
            try members.add(key, peek() == UInt8(ascii: ":") ? bracketedValue() : empty)
            try separate(UInt8(ascii: "}"))
        }
        return members.node
    }

    /// Skips the closing bracket, if it is next.
    private mutating func closes(_ bracket: UInt8) throws(SettingProblem) -> Bool {
        try skip()
        guard !isAtEnd, !isAtMarker else {
            throw fault("a bracket is not closed; \(Character(Unicode.Scalar(bracket))) is missing")
        }
        guard peek() == bracket else { return false }
        at += 1
        return true
    }

    /// Skips the comma after an entry, unless the bracket closes.
    private mutating func separate(_ bracket: UInt8) throws(SettingProblem) {
        try skip()
        if peek() == UInt8(ascii: ",") {
            at += 1
        } else if peek() != bracket {
            let hint = peek() == UInt8(ascii: ":") ? ", or braces around a key: [{a: b}]" : ""
            throw fault("expected a comma or \(Character(Unicode.Scalar(bracket))) within brackets\(hint)")
        }
    }

    /// Reads the value after a colon; empty if a comma follows.
    private mutating func bracketedValue() throws(SettingProblem) -> YAMLNode {
        at += 1
        try skip()
        switch peek() {
        case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"): return empty
        default: return try bracketedNode()
        }
    }

    private mutating func bracketedNode() throws(SettingProblem) -> YAMLNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw fault("values lie too deep in each other") }
        let before = empty
        let properties = try properties()
        let node: YAMLNode
        switch peek() {
        case _ where isSign(":"): node = before
        case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"):
            guard properties.anchor != nil else {
                throw fault("a value is missing before \(Character(Unicode.Scalar(peek())))")
            }
            node = before
        default: node = try inline(in: -1)
        }
        remember(node, as: properties.anchor)
        return node
    }
}
