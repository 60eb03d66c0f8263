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
            return .method(BoundMethod(value, method))
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
        case .list(let list) where !list.isView:
            if let index = key.integer {
                let at = index < 0 ? index + list.items.count : index
                if list.items.indices.contains(at) { return list.items[at] }
            }
        case .string(let text), .markup(let text):
            if let index = key.integer, let scalar = try scalar(of: text, at: index) {
                if case .markup = value { return .markup(String(scalar)) }
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

    func scalar(of text: String, at index: Int) throws -> Unicode.Scalar? {
        try spend(text: text)
        let scalars = text.unicodeScalars
        // Every code point takes at least a byte, so a larger index can't be inside.
        guard index.magnitude <= UInt(text.utf8.count) else { return nil }
        return index < 0
            ? scalars.suffix(-index).count == -index ? scalars.suffix(-index).first : nil
            : scalars.dropFirst(index).first
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
        case .list(let list) where !list.isView:
            let range = try SliceRange(list.items.count, bounds, self)
            if case .range(let first, _, let stride) = list.kind {
                return try made(try rangeSlice(first, stride, range))
            }
            return try made(ListValue(range.indices.map { list.items[$0] }, list.kind))
        case .string(let text), .markup(let text):
            try spend(text: text)
            let scalars = Array(text.unicodeScalars)
            let range = try SliceRange(scalars.count, bounds, self)
            let result = PythonText.string(range.indices.map { scalars[$0] })
            if case .markup = value { return .markup(result) }
            return .string(result)
        default: throw fault("\(value.typeName) has no slices")
        }
    }

    func rangeSlice(_ first: Int, _ stride: Int, _ slice: SliceRange) throws -> ListValue {
        func element(_ index: Int) throws -> Int {
            let (offset, overflow) = stride.multipliedReportingOverflow(by: index)
            let (value, overflow2) = first.addingReportingOverflow(offset)
            if overflow || overflow2 { throw tooLarge() }
            return value
        }
        let (step, overflow) = stride.multipliedReportingOverflow(by: slice.step)
        if overflow { throw tooLarge() }
        return ListValue(
            try slice.indices.map { .int(try element($0)) },
            .range(start: try element(slice.start), stop: try element(slice.stop), step: step))
    }
}

/// The indices that a Python slice takes from a sequence.
struct SliceRange {
    let start: Int
    let stop: Int
    let step: Int

    init(_ count: Int, _ bounds: (start: Int?, stop: Int?, step: Int?), _ evaluator: Evaluator) throws {
        step = bounds.step ?? 1
        guard step != 0 else { throw evaluator.fault("a slice can't have step 0") }
        let lowest = step < 0 ? -1 : 0
        let highest = step < 0 ? count - 1 : count
        func clamp(_ bound: Int) -> Int {
            // `count` is a size in memory, so that the sum can't overflow for a negative bound.
            let index = bound < 0 ? bound + count : bound
            return min(max(index, lowest), highest)
        }
        start = bounds.start.map(clamp) ?? (step < 0 ? highest : lowest)
        stop = bounds.stop.map(clamp) ?? (step < 0 ? lowest : highest)
    }

    var indices: [Int] {
        var result: [Int] = []
        var at = start
        while step < 0 ? at > stop : at < stop {
            result.append(at)
            let (next, overflow) = at.addingReportingOverflow(step)
            if overflow { break }
            at = next
        }
        return result
    }
}
