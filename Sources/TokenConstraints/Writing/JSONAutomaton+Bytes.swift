/// Steps of a state that need no visit to each of its places.
extension JSONAutomaton {
    /// With more places, bytes that continue none are found at once.
    static let fewPlaces = 8

    /// Notes the bytes that no answer continues with. Most of many places differ only in the frames around them, and
    /// continue with few bytes.
    func ruleOut(from state: Int32) {
        var likes = PlaceList()
        for var place in states[Int(state)] {
            // Names depend on an object, not on its frame.
            if place.kind == .name || place.kind == .freeName { place.a = frames[Int(place.frame)].shape }
            if place.kind == .freeName { (place.c, place.d) = (-1, -1) }
            place.frame = -1
            likes.add(place)
        }
        var goesOn = [Bool](repeating: false, count: 256)
        func add(_ next: (Int32, UInt8) -> Int32, _ state: Int32) {
            for byte in UInt8.min...UInt8.max where next(state, byte) >= 0 { goesOn[Int(byte)] = true }
        }
        let quote = Int(UInt8(ascii: "\""))
        for place in likes.places {
            switch place.kind {
            case .end: break
            case .fixed: goesOn[Int(fixedTexts[Int(place.a)][Int(place.b)])] = true
            case .text: add(texts[Int(place.a)].next(_:_:), place.b)
            case .string:
                goesOn[quote] = true
                add(strings[Int(place.a)].contents.next(_:_:), place.b)
            case .name:
                let names = objects[Int(place.a)].names
                for byte in names.bytes(after: place.b) { goesOn[Int(byte)] = true }
            case .freeName:
                goesOn[quote] = true
                if let names = objects[Int(place.a)].shape.free?.names { add(names.next(_:_:), place.b) }
            }
        }
        for byte in UInt8.min...UInt8.max where !goesOn[Int(byte)] { tables.set(state, byte, Self.dead) }
    }

    /// Whether a byte within strings leads back to the state, as for all equal places.
    func isBack(_ state: Int32, _ byte: UInt8) -> Bool {
        let places = states[Int(state)]
        guard places.count > 1, let first = places.first, first.kind == .string, byte != UInt8(ascii: "\""),
            let after = strings[Int(first.a)].next(first.b, Int(first.c), byte)
        else { return false }
        return after == (first.b, Int(first.c)) && places.allSatisfy { $0.isLike(first) }
    }
}
