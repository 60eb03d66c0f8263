import BatchEngine

/// Masks of answers in JSON. Tokens within strings of any text are known in advance; a walk finds all others.
extension MaskMaker where FollowedBy == JSONAutomaton {
    /// - Parameter isStart: whether no token has come yet.
    mutating func mask(of state: Int32, isStart: Bool) -> StateMask {
        var others: [Place] = []
        var strings: [[Place]] = []
        var names: [[Place]] = []
        var namesLike: [NameKey: Int] = [:]
        for place in writer.states[Int(state)] {
            switch place.kind {
            case .end: break
            case .string where isBetweenScalars(place):
                // Strings that differ only in what follows are handled together.
                if let like = strings.firstIndex(where: { $0[0].isLike(place) }) {
                    strings[like].append(place)
                } else {
                    strings.append([place])
                }
            case .freeName where isKnownName(place):
                // So are names, if the closings of their frames are equally long. If space is short, each is checked.
                let key = left == nil ? nameKey(place) : nil
                if let like = key.flatMap({ namesLike[$0] }), names[like].count < Self.mostAlike {
                    names[like].append(place)
                } else {
                    if let key { namesLike[key] = names.count }
                    names.append([place])
                }
            default: others.append(place)
            }
        }
        for places in names { addName(places) }
        for places in strings { addString(places) }
        if !others.isEmpty { walk(tokens.nodes, below: 0, from: writer.number(of: others)) }
        addEnds(of: state, isStart: isStart)
        return result
    }

    // MARK: Strings of any text

    private func isBetweenScalars(_ place: Place) -> Bool {
        writer.strings[Int(place.a)].contents.isBetweenScalars(place.b)
    }

    /// Whether tokens within a name are known in advance. Those of certain texts are if there is space for all.
    private func isKnownName(_ place: Place) -> Bool {
        guard let names = writer.objects[Int(writer.frames[Int(place.frame)].shape)].shape.free?.names else {
            return false
        }
        return (names.isAny || left == nil) && names.isBetweenScalars(place.b)
    }

    /// The key of a name's mask, and of the ways to the end after it.
    private struct NameKey: Hashable {
        var place: Place
        var frame: Frame
        let depth: Int
        let closingBytes: Int
    }

    private func nameKey(_ place: Place) -> NameKey {
        let facts = writer.frameFacts[Int(place.frame)]
        var key = NameKey(
            place: place, frame: writer.frames[Int(place.frame)], depth: facts.depth,
            closingBytes: facts.closingBytes)
        (key.place.frame, key.frame.parent) = (-1, -1)
        return key
    }

    /// Few enough to compare all their ways to the end.
    private static var mostAlike: Int { 8 }

    /// The most bytes that complete a scalar or an escape: the rest of `\ud83d\ude00`.
    private static var longestRest: Int { 12 }

    /// - Parameter places: in the same string, with different continuations.
    private mutating func addString(_ places: [Place]) {
        let place = places[0]
        var ended = PlaceList()
        for place in places { writer.end(in: place.frame, &ended) }
        let after = writer.number(of: ended.places)
        if writer.strings[Int(place.a)].isAny {
            addAnyString(places, after)
        } else {
            addCertainString(places, after)
        }
    }

    private mutating func addAnyString(_ places: [Place], _ ended: Int32) {
        let place = places[0]
        let string = writer.strings[Int(place.a)]
        let table = tokens.anyString
        let count = Int(place.c)
        let isCounted = string.maxLength != nil || count < string.minLength
        let most = string.maxLength.map { $0 - count } ?? .max
        if !isCounted {
            let own = writer.number(of: places)
            if admits(own) { result.mask.formUnion(table.stayingAll) }
            if admits(own, margin: Self.longestRest) { result.mask.formUnion(table.withinAll) }
        } else {
            var admitted = [Bool](repeating: false, count: min(table.most, max(most, 0)) + 1)
            var staying = [Bool](repeating: false, count: table.staying.count)
            for scalars in admitted.indices {
                let state = writer.number(of: places.map { writer.place($0, after: scalars) })
                if scalars < table.staying.count { staying[scalars] = admits(state) }
                admitted[scalars] = scalars < most && admits(state, margin: Self.longestRest)
            }
            if !staying.contains(false) {
                result.mask.formUnion(table.stayingAll)
            } else {
                for (mask, isIn) in zip(table.staying, staying) where isIn { result.mask.formUnion(mask) }
            }
            for exit in table.within where exit.scalars < admitted.count && admitted[exit.scalars] {
                result.mask.insert(exit.token)
            }
        }
        let least = string.minLength - count
        addExits(table, to: ended, least...max(most, least))
    }

