/// Short ways to an end, each allowed by the steps. A choice of members with many answers may have shorter ones.
extension JSONAutomaton {
    // MARK: Values

    /// The shortest text of a target's values.
    /// - Parameter depth: number of frames around it.
    func shortest(_ target: Int, depth: Int) -> [UInt8] {
        let key = ShortestKey(target: target, depth: layout.indent == nil ? 0 : depth)
        if let known = shortestTexts.known(key) { return known }
        var best: (bytes: Int, beginning: Prefix)?
        for beginning in beginnings[target] {
            let bytes = fewestBytes(beginning)
            if best.map({ bytes < $0.bytes }) ?? true { best = (bytes, beginning) }
        }
        guard let best else { return [] }
        return shortestTexts.keep(shortest(best.beginning, depth: depth), for: key)
    }

    private func shortest(_ beginning: Prefix, depth: Int) -> [UInt8] {
        switch beginning {
        case .text(let text): return texts[Int(text)].shortestEnd(texts[Int(text)].start)
        case .string(let string):
            let contents = shortestEnd(string, strings[Int(string)].contents.start, count: 0)
            return Self.quote + contents + Self.quote
        case .array(let array):
            return Self.openArray + rest(items: arrays[Int(array)], from: 0, depth: depth + 1)
        case .object(let object):
            let object = objects[Int(object)]
            return Self.openObject
                + rest(
                    members: shortestPlan(object), object,
                    depth: depth + 1, isFirst: true)
        }
    }

    /// In compact form. Targets within it have fewer bytes, so that the recursion ends.
    private func fewestBytes(_ beginning: Prefix) -> Int {
        switch beginning {
        case .text(let text): return texts[Int(text)].fewestBytes(texts[Int(text)].start)
        case .string(let string):
            return 2 + (strings[Int(string)].fewestBytes(strings[Int(string)].contents.start, count: 0) ?? 0)
        case .array(let array):
            let array = arrays[Int(array)]
            let items = (0..<Int32(array.minCount)).compactMap { item($0, of: array) }
            return items.reduce(2 + max(0, items.count - 1)) { $0 + shape[$1].fewestBytes }
        case .object(let object):
            let object = objects[Int(object)]
            let members = shortestPlan(object)
            return members.reduce(2 + max(0, members.count - 1)) {
                $0 + $1.name.count + 1 + shape[$1.target].fewestBytes
            }
        }
    }

    /// The shortest way to the end of a string's contents.
    func shortestEnd(_ string: Int32, _ state: Int32, count: Int) -> [UInt8] {
        let string = strings[Int(string)]
        var (state, count) = (state, count)
        var text: [UInt8] = []
        while let left = string.fewestBytes(state, count: count), left > 0 {
            var found = false
            for byte in UInt8.min...UInt8.max {
                let after = string.contents.next(state, byte)
                guard after >= 0 else { continue }
                let scalars = count + (string.contents.isBetweenScalars(after) ? 1 : 0)
                guard string.fewestBytes(after, count: scalars) == left - 1 else { continue }
                text.append(byte)
                (state, count) = (after, scalars)
                found = true
                break
            }
            precondition(found, "a way to the end of a string is as long as it was said to be")
        }
        return text
    }

    // MARK: Frames

    /// From an opening bracket to the closing one.
    func openedRest(of number: Int32) -> [UInt8] {
        openedRests.value(of: number) {
            Array(rest(of: frames[Int(number)], frameFacts[Int(number)], isFirst: true))
        }
    }

    // MARK: Members

    struct PlannedMember {
        /// After the quote, up to the value.
        var name: [UInt8]
        var target: Int
    }

    private func planned(_ member: Int, _ object: ObjectFacts) -> PlannedMember {
        PlannedMember(name: object.names.texts[member], target: object.shape.members[member].target)
    }

    /// The members of a shortest end: required ones, and as many others as the object needs.
    func plan(_ object: ObjectFacts, position: Int, count: Int, names: Int32) -> [PlannedMember] {
        let members = object.shape.members
        var isTaken = members.indices.map { $0 >= position && members[$0].isRequired }
        var missing = object.shape.minCount - count - Int(object.requiredFrom[position])
        if missing > 0 {
            let others = (position..<members.count).filter { !members[$0].isRequired }
                .sorted { bytes(of: $0, object) < bytes(of: $1, object) }
            for place in others.prefix(missing) { isTaken[place] = true }
            missing -= min(missing, others.count)
        }
        return members.indices.filter { isTaken[$0] }.map { planned($0, object) }
            + (missing > 0 ? freeMembers(object, missing, after: names) : [])
    }

