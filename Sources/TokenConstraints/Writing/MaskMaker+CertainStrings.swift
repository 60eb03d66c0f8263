import BatchEngine

extension MaskMaker where FollowedBy == JSONAutomaton {
    /// Adds tokens in a string of certain texts; their effects depend only on the contents' state, and are found once.
    mutating func addCertainString(_ places: [Place], _ ended: Int32) {
        let place = places[0]
        let string = writer.strings[Int(place.a)]
        let count = Int(place.c)
        let isUnbound = left == nil && string.isFree(from: count, by: tokens.longest)
        let walk = writer.walk(
            StringWalk.Key(shape: place.a, state: place.b), tokens, needsRuns: !isUnbound)
        let closing =
            writer.fewestBytes(writer.number(of: places)) - (string.fewestBytes(place.b, count: count) ?? 0)
        if isUnbound {
            result.mask.formUnion(walk.staying)
            let missing = count < string.minLength ? string.fewestBytes(place.b, count: count) ?? 0 : 0
            result.safe = max(result.safe, walk.mostBytes + missing + closing + 1)
        } else {
            addRuns(of: walk, places, closing)
        }
        guard let exits = walk.exits[0] else { return }
        let least = string.minLength - count
        addExits(
            tokens.plainString, to: ended, least...(string.maxLength.map { $0 - count } ?? .max), among: exits
        )
    }

    /// Adds tokens that stay in a string, if bounds on its length or the space left matter.
    private mutating func addRuns(of walk: StringWalk, _ places: [Place], _ closing: Int) {
        let string = writer.strings[Int(places[0].a)]
        let count = Int(places[0].c)
        // By end, the admitted numbers of scalars.
        let isIn = walk.ends.map { end in
            var isIn = AdmittedCounts()
            for scalars in end.scalars.numbers {
                isIn.add(scalars, admits(end, count + scalars + Int(end.more), string, places, closing))
            }
            if end.scalars.isEmpty { isIn.add(0, admits(end, count, string, places, closing)) }
            return isIn
        }
        if isIn.allSatisfy(\.areAll) {
            result.mask.formUnion(walk.staying)
            return
        }
        var pieces: [Range<Int>] = []
        walk.list.scalars.withUnsafeBufferPointer { scalars in
            for run in walk.runs where isIn[Int(run.end)].areSome {
                var place = Int(run.from)
                let to = Int(run.to)
                while place < to {
                    let from = place
                    place += 1
                    if isIn[Int(run.end)].areAll {
                        place = to
                    } else {
                        while place < to, scalars[place] == scalars[from] { place += 1 }
                        guard isIn[Int(run.end)].contains(Int(scalars[from])) else { continue }
                    }
                    pieces.append(from..<place)
                }
            }
        }
        walk.list.insert(pieces, into: &result.mask)
    }

    /// Whether a token may lead to an end in a string.
    /// - Parameter length: complete scalars of the string then.
    private mutating func admits(
        _ end: StringWalk.End, _ length: Int, _ string: StringText, _ places: [Place], _ closing: Int
    ) -> Bool {
        var after = length
        if let most = string.maxLength {
            let isBetween = string.contents.isBetweenScalars(end.state)
            guard after <= (isBetween ? most : most - 1) else { return false }
        } else {
            after = min(after, string.minLength)
        }
        guard let bytes = string.fewestBytes(end.state, count: after) else { return false }
        guard left != nil else {
            result.safe = max(result.safe, bytes + closing + 1)
            return true
        }
        return admits(
            writer.number(
                of: places.map {
                    Place(kind: .string, a: $0.a, b: end.state, c: Int32(after), frame: $0.frame)
                }))
    }
}