    /// Adds tokens that end the string with a number of scalars in the range.
    /// - Parameter some: those that do, if not all of the table's.
    mutating func addExits(
        _ table: StringTokens, to state: Int32, _ range: ClosedRange<Int>, among some: TokenMask? = nil
    ) {
        guard state >= 0 else { return }
        func isIn(_ exit: StringTokens.Exit) -> Bool {
            range.contains(exit.scalars) && some.map { $0[exit.token] } ?? true
        }
        if some == nil || table.bare.contains(where: isIn), admits(state) {
            for exit in table.bare where isIn(exit) { result.mask.insert(exit.token) }
        }
        let writer = writer
        table.exits.walk(
            from: state, next: { writer.next($0, $1) },
            visit: { node, after in
                let (from, to) = table.exits.texts(at: node)
                for place in from..<to {
                    let exits = table.exitTokens[place]
                    if some == nil || exits.contains(where: isIn), admits(after) {
                        for exit in exits where isIn(exit) { result.mask.insert(exit.token) }
                    }
                }
            })
    }

    /// Free names are strings of any or certain text, except names that are taken.
    /// - Parameter places: of the same name, with different frames around their object.
    private mutating func addName(_ places: [Place]) {
        let place = places[0]
        let object = writer.objects[Int(writer.frames[Int(place.frame)].shape)]
        guard let free = object.shape.free else { return }
        // Others have set theirs; this one's are removed where a name is taken, and only this one's.
        let before = result.mask
        result.mask = TokenMask(count: tokens.count)
        let table = tokens.plainString
        let frames = places.map { writer.writing(freeName: nil, $0.frame) }
        var exits: [(target: Int, among: TokenMask?)] = []
        var most = 0
        if free.names.isAny {
            let isNearTaken = place.c >= 0 || place.d >= 0
            let away = places.map { Place(kind: .freeName, a: $0.a, b: $0.b, c: -1, d: -1, frame: $0.frame) }
            let state = writer.number(of: away)
            if admits(state, margin: isNearTaken ? 4 : 0) { result.mask.formUnion(table.stayingAll) }
            if admits(state, margin: Self.longestRest) { result.mask.formUnion(table.withinAll) }
            exits = [(free.target(place.b), nil)]
        } else {
            let shape = writer.frames[Int(place.frame)].shape
            let walk = writer.walk(
                StringWalk.Key(shape: shape, isName: true, state: place.b), tokens, needsRuns: false)
            result.mask.formUnion(walk.staying)
            exits = walk.exits.map { ($0, $1) }
            most = walk.mostBytes
            _ = admits(writer.number(of: places.map { writer.freeName(in: $0.frame) }))
        }
        for (target, some) in exits {
            var ended = PlaceList()
            for frame in frames { writer.add(fixed: object.colon, .value(target), in: frame, &ended) }
            addExits(table, to: writer.number(of: ended.places), 0...Int.max, among: some)
        }
        var taken: [[UInt8]] = []
        if place.c >= 0 { taken += object.reserved.texts(below: place.c) }
        if place.d >= 0 { taken += writer.nameSets.texts(below: place.d) }
        for name in taken where name.count < tokens.longest { remove(tokensOf: name + JSONAutomaton.quote) }
        if !free.names.isAny {
            // There is space for all, so that only the most bytes matter.
            most = max(most, mostBytes(near: taken, place, object))
            let facts = writer.frameFacts[Int(frames[0])]
            let value = free.targets.values.map { writer.shortest($0, depth: facts.depth).count }.max() ?? 0
            result.safe = max(result.safe, most + 2 + object.colon.count + value + facts.closingBytes)
        }
        result.mask.formUnion(before)
    }

    /// Removes tokens after which all names are taken.
    /// - Returns: the most bytes to the end of a name after other tokens that begin a taken name.
    private mutating func mostBytes(near taken: [[UInt8]], _ start: Place, _ object: ObjectFacts) -> Int {
        let shape = writer.frames[Int(start.frame)].shape
        var most = 0
        for name in taken {
            var (place, node) = (start, 0)
            for byte in name {
                guard let child = tokens.nodes.child(of: node, byte),
                    let after = writer.nextInName(place, byte, object)
                else { break }
                (place, node) = (after, child)
                var key = place
                (key.a, key.frame) = (shape, -1)
                let bytes = writer.nameBytes.value(of: key) {
                    writer.isOpen(place, object) ? writer.shortestName(place, object)?.0.count ?? 0 : nil
                }
                guard let bytes else {
                    remove(tokensBelow: node)
                    break
                }
                most = max(most, bytes)
            }
        }
        return most
    }

    /// Removes all tokens that begin with a text.
    private mutating func remove(tokensOf text: [UInt8]) {
        var node = 0
        for byte in text {
            guard let child = tokens.nodes.child(of: node, byte) else { return }
            node = child
        }
        remove(tokensBelow: node)
    }

    private mutating func remove(tokensBelow node: Int) {
        let (from, to) = tokens.nodes.texts(below: node)
        for rank in from..<to { result.mask[tokens.ids[rank]] = false }
    }
}