    /// The members of an object's shortest value, where free names may replace known ones: a known one may contain the
    /// object itself.
    private func shortestPlan(_ object: ObjectFacts) -> [PlannedMember] {
        let members = object.shape.members
        let others = object.shape.minCount - Int(object.requiredFrom[0])
        guard others > 0, let names = object.shape.free else {
            return plan(object, position: 0, count: 0, names: 0)
        }
        func cost(_ member: PlannedMember) -> Int { member.name.count + shape[member.target].fewestBytes }
        func known(isRequired: Bool) -> [(place: Int, member: PlannedMember)] {
            members.indices.filter { members[$0].isRequired == isRequired }.map { ($0, planned($0, object)) }
        }
        let ready = names.shortest.map {
            PlannedMember(name: $0.name + Self.quote + object.colon, target: $0.target)
        }
        let free = (ready.isEmpty ? freeMembers(object, others, after: 0) : ready)
            .map { (place: members.count, member: $0) }
        // A known member before a free one of the same length, as it was always chosen.
        let chosen = (known(isRequired: false) + free).enumerated()
            .sorted { (cost($0.element.member), $0.offset) < (cost($1.element.member), $1.offset) }
            .prefix(others).map(\.element)
        return (known(isRequired: true) + chosen).enumerated()
            .sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }.map(\.element.member)
    }

    private func bytes(of member: Int, _ object: ObjectFacts) -> Int {
        object.names.texts[member].count + shape[object.shape.members[member].target].fewestBytes
    }

    private func freeMembers(_ object: ObjectFacts, _ wanted: Int, after names: Int32) -> [PlannedMember] {
        guard let free = object.shape.free else { return [] }
        var set = names >= 0 ? names : -names - 1
        var planned: [PlannedMember] = []
        // After an unknown name, the first name may be the unknown one.
        for index in 0..<(names >= 0 ? wanted : wanted + 1) {
            let start = Place(
                kind: .freeName, b: free.names.start, c: object.shape.reserved.isEmpty ? -1 : 0,
                d: nameSets.root(of: set), frame: -1)
            guard let (name, state) = shortestName(start, object) else { break }
            set = nameSets.adding(name, to: set)
            if index == 0, names < 0 { continue }
            planned.append(
                PlannedMember(name: name + Self.quote + object.colon, target: free.target(state)))
        }
        return planned
    }

    /// The rest of the shortest name that is not taken, and the state where it ends; nil if there is none.
    func shortestName(_ place: Place, _ object: ObjectFacts) -> ([UInt8], Int32)? {
        guard let names = object.shape.free?.names else { return nil }
        if place.c < 0, place.d < 0 {
            let text = names.shortestEnd(place.b)
            return (text, text.reduce(place.b) { names.next($0, $1) })
        }
        if names.isFinal(place.b), !isTaken(place, object) { return ([], place.b) }
        var best: ([UInt8], Int32)?
        for byte in UInt8.min...UInt8.max {
            let state = names.next(place.b, byte)
            if state < 0 { continue }
            if let best, names.fewestBytes(state) + 1 >= best.0.count { continue }
            guard let after = nextInName(place, byte, object), let (text, end) = shortestName(after, object)
            else { continue }
            if best.map({ text.count + 1 < $0.0.count }) ?? true { best = ([byte] + text, end) }
        }
        return best
    }

    // MARK: Places

    /// The shortest way from a place to the end of the text.
    func shortestEnd(_ place: Place) -> [UInt8] {
        switch place.kind {
        case .end: return []
        case .fixed:
            return fixedTexts[Int(place.a)][Int(place.b)...] + shortestEnd(nexts[Int(place.c)], place.frame)
        case .text: return texts[Int(place.a)].shortestEnd(place.b) + closings(from: place.frame)
        case .string:
            return shortestEnd(place.a, place.b, count: Int(place.c)) + Self.quote
                + closings(from: place.frame)
        case .name:
            guard let best = shortestMember(place) else { return [] }
            let object = objects[Int(frames[Int(place.frame)].shape)]
            let target = object.shape.members[Int(best.member)].target
            return object.names.texts[Int(best.member)][object.names.depth(of: place.b)...]
                + shortest(target, depth: frameFacts[Int(place.frame)].depth) + closings(from: best.frame)
        case .freeName:
            let object = objects[Int(frames[Int(place.frame)].shape)]
            guard let free = object.shape.free, let (name, state) = shortestName(place, object) else {
                return []
            }
            let frame = writing(freeName: isWhole(place) ? name : nil, place.frame)
            return name + Self.quote + object.colon
                + shortest(free.target(state), depth: frameFacts[Int(frame)].depth)
                + closings(from: frame)
        }
    }

    /// Whether nothing of the free name is written yet.
    private func isWhole(_ place: Place) -> Bool { place == freeName(in: place.frame) }

    /// Whether `shortestEnd` is a way to the end, and not only as long as one.
    private func isWay(_ place: Place) -> Bool {
        guard place.frame >= 0 else { return true }
        guard place.kind == .freeName, !isWhole(place) else { return frameFacts[Int(place.frame)].isWay }
        return frameFacts[Int(writing(freeName: nil, place.frame))].isWay
    }

    /// Bytes of the shortest way from a place to the end of the text.
    func fewestBytes(_ place: Place) -> Int {
        let closing = place.frame < 0 ? 0 : frameFacts[Int(place.frame)].closingBytes
        return switch place.kind {
        case .text: texts[Int(place.a)].fewestBytes(place.b) + closing
        case .string: (strings[Int(place.a)].fewestBytes(place.b, count: Int(place.c)) ?? 0) + 1 + closing
        default: shortestEnd(place).count
        }
    }

    /// The one of the members that may come with the shortest way to the end, and the frame with it.
    private func shortestMember(_ place: Place) -> (member: Int32, frame: Int32)? {
        let object = objects[Int(frames[Int(place.frame)].shape)]
        let open = frameFacts[Int(place.frame)].open
        let members = object.names.members(after: place.b, in: open)
        // One that is required must be written anyway; else the shortest one.
        let best =
            members.first { object.shape.members[Int($0)].isRequired }
            ?? members.min { bytes(of: Int($0), object) < bytes(of: Int($1), object) }
        return best.map { ($0, writing($0, place.frame)) }
    }

    private func shortestEnd(_ next: Next, _ frame: Int32) -> [UInt8] {
        switch next {
        case .string(let string):
            return shortestEnd(string, strings[Int(string)].contents.start, count: 0) + Self.quote
                + closings(from: frame)
        case .value(let target):
            return shortest(target, depth: frame < 0 ? 0 : frameFacts[Int(frame)].depth)
                + closings(from: frame)
        case .opened:
            return openedRest(of: frame) + closings(from: frames[Int(frame)].parent)
        case .item:
            guard let item = frameFacts[Int(frame)].item else { return [] }
            return shortest(item, depth: frameFacts[Int(frame)].depth)
                + closings(from: writingItem(frame))
        case .name:
            var places = PlaceList()
            beginName(in: frame, &places)
            return places.places.map { shortestEnd($0) }.min { $0.count < $1.count } ?? []
        case .closed: return closings(from: frames[Int(frame)].parent)
        }
    }

    /// The text that closes a frame after its value, and all frames around it.
    func closings(from frame: Int32) -> [UInt8] {
        var text: [UInt8] = []
        var frame = frame
        while frame >= 0 {
            text += frameFacts[Int(frame)].closing
            frame = frames[Int(frame)].parent
        }
        return text
    }

    // MARK: States

    /// Bytes of the shortest way from a state to the end of the text.
    func fewestBytes(_ state: Int32) -> Int {
        tables.fewestBytes(state) { looked(states[Int(state)]).lazy.map { self.fewestBytes($0) }.min() ?? 0 }
    }

    /// The places whose ways to the end are compared. Of very many a few suffice: each has one.
    private func looked(_ places: [Place]) -> ArraySlice<Place> {
        places.count > 64 ? places.prefix(8) : places[...]
    }

    /// A way to the end of the text with few tokens: that of the places whose shortest text has the fewest.
    /// - Returns: nil if the vocabulary can't write one.
    func plan(_ state: Int32, _ tokens: TokenTrie) -> [Int32]? {
        tables.plan(state) {
            var best: [Int32]?
            for place in looked(states[Int(state)]) where isWay(place) {
                guard let plan = tokens.segments(shortestEnd(place)) else { continue }
                if best.map({ plan.count < $0.count }) ?? true { best = plan }
            }
            return best
        }
    }
}
