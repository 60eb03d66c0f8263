/// What is told apart by indentation.
extension YAMLReader {
    var empty: YAMLNode { YAMLNode(content: .scalar("", isPlain: true), line: line) }

    /// The value that comes next, or an empty one if there is none.
    /// - Parameters:
    ///   - indent: the column of what it belongs to; on a line of its own it stands further right.
    ///   - mayBeCompact: whether a list or mapping may begin on the same line, as after `- `.
    ///   - isListIn: whether a list may stand in the same column, as after `key:`.
    mutating func node(
        in indent: Int, mayBeCompact: Bool, isListIn: Bool = false
    ) throws(YAMLFault) -> YAMLNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw fault("values lie too deep in each other") }
        let missing = empty
        let isFirst = try skip()
        let mayBeCompact = mayBeCompact || isFirst
        if isAtEnd || isAtMarker { return missing }
        if isFirst, column <= indent, !(isListIn && column == indent && isSign("-")) { return missing }
        let (start, startLine) = (column, line)
        let before = empty
        let properties = try properties()
        if properties.crossed {
            let value = try node(in: indent, mayBeCompact: true, isListIn: isListIn)
            remember(value, as: properties.anchor)
            return value
        }
        let value: YAMLNode
        if isSign("-"), !properties.isThere {
            guard mayBeCompact else { throw fault("a list can't begin on the line of its key") }
            value = try list(at: start)
        } else if peek() == UInt8(ascii: "|") || peek() == UInt8(ascii: ">") {
            value = try blockScalar(in: indent)
        } else {
            let first = (properties.isThere && isAtEnd) || isSign(":") ? before : try inline(in: indent)
            guard line == startLine else {
                if isBeforeColon() { throw fault("a key must stand on one line") }
                remember(first, as: properties.anchor)
                return first
            }
            if isBeforeColon() {
                guard mayBeCompact else {
                    throw fault("a second key can't stand on the same line; quote a text with \": \"")
                }
                remember(first, as: properties.anchor)
                return try mapping(at: start, first)
            }
            value = first
        }
        remember(value, as: properties.anchor)
        return value
    }

    /// Whether `:` follows on the line.
    private mutating func isBeforeColon() -> Bool {
        let before = at
        skipBlanks()
        if isSign(":") { return true }
        at = before
        return false
    }

    /// A value that needs no indentation to be told.
    private mutating func inline(in indent: Int) throws(YAMLFault) -> YAMLNode {
        switch peek() {
        case UInt8(ascii: "*"): try alias()
        case UInt8(ascii: "["), UInt8(ascii: "{"): try bracketed()
        case UInt8(ascii: "\""), UInt8(ascii: "'"): try quoted()
        default: try plain(in: indent)
        }
    }

    /// After an entry at this column: whether another one follows.
    private mutating func goesOn(at start: Int) throws(YAMLFault) -> Bool {
        let isFirst = try skip()
        if isAtEnd || isAtMarker || (isFirst && column < start) { return false }
        guard isFirst, column == start else {
            throw fault(
                isFirst
                    ? "a line is indented further than those before it, which it doesn't belong to"
                    : "something follows a value that is complete; quote a text that holds it all")
        }
        return true
    }

    private mutating func list(at start: Int) throws(YAMLFault) -> YAMLNode {
        let line = line
        var elements: [YAMLNode] = []
        repeat {
            at += 1
            elements.append(try node(in: start, mayBeCompact: true))
        } while try goesOn(at: start) && isSign("-")
        return YAMLNode(content: .sequence(elements), line: line)
    }

    /// - Parameter first: its first key, which is read up to the colon.
    private mutating func mapping(at start: Int, _ first: YAMLNode) throws(YAMLFault) -> YAMLNode {
        var members = YAMLMembers(line: first.line)
        var key = first
        while true {
            at += 1
            try members.add(key, node(in: start, mayBeCompact: false, isListIn: true))
            guard try goesOn(at: start) else { return members.node }
            key = try self.key(in: start)
        }
    }

    private mutating func key(in indent: Int) throws(YAMLFault) -> YAMLNode {
        let startLine = line
        let properties = try properties()
        let key = isSign(":") ? empty : try inline(in: indent)
        guard line == startLine, isBeforeColon() else {
            line = startLine
            throw fault("this should be a key, with a colon and a space after it")
        }
        remember(key, as: properties.anchor)
        return key
    }
}

/// A mapping that is being read.
struct YAMLMembers {
    let line: Int
    private var members: [(key: YAMLNode, value: YAMLNode)] = []
    private var lines: [String: Int] = [:]

    init(line: Int) { self.line = line }

    var node: YAMLNode { YAMLNode(content: .mapping(members), line: line) }

    /// - Throws: if the key is there already, with the line of the first one.
    mutating func add(_ key: YAMLNode, _ value: YAMLNode) throws(YAMLFault) {
        if case .scalar(let name, _) = key.content {
            if let line = lines[name] {
                throw YAMLFault(
                    line: line, message: "the key \(name.prefix(64)) is given more than once; keep one")
            }
            lines[name] = key.line
        }
        members.append((key, value))
    }
}
