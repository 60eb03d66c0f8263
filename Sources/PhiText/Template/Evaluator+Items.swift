/// Attributes, items and slices.
extension Evaluator {
    /// `value.name`: methods first, then members.
    @inline(never)
    func attribute(_ value: Value, _ name: String) throws -> Value {
        if let found = try property(value, name) { return found }
        if case .dict(let dict) = value, let member = dict.members[name] { return member }
        return missing(value, "attribute '\(name)'")
    }

    /// Returns what Python's `getattr` finds: methods, and the members of namespaces and loops.
    func property(_ value: Value, _ name: String) throws -> Value? {
        switch value {
        case .undefined(let reason): throw fault(reason.message)
        case .namespace(let namespace): return namespace.members[name]
        case .loop(let loop):
            if let found = loopProperty(loop, name) { return found }
        default: break
        }
        if let method = MethodName(rawValue: name), method.belongs(to: value) {
            return .method(method, of: value)
        }
        return nil
    }

    func loopProperty(_ loop: LoopState, _ name: String) -> Value? {
        let count = loop.items.count
        switch name {
        case "index": return .int(loop.index + 1)
        case "index0": return .int(loop.index)
        case "revindex": return .int(count - loop.index)
        case "revindex0": return .int(count - loop.index - 1)
        case "first": return .bool(loop.index == 0)
        case "last": return .bool(loop.index == count - 1)
        case "length": return .int(count)
        case "depth": return .int(1)
        case "depth0": return .int(0)
        case "previtem":
            return loop.index > 0
                ? loop.items[loop.index - 1] : .undefined(Undefined("there is no previous item"))
        case "nextitem":
            return loop.index + 1 < count
                ? loop.items[loop.index + 1] : .undefined(Undefined("there is no next item"))
        default: return nil
        }
    }

    func missing(_ value: Value, _ what: String) -> Value {
        .undefined(Undefined("\(value.typeName) has no \(what)"))
    }

    @inline(never)
    func item(_ base: Expression, _ key: Expression, line: Int) throws -> Value {
        let value = try evaluate(base)
        let index = try evaluate(key)
        self.line = line
        return try item(value, index)
    }

    /// `value[key]`: members first, then methods.
    func item(_ value: Value, _ key: Value) throws -> Value {
        switch value {
        case .undefined(let reason): throw fault(reason.message)
        case .dict(let dict):
            if let key = DictKey(key), let member = dict.members[key] { return member }
        case .list(let list) where list.kind != .view:
            if let index = key.integer {
                let at = index < 0 ? index + list.items.count : index
                if list.items.indices.contains(at) { return list.items[at] }
            }
        case .string(let text):
            if let index = key.integer, let scalar = try scalar(of: text, at: index) {
                return .string(String(scalar))
            }
        default: break
        }
        if let name = key.text {
            if let found = try property(value, name) { return found }
            return missing(value, "attribute '\(name)'")
        }
        if let index = key.integer { return missing(value, "element \(index)") }
        return missing(value, "element at \(key.typeName)")
    }

    private func scalar(of text: String, at index: Int) throws -> Unicode.Scalar? {
        try spend(text: text)
        let scalars = text.unicodeScalars
        // Every code point takes at least a byte, so a larger index can't be inside.
        guard index.magnitude <= UInt(text.utf8.count) else { return nil }
        return index < 0 ? scalars.reversed().dropFirst(-index - 1).first : scalars.dropFirst(index).first
    }

    @inline(never)
    func slice(_ expression: Expression) throws -> Value {
        guard case .slice(let base, let start, let stop, let step) = expression.kind else {
            preconditionFailure("not a slice")
        }
        let value = try evaluate(base)
        func bound(_ bound: Expression?) throws -> Int? {
            guard let bound else { return nil }
            let value = try evaluate(bound)
            if case .none = value { return nil }
            guard let index = value.integer else {
                throw fault("a slice needs integers, not \(value.typeName)")
            }
            return index
        }
        let bounds = (try bound(start), try bound(stop), try bound(step))
        line = expression.line
        switch value {
        case .undefined(let reason): throw fault(reason.message)
        case .list(let list) where list.kind == .list || list.kind == .tuple:
            let indices = try indices(list.items.count, bounds)
            return try made(ListValue(indices.map { list.items[$0] }, list.kind))
        case .string(let text):
            try spend(text: text)
            let scalars = Array(text.unicodeScalars)
            return .string(PythonText.string(try indices(scalars.count, bounds).map { scalars[$0] }))
        default: throw fault("\(value.typeName) has no slices")
        }
    }

    /// Returns the indices that a Python slice takes from a sequence of so many elements.
    private func indices(_ count: Int, _ bounds: (start: Int?, stop: Int?, step: Int?)) throws -> [Int] {
        let step = bounds.step ?? 1
        guard step != 0 else { throw fault("a slice can't have step 0") }
        let (lowest, highest) = step < 0 ? (-1, count - 1) : (0, count)
        func clamp(_ bound: Int) -> Int {
            // `count` is a size in memory, so that the sum can't overflow for a negative bound.
            min(max(bound < 0 ? bound + count : bound, lowest), highest)
        }
        let start = bounds.start.map(clamp) ?? (step < 0 ? highest : lowest)
        return Array(
            stride(from: start, to: bounds.stop.map(clamp) ?? (step < 0 ? lowest : highest), by: step))
    }
}
