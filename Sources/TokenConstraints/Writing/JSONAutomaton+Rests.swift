/// The shortest text that closes an array or object.
extension JSONAutomaton {
    /// The key of a rest without free names.
    struct RestKey: Hashable {
        var kind: Frame.Container
        var shape: Int32
        var count: Int32
        var position: Int32
        var depth: Int
        var isFirst: Bool
    }

    struct WholeKey: Hashable {
        var kind: Frame.Container
        var shape: Int32
        var depth: Int
    }

    /// A rest whose suffixes are others, which then need no memory.
    struct WholeRest {
        var text: [UInt8] = []
        /// The beginning of each item or member with its separator; and last the closing bracket.
        var places: [Int] = []
    }

    /// From a frame's last value (or its opening bracket) to its closing bracket.
    func rest(of frame: Frame, _ facts: FrameFacts, isFirst: Bool) -> ArraySlice<UInt8> {
        if !isFirst, let end = sharedRest(of: frame, facts) { return end }
        var key = RestKey(
            kind: frame.kind, shape: frame.shape, count: frame.count, position: frame.position,
            depth: layout.indent == nil ? 0 : facts.depth, isFirst: isFirst)
        var hasFree = false
        let text: [UInt8]
        switch frame.kind {
        case .array:
            let array = arrays[Int(frame.shape)]
            key.count = min(frame.count, Int32(array.minCount))
            if let known = rests.known(key) { return known }
            text = rest(items: array, from: Int(frame.count), depth: facts.depth, isFirst: isFirst)
        case .object:
            let object = objects[Int(frame.shape)]
            key.count = min(frame.count, Int32(object.shape.minCount))
            if let known = rests.known(key) { return known }
            let members = plan(
                object, position: Int(frame.position), count: Int(frame.count), names: frame.names)
            hasFree =
                object.shape.minCount - Int(frame.count) > object.shape.members.count - Int(frame.position)
            text = rest(members: members, object, depth: facts.depth, isFirst: isFirst)
        }
        count(keptBytes: text.count)
        return hasFree ? text[...] : rests.keep(text[...], for: key)
    }

    /// The suffix of a rest that all frames of that shape share; nil for none. An object's has only the required
    /// members, and so applies if no others are needed.
    private func sharedRest(of frame: Frame, _ facts: FrameFacts) -> ArraySlice<UInt8>? {
        let left: Int
        switch frame.kind {
        case .array: left = max(0, arrays[Int(frame.shape)].minCount - Int(frame.count))
        case .object:
            let object = objects[Int(frame.shape)]
            left = Int(object.requiredFrom[Int(frame.position)])
            if Int(frame.count) + left < object.shape.minCount { return nil }
        }
        let key = WholeKey(
            kind: frame.kind, shape: frame.shape, depth: layout.indent == nil ? 0 : facts.depth)
        let whole = wholeRests.value(of: key) { wholeRest(of: frame, facts.depth) }
        guard left < whole.places.count else { return nil }
        return whole.text[whole.places[whole.places.count - 1 - left]...]
    }

    private func wholeRest(of frame: Frame, _ depth: Int) -> WholeRest {
        var whole = WholeRest()
        let separator = separator(depth, isFirst: false)
        switch frame.kind {
        case .array:
            let array = arrays[Int(frame.shape)]
            for index in 0..<array.minCount {
                guard let item = item(Int32(index), of: array) else { break }
                whole.places.append(whole.text.count)
                whole.text += separator + shortest(item, depth: depth)
            }
        case .object:
            let object = objects[Int(frame.shape)]
            for (place, member) in object.shape.members.enumerated() where member.isRequired {
                whole.places.append(whole.text.count)
                whole.text += separator + Self.quote + object.names.texts[place]
                whole.text += shortest(member.target, depth: depth)
            }
        }
        whole.places.append(whole.text.count)
        whole.text += closing(frame.kind, depth, isEmpty: false)
        count(keptBytes: whole.text.count + 8 * whole.places.count)
        return whole
    }

    func rest(items array: ArrayShape, from count: Int, depth: Int, isFirst: Bool = true) -> [UInt8] {
        var text: [UInt8] = []
        var isFirst = isFirst
        for index in min(count, array.minCount)..<array.minCount {
            guard let item = item(Int32(index), of: array) else { break }
            text += separator(depth, isFirst: isFirst) + shortest(item, depth: depth)
            isFirst = false
        }
        return text + closing(.array, depth, isEmpty: isFirst)
    }

    func rest(
        members: [PlannedMember], _ object: ObjectFacts, depth: Int, isFirst: Bool
    ) -> [UInt8] {
        var text: [UInt8] = []
        var isFirst = isFirst
        for member in members {
            text += separator(depth, isFirst: isFirst) + Self.quote + member.name
            text += shortest(member.target, depth: depth)
            isFirst = false
        }
        return text + closing(.object, depth, isEmpty: isFirst)
    }
}
